"""Find in conversation."""
