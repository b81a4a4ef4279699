"""Servers that others wrote, as people install them: the ones from npm, and fetch."""
