"""The painted transcript: Markdown in segments, laid out only where it is seen."""
