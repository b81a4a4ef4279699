"""Keeps one tool server: one task leads it from life to life; others reach it by its inbox.

Invariant: the task outlives every connection of its server; every call in the inbox is answered, also when
the server never comes.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sophos_desktop.core.domain.ports import ToolObserver, ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolResult, ToolSpec
from sophos_desktop.core.mcp_host.backoff import Backoff
from sophos_desktop.core.mcp_host.child import finish
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.limits import Surroundings
from sophos_desktop.core.mcp_host.messages import Call, Inbox, Restart
from sophos_desktop.core.mcp_host.server_life import Ending, ServerLife
from sophos_desktop.core.mcp_host.status_board import StatusBoard
from sophos_desktop.foundation.tasks import TaskOwner


class ServerTask:
    """One configured server. Lives on the host's loop from `start` to `stop`."""

    def __init__(self, config: ServerConfig, surroundings: Surroundings) -> None:
        self.config = config
        self._shared = surroundings
        self._backoff = Backoff(surroundings.limits.restart, surroundings.clock)
        self._inbox = Inbox()
        self._board = StatusBoard(config, surroundings)
        self._owner = TaskOwner(self._on_bug)
        self._task: asyncio.Task[None] | None = None
        if config.disabled:
            self._board.enter(ServerState.STOPPED, "Switched off in mcp.json.")
        elif config.problem is not None:
            reason = f"Its entry in mcp.json cannot be used: {config.problem}."
            self._board.enter(ServerState.FAILED, reason)

    # What the host asks.

    def start(self) -> None:
        """Start the server in the background, unless its configuration forbids it."""
        if self._task is None and not self.config.disabled and self.config.problem is None:
            self._board.enter(ServerState.STARTING, "Starting.")
            self._task = self._owner.spawn(self._run(), f"tool server {self.config.name}")

    async def stop(self) -> None:
        """End the server and its task; bounded, and finished also if the caller is cancelled."""
        if not self._runs():
            return
        closing = TaskOwner(self._shared.on_error).spawn(
            self._owner.close(), f"stop tool server {self.config.name}"
        )
        await finish(closing)

    def status(self) -> ServerStatus:
        """Where the server stands now."""
        return self._board.status()

    def offered(self) -> tuple[ToolSpec, ...]:
        """The tools for the model."""
        return self._board.offered()

    @property
    def ready(self) -> bool:
        """True while calls are sent at once."""
        return self._board.state is ServerState.READY

    async def settle(self, timeout_seconds: float) -> None:
        """Wait until the first start has succeeded or failed, at most so long after it began."""
        await self._board.settle(timeout_seconds)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        observe: ToolObserver | None = None,
        *,
        fingerprint: str = "",
    ) -> ToolResult:
        """Call a tool as it is defined; a server that is down is started for it.

        Raises ToolServerDown, ToolChanged, ToolCallLost."""
        timeout = self.config.timeout_seconds or self._shared.limits.call_seconds
        if not self._runs():
            raise self._down()
        outcome = asyncio.get_running_loop().create_future()
        call = Call(tool, arguments, timeout, observe, outcome, fingerprint=fingerprint)
        self._inbox.put(call)
        try:
            await asyncio.wait([call.outcome], timeout=timeout)
            if not call.outcome.done() and not call.taken:
                raise self._down()
            return await call.outcome
        finally:
            call.outcome.cancel()
            if not call.outcome.cancelled():
                call.outcome.exception()  # read, so that asyncio does not report it for a caller that left

    def trust(self, *, trusted: bool) -> None:
        """Whether the server's own hints count, from now on; those of a built-in one always do."""
        if not self.config.built_in:
            self.config = replace(self.config, trusted=trusted)
            self._board.trust(trusted=trusted)

    async def restart(self, *, who: str = "", patience_seconds: float = 0.0) -> None:
        """Start the server anew and wait until that succeeded or failed; see `Restart`."""
        if not self._runs():
            return
        request = Restart(asyncio.get_running_loop().create_future(), who, patience_seconds)
        self._inbox.put(request)
        await request.done

    # The task.

    async def _run(self) -> None:
        try:
            while True:
                ending = await ServerLife(self.config, self._shared, self._board, self._inbox).live()
                pause_seconds = self._judge(ending)
                if not ending.served:
                    self._inbox.answer_all(self._down)
                await self._wait_for_demand(pause_seconds)
                self._board.enter(ServerState.RESTARTING, "Being started again.")
        finally:
            if self._board.state is not ServerState.FAILED:
                self._board.enter(ServerState.STOPPED, "Stopped.")
            self._inbox.answer_all(self._down)
            self._board.give_up_waiting()

    def _judge(self, ending: Ending) -> float | None:
        """Say how the server stands after a life; the pause until the next one in seconds, None for
        no other one unless somebody asks."""
        if ending.asked_for:
            self._backoff.forget()
            return 0.0
        pause = self._backoff.failed() if ending.again else None
        if pause is None:
            self._board.enter(ServerState.FAILED, f"{ending.reason}. The next call tries again.")
        else:
            text = f"{ending.reason}. Started again in {pause:g} seconds or at the next call."
            self._board.enter(ServerState.RESTARTING, text)
        return pause

    async def _wait_for_demand(self, pause_seconds: float | None) -> None:
        """Wait for a call or a restart, at most for the pause."""
        try:
            async with asyncio.timeout(pause_seconds):
                restart = await self._inbox.demand()
        except TimeoutError:
            return
        if restart is not None:
            self._backoff.forget()

    def _runs(self) -> bool:
        return self._task is not None and not self._task.done()

    def _down(self) -> ToolServerDown:
        return ToolServerDown(f'The tool server "{self.config.name}" is not there. {self.status().reason}')

    def _on_bug(self, error: BaseException) -> None:
        self._board.enter(ServerState.FAILED, f"An error in Sophos ended it: {error!r}.")
        self._shared.on_error(error)
