"""Tells listeners that somebody has written to the file, or to the settings: another process, or this one.

Invariant: while nothing changes, nothing is read; a change is told within `LOOK_SECONDS`, several at once as
one. Without a listener nothing is asked at all.
"""

import asyncio
import logging
from collections.abc import Callable

from sophos_desktop.core.store.changes import ChangeCounter
from sophos_desktop.core.store.errors import DATABASE_ERRORS
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

LOOK_SECONDS = 0.25


class StoreWatcher:
    """Lives as long as the core, on its loop."""

    def __init__(self, counter: ChangeCounter, look_beside: Callable[[], bool] = lambda: False) -> None:
        """`counter` is closed by whoever opened it; `look_beside` says whether something beside the file has
        changed since it was asked last."""
        self._counter = counter
        self._look_beside = look_beside
        self._listeners: list[Callable[[], None]] = []
        self._tasks = TaskOwner(lambda error: _log.error("the watcher failed", exc_info=error))

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on the loop after each change; returns what ends that."""
        self._listeners.append(listener)
        if self._tasks.active == 0:
            self._tasks.spawn(self._look(), "store watcher")

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    async def _look(self) -> None:
        seen = await self._counter.read()
        while self._listeners:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                now = await self._counter.read()
            except DATABASE_ERRORS as error:
                _log.info("the file could not be asked for changes: %s", error)
                continue
            if self._look_beside() or now != seen:
                seen = now
                for listener in tuple(self._listeners):
                    listener()

    async def close(self) -> None:
        """Ask no more."""
        self._listeners.clear()
        await self._tasks.close()
