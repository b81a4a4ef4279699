"""The conversation for screen readers and for a caret."""
