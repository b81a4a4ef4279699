"""The command line: the second front end of the core."""
