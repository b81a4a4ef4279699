"""The guarded fetch server: what it may read, and what it refuses before anything is sent."""
