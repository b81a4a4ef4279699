"""The tool servers that come with the program. Each runs as a process of its own."""
