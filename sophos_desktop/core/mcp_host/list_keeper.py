"""Keeps one list of a server up to date: its tools, its resources or its prompts.

Invariant: a burst of changes is one reload, at most two; a list that cannot be read leaves the last one.
"""

import asyncio
from collections.abc import Awaitable, Callable

from sophos_desktop.core.mcp_host.limits import HostLimits

_LONGEST_BURST_SECONDS = 2.0


class ListKeeper:
    """Of one session and one kind of list. `read` reads the list and puts it where it is shown."""

    def __init__(
        self, method: str, read: Callable[[], Awaitable[None]], limits: HostLimits, *, deadline_seconds: float
    ) -> None:
        self._method = method
        self._read = read
        self._quiet_seconds = limits.list_quiet_seconds
        self._deadline_seconds = deadline_seconds
        self._changed = asyncio.Event()
        self.was_read = asyncio.Event()

    def changed(self) -> None:
        """The server said that the list is another now."""
        self._changed.set()

    async def keep(self, note: Callable[[str], None], *, read_at_once: bool) -> None:
        """Read the list whenever it changed, until the session has ended."""
        from sophos_desktop.core.mcp_host import session as session_module

        try:
            while True:
                if not read_at_once:
                    await self._changed.wait()
                    await self._until_quiet()
                read_at_once = False
                self._changed.clear()
                try:
                    async with asyncio.timeout(self._deadline_seconds):
                        await self._read()
                except (TimeoutError, session_module.SessionRefused) as error:
                    note(f"{self._method} could not be read: {error if str(error) else 'no answer'}")
                self.was_read.set()
        except session_module.SessionLost:
            return
        finally:
            self.was_read.set()

    async def _until_quiet(self) -> None:
        """Wait until no change has come for a moment; a server that never rests is read all the same."""
        try:
            async with asyncio.timeout(_LONGEST_BURST_SECONDS):
                while self._changed.is_set():
                    self._changed.clear()
                    await asyncio.sleep(self._quiet_seconds)
        except TimeoutError:
            return
