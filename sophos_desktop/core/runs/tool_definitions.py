"""Remembers each tool as its server defines it, and tells of changes by name.

Invariant: every definition that a ready server offers is compared once and then remembered; the first sight
of a server is no change. After `close` nothing is compared any more.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from sophos_desktop.core.domain.errors import NoticeCode, SophosError
from sophos_desktop.core.domain.events import Notice
from sophos_desktop.core.domain.ports import ServerDirectory
from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.core.store.tool_trust import SeenTools, ToolTrustStore
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

_NAMED_TOOLS = 5
_LONGEST_NAME = 80

_Tools = Mapping[str, str]


class ToolDefinitions:
    """Lives as long as the core, on its loop, between `start` and `close`."""

    def __init__(self, store: ToolTrustStore, servers: ServerDirectory) -> None:
        self._store = store
        self._servers = servers
        self._seen: dict[str, _Tools] = {}
        self._waiting: dict[str, _Tools] = {}
        self._changes: list[Notice] = []
        self._listeners: list[Callable[[Notice], None]] = []
        self._tasks = TaskOwner(lambda error: _log.error("comparing tools failed", exc_info=error))
        self._idle = asyncio.Event()
        self._idle.set()
        self._unsubscribe: Callable[[], None] = lambda: None
        self._is_closed = False

    def start(self) -> None:
        """Compare what is ready now and what becomes ready later."""
        self._unsubscribe = self._servers.subscribe(self._look)
        self._look()

    def changes(self) -> Sequence[Notice]:
        """What was different since the start, in the order it was seen."""
        return tuple(self._changes)

    def subscribe(self, listener: Callable[[Notice], None]) -> Callable[[], None]:
        """Call `listener` on the loop with each change; returns what ends that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    async def settled(self) -> None:
        """Wait until all that is ready now has been compared."""
        self._look()
        await self._idle.wait()

    async def close(self) -> None:
        """Compare no more."""
        self._is_closed = True
        self._unsubscribe()
        self._listeners.clear()
        await self._tasks.close()
        self._idle.set()

    def _look(self) -> None:
        if self._is_closed:
            return
        for status in self._servers.statuses():
            if status.state is not ServerState.READY:
                continue
            tools = {tool.tool: tool.fingerprint for tool in status.tools if tool.fingerprint}
            if tools and self._seen.get(status.name) != tools:
                self._seen[status.name] = tools
                self._waiting[status.name] = tools
        if self._waiting and self._idle.is_set():
            self._idle.clear()
            self._tasks.spawn(self._compare(), "compare tools")

    async def _compare(self) -> None:
        try:
            while self._waiting:
                name = next(iter(self._waiting))
                tools = self._waiting.pop(name)
                try:
                    seen = await self._store.remember(name, tools)
                except SophosError as error:
                    # Asked again when the server is ready the next time.
                    self._seen.pop(name, None)
                    _log.info("the tools of a server could not be compared: %s", error.code)
                    continue
                for notice in _notices(name, seen):
                    self._changes.append(notice)
                    for listener in tuple(self._listeners):
                        listener(notice)
        finally:
            self._idle.set()


def _notices(server: str, seen: SeenTools) -> list[Notice]:
    texts = []
    if seen.changed:
        count = len(seen.changed)
        day = max(seen.changed.values())[:10]
        were = "they were" if count > 1 else "it was"
        texts.append(f"{_named('the tool', list(seen.changed))} changed since {were} last seen ({day})")
    if seen.added:
        texts.append(f"it offers {_named('a new tool', list(seen.added))}")
    return [Notice(NoticeCode.TOOLS_CHANGED.value, f"tool server {server}: {text}") for text in texts]


def _named(what: str, names: Sequence[str]) -> str:
    """The tool a; the tools a, b and c; new tools a, b, c, d, e and 4 more."""
    shown = [_printable(name) for name in names[:_NAMED_TOOLS]]
    if len(names) == 1:
        return f"{what} {shown[0]}"
    last = f"{len(names) - _NAMED_TOOLS} more" if len(names) > _NAMED_TOOLS else shown.pop()
    return f"{what.removeprefix('a ')}s {', '.join(shown)} and {last}"


def _printable(name: str) -> str:
    """A server's own text, on one line."""
    shown = name if name.isprintable() else ascii(name)
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"
