"""The questions about tool calls, as cards with buttons."""
