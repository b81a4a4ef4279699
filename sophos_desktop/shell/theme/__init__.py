"""Colours, type and measures of the window."""
