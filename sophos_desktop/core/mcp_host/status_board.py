"""Says where one tool server stands: its state, the reason in words, since when, and what it wrote.

Invariant: every change is told to the host; a start that takes long is a reason, not an error.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolSpec
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.limits import Surroundings
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.foundation.clock import to_text

_TIMER_SLACK_SECONDS = 0.01
_CALLABLE = (ServerState.READY, ServerState.RESTARTING)


class StatusBoard:
    """The status of one server. Lives as long as its task, over all its processes and sessions."""

    def __init__(self, config: ServerConfig, surroundings: Surroundings) -> None:
        self._shared = surroundings
        self._attempt_at = surroundings.clock.monotonic()
        self._is_attempting = False
        self._was_ready = False
        self._settled = asyncio.Event()
        self._trusted: bool | None = None
        self.tail = StderrTail()
        since = to_text(surroundings.clock.now())
        self._status = ServerStatus(config.name, config.transport, ServerState.STOPPED, "Not started.", since)

    @property
    def state(self) -> ServerState:
        """The state alone."""
        return self._status.state

    def status(self) -> ServerStatus:
        """Where the server stands now."""
        status = replace(self._status, stderr_tail=self.tail.lines())
        waited = self._shared.clock.monotonic() - self._attempt_at
        if self._is_attempting and waited >= self._shared.limits.still_starting_seconds:
            return replace(status, reason=f"Still starting, for {waited:.0f} seconds now.")
        return status

    def offered(self) -> tuple[ToolSpec, ...]:
        """The tools for the model: also while the server is being started again, since a call brings
        it back; none of a server that was never ready or was given up."""
        return self._status.tools if self.state in _CALLABLE and self._was_ready else ()

    def enter(self, state: ServerState, reason: str) -> None:
        """The server is in that state from now on; `reason` is a sentence."""
        if state is not ServerState.STARTING:
            self._settled.set()
        if state is ServerState.READY:
            self._was_ready = True
            self._is_attempting = False
        self.change(state=state, reason=reason, since=to_text(self._shared.clock.now()))

    def change(self, **fields: Any) -> None:
        """Something else about the server changed: fields of `ServerStatus`."""
        if "tools" in fields and self._trusted is not None:
            fields["tools"] = tuple(replace(tool, trusted=self._trusted) for tool in fields["tools"])
        self._status = replace(self._status, **fields)
        self._shared.on_change()

    def trust(self, *, trusted: bool) -> None:
        """The user said, while it runs, whether the server's own hints count."""
        self._trusted = trusted
        self.change(tools=self._status.tools)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Around one life: until it is ready it is a start, and one that takes long is told as such."""
        self._attempt_at = self._shared.clock.monotonic()
        self._is_attempting = True
        slow_after = self._shared.limits.still_starting_seconds + _TIMER_SLACK_SECONDS
        slow = asyncio.get_running_loop().call_later(slow_after, self._shared.on_change)
        try:
            yield
        finally:
            slow.cancel()
            self._is_attempting = False

    def give_up_waiting(self) -> None:
        """Nobody need wait for the first start any longer."""
        self._settled.set()

    async def settle(self, timeout_seconds: float) -> None:
        """Wait until the first start has succeeded or failed, at most so long after it began."""
        left = self._attempt_at + timeout_seconds - self._shared.clock.monotonic()
        if self._settled.is_set() or left <= 0:
            return
        try:
            async with asyncio.timeout(left):
                await self._settled.wait()
        except TimeoutError:
            return
