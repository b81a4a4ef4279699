"""The settings form."""
