"""Reads Markdown: cuts an answer into segments while it arrives, and turns a segment into tokens."""
