"""Entries of the real servers, and what makes their tests short to read."""

from typing import Any

from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.host import ToolHost
from tests.core.mcp_host.harness import tool
from tests.support.node_packages import server_command


def npm_server(name: str, *arguments: str, **fields: Any) -> ServerConfig:
    """The entry of `server-NAME`, under the name NAME."""
    command, *rest = server_command(f"server-{name}", *arguments)
    return ServerConfig(name, command=command, args=tuple(rest), **fields)


async def called(host: ToolHost, server: str, tool_name: str, **arguments: Any) -> ToolResult:
    """The result of a call by the server's own name of the tool."""
    return await host.call(tool(host, server, tool_name), arguments)


async def good(host: ToolHost, server: str, tool_name: str, **arguments: Any) -> ToolResult:
    """The same; an error result fails the test with its text."""
    result = await called(host, server, tool_name, **arguments)
    assert not result.is_error, result.text
    return result
