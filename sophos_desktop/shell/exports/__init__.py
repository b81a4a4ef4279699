"""Exports from the menu: where to, how far, what was written."""
