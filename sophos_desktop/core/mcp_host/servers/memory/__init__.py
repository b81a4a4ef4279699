"""The memory server: a knowledge graph in one file of JSON lines, over MCP on stdin and stdout.

Invariant: tools, arguments, results, errors and file are those of the reference server of the protocol's
authors (npm, 2026.8.31), so that either can take over the other's file. On top: a kill, a second process, a
damaged line and an edit by hand lose nothing. It starts with few imports, since a window waits for it.
"""
