"""Writes one segment into one small document."""
