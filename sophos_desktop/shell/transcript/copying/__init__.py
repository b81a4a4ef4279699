"""Gives the source of what was selected."""
