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
        self._said = 0
        self._known = 0
        self._read_again = asyncio.Event()
        self._ended = False
        self.was_read = asyncio.Event()

    def changed(self) -> None:
        """The server said that the list is another now."""
        self._said += 1
        self._changed.set()

    async def up_to_date(self) -> None:
        """Wait until the list was read, or that was tried, after every change that was said before.

        What a server changes without saying so, or says while the next call is on its way to it, nobody can
        know: this is as near to the moment of a call as a client can come."""
        said = self._said
        while self._known < said and not self._ended:
            await self._read_again.wait()

    def _let_go(self, known: int, *, ended: bool = False) -> None:
        self._known, self._ended = known, ended
        self._read_again.set()
        self._read_again = asyncio.Event()

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
                said = self._said
                try:
                    async with asyncio.timeout(self._deadline_seconds):
                        await self._read()
                except (TimeoutError, session_module.SessionRefused) as error:
                    note(f"{self._method} could not be read: {error if str(error) else 'no answer'}")
                self.was_read.set()
                self._let_go(said)
        except session_module.SessionLost:
            return
        finally:
            self.was_read.set()
            self._let_go(self._known, ended=True)

    async def _until_quiet(self) -> None:
        """Wait until no change has come for a moment; a server that never rests is read all the same."""
        try:
            async with asyncio.timeout(_LONGEST_BURST_SECONDS):
                while self._changed.is_set():
                    self._changed.clear()
                    await asyncio.sleep(self._quiet_seconds)
        except TimeoutError:
            return
