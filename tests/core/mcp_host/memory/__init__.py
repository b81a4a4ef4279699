"""The memory server: beside the reference, killed, shared, damaged, and in the program."""
