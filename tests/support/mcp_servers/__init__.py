"""Scripted MCP servers, run as child processes: `python -m tests.support.mcp_servers.NAME ARGUMENTS`."""
