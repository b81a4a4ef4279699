"""The one file: the only SQL of the program."""
