"""Small parts that know nothing of conversations or runs."""
