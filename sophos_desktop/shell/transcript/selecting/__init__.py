"""The selection across messages, and how it stays on its characters."""
