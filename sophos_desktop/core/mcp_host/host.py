"""The tool host: all configured tool servers behind the ports `ToolCatalog` and `ServerDirectory`.

Invariant: no server can make the program, another server or a run that does not call it fail; after
`close` there is no task and no child left.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.ports import ChildRecords, ToolObserver, ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolResult, ToolSpec
from sophos_desktop.core.mcp_host.child import finish
from sophos_desktop.core.mcp_host.config import LoadedConfig
from sophos_desktop.core.mcp_host.limits import HostLimits, Surroundings
from sophos_desktop.core.mcp_host.server_task import ServerTask
from sophos_desktop.foundation.clock import Clock, SystemClock
from sophos_desktop.foundation.tasks import ErrorRoute, TaskOwner


class ToolHost:
    """All tool servers of one program. Lives on one event loop, from `start` to `close`."""

    def __init__(
        self,
        config: LoadedConfig,
        *,
        records: ChildRecords,
        environ: Mapping[str, str],
        on_error: ErrorRoute,
        clock: Clock | None = None,
        limits: HostLimits | None = None,
    ) -> None:
        """`environ` is what children inherit from, by an allow-list; `on_error` gets our own bugs."""
        self._notices = config.notices
        self._listeners: list[Callable[[], None]] = []
        self._owner = TaskOwner(on_error)
        self._telling = False
        self._known: dict[str, ToolSpec] = {}
        self._servers: dict[str, ServerTask] = {}
        surroundings = Surroundings(
            records, environ, clock or SystemClock(), limits or HostLimits(), self._on_change, on_error
        )
        self._servers |= {item.name: ServerTask(item, surroundings) for item in config.servers}

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was wrong with the configuration."""
        return self._notices

    def start(self) -> None:
        """Start all servers in the background; returns at once. Needs the running loop."""
        for server in self._servers.values():
            server.start()

    async def close(self) -> None:
        """End all servers, in parallel; bounded by `CloseLimits`, and finished also if cancelled."""
        await finish(self._owner.spawn(self._stop_all(), "stop the tool servers"))

    async def _stop_all(self) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers.values()))
        self._listeners.clear()

    # ToolCatalog

    def tools(self) -> Sequence[ToolSpec]:
        """The tools of all servers that are ready or coming back, by server, in the server's order."""
        return [spec for server in self._servers.values() for spec in server.offered()]

    def find(self, name: str) -> ToolSpec | None:
        """The tool with this model-facing name, if its server ever offered it to this program."""
        return self._known.get(name)

    async def settle(self, timeout_seconds: float) -> Sequence[str]:
        """Wait until no server is starting, at most for the time-out counted from each one's start; gives
        the names of those that still are."""
        await asyncio.gather(*(server.settle(timeout_seconds) for server in self._servers.values()))
        return [
            name for name, server in self._servers.items() if server.status().state is ServerState.STARTING
        ]

    async def call(
        self, spec: ToolSpec, args: Mapping[str, Any], observe: ToolObserver | None = None
    ) -> ToolResult:
        """Call a tool. Arguments that do not fit give an error result, and nothing is sent.

        Raises ToolServerDown (nothing was sent), ToolChanged (nor then: the server defines the tool
        otherwise than `spec`) or ToolCallLost (outcome unknown).
        """
        server = self._servers.get(spec.server)
        if server is None:
            raise ToolServerDown(f'There is no tool server "{spec.server}" in mcp.json any more')
        current = next((tool for tool in server.offered() if tool.tool == spec.tool), None)
        if current is None and server.ready:
            text = f'The tool server "{spec.server}" no longer offers the tool "{spec.tool}".'
            return ToolResult(text, is_error=True)
        from sophos_desktop.core.mcp_host import arguments

        problem = await arguments.check((current or spec).input_schema, args)
        if problem is not None:
            return ToolResult(problem, is_error=True)
        return await server.call(spec.tool, args, observe, fingerprint=spec.fingerprint)

    async def problem_with(self, spec: ToolSpec, args: Mapping[str, Any]) -> str | None:
        """What is wrong with arguments, by the tool's schema; None if they fit. Nothing is sent."""
        from sophos_desktop.core.mcp_host import arguments

        return await arguments.check(spec.input_schema, args)

    # ServerDirectory

    def statuses(self) -> Sequence[ServerStatus]:
        """All configured servers, by name."""
        return [server.status() for server in self._servers.values()]

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on the loop whenever a status changes; returns what ends that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    async def restart(self, name: str, *, who: str = "", patience_seconds: float = 0.0) -> ServerStatus:
        """Start a server anew and wait until that succeeded or failed. Raises SophosError NOT_FOUND.

        Calls that are under way may take `patience_seconds` more, while new ones wait for the new life; then
        they are cut off, and `who` asked for it is part of what is said of them."""
        server = self._servers.get(name)
        if server is None:
            known = ", ".join(self._servers) or "none"
            raise SophosError(
                ErrorCode.NOT_FOUND, f'There is no tool server "{name}"', f"Configured servers: {known}."
            )
        await server.restart(who=who, patience_seconds=patience_seconds)
        return server.status()

    def trust(self, name: str, *, trusted: bool) -> None:
        """Whether a server's own hints count, from now on."""
        if (server := self._servers.get(name)) is not None:
            server.trust(trusted=trusted)

    def _on_change(self) -> None:
        """A burst of changes is told once, after the current turn of the loop."""
        for server in self._servers.values():
            for spec in server.offered():
                self._known[spec.name] = spec
        if self._listeners and not self._telling:
            self._telling = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._telling = False
        for listener in tuple(self._listeners):
            listener()
