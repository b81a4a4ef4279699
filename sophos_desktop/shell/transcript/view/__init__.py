"""Paints what is in the view, and nothing else."""
