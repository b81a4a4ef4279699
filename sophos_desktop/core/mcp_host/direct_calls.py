"""Calls tools outside any run, for a person who tries them.

Invariant: what was asked for wrongly is an error before anything is sent; an error that the tool itself gives
is its result.
"""

from collections.abc import Mapping
from typing import Any

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import ToolCallLost, ToolObserver, ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolResult
from sophos_desktop.core.mcp_host.host import ToolHost

# Longer than any start: the host's own deadlines end one sooner.
START_SECONDS = 600.0
_SHOWN_LINES = 5


class DirectCalls:
    """Lives as long as its host."""

    def __init__(self, host: ToolHost) -> None:
        self._host = host

    async def settled(self, server: str) -> ServerStatus:
        """How a server stands once it is no longer starting. Raises SophosError NOT_FOUND."""
        await self._host.settle(START_SECONDS)
        statuses = self._host.statuses()
        for status in statuses:
            if status.name == server:
                return status
        known = ", ".join(status.name for status in statuses) or "none"
        raise SophosError(
            ErrorCode.NOT_FOUND, f"There is no tool server “{server}”", f"Servers that run: {known}"
        )

    async def call(
        self, server: str, tool: str, args: Mapping[str, Any], observe: ToolObserver | None = None
    ) -> ToolResult:
        """Call a tool of a server once it is there.

        Raises SophosError NOT_FOUND (no such server or tool), BAD_REQUEST (the arguments do not fit),
        TOOL_SERVER_DOWN (nothing was sent), TOOL_CALL_LOST (nobody knows whether it took effect)."""
        status = await self.settled(server)
        if status.state is not ServerState.READY:
            words = " | ".join(line.strip() for line in status.stderr_tail[-_SHOWN_LINES:] if line.strip())
            raise SophosError(
                ErrorCode.TOOL_SERVER_DOWN,
                f"The tool server “{server}” is {status.state.value}. {status.reason}".rstrip("."),
                f"See `mcp logs {server}`, and start it again with `mcp restart {server}`",
                details=f"it wrote last: {words}" if words else "",
            )
        spec = next((spec for spec in status.tools if spec.tool == tool), None)
        if spec is None:
            names = ", ".join(spec.tool for spec in status.tools) or "none"
            raise SophosError(
                ErrorCode.NOT_FOUND, f"“{server}” offers no tool “{tool}”", f"It offers: {names}"
            )
        from sophos_desktop.core.mcp_host import arguments

        if (problem := await arguments.check(spec.input_schema, args)) is not None:
            title, *lines = problem.splitlines()
            remedy = "; ".join(line.removeprefix("- ") for line in lines)
            raise SophosError(
                ErrorCode.BAD_REQUEST, title.rstrip(":"), remedy or "Give what the tool asks for"
            )
        try:
            return await self._host.call(spec, args, observe)
        except ToolServerDown as error:
            raise SophosError(
                ErrorCode.TOOL_SERVER_DOWN,
                str(error).rstrip("."),
                f"Nothing was sent. See `mcp logs {server}`, and start it again with `mcp restart {server}`",
            ) from error
        except ToolCallLost as error:
            raise SophosError(
                ErrorCode.TOOL_CALL_LOST,
                str(error).rstrip("."),
                "Nobody knows whether the call took effect; look before you repeat it",
            ) from error
