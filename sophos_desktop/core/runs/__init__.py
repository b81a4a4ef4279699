"""Use cases: start, resume, stop, follow, recover, read."""
