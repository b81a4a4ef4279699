"""The window: all Qt of the program."""
