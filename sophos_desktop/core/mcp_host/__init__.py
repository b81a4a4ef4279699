"""Tool servers (MCP): their configuration, their processes, their sessions and their tools.

Invariant: nothing of the `mcp` library leaves this package, and importing it loads none of that library:
`session` is imported, in a thread, when the first server starts.
"""
