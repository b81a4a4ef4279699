"""A real screen reader on the real program."""
