"""Windows that say how the installation stands: tool servers, checks, keys, version."""
