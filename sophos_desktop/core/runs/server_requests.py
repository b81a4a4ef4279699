"""Starts tool servers anew for other processes: they ask by a row of the file, which every process sees.

Invariant: a request is carried out once by each process that keeps the server; what was asked for before
this process began is none of its business. Calls under way get ten seconds to end; what is cut off then is
said as uncertain, with the words that the command line restarted the server.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.runs.server_logs import ServerLog, ServerLogs
from sophos_desktop.core.runs.watcher import StoreWatcher
from sophos_desktop.core.store.restart_requests import RestartRequestStore
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

ANSWER_SECONDS = 120.0
CALLS_END_SECONDS = 10.0
_LOOK_SECONDS = 0.2


class Restart(Protocol):
    """`ToolHost.restart`."""

    async def __call__(self, name: str, *, who: str, patience_seconds: float) -> object:
        """Start a server anew. Raises SophosError NOT_FOUND."""


class ServerRequests:
    """Lives as long as the core, on its loop, between `start` and `close`."""

    def __init__(
        self, store: RestartRequestStore, watcher: StoreWatcher, logs: ServerLogs, restart: Restart
    ) -> None:
        """`restart` starts a server of this process anew and waits for it. Raises SophosError NOT_FOUND."""
        self._store = store
        self._watcher = watcher
        self._logs = logs
        self._restart = restart
        self._seen: Mapping[str, str] = {}
        self._changed = asyncio.Event()
        self._unsubscribe: Callable[[], None] = lambda: None
        self._tasks = TaskOwner(lambda error: _log.error("a restart asked for failed", exc_info=error))

    async def start(self) -> None:
        """Take up requests from now on. Raises SophosError STORE_*."""
        self._seen = await self._store.newest()
        self._unsubscribe = self._watcher.subscribe(self._changed.set)
        self._tasks.spawn(self._take_up(), "restart requests")

    async def ask_others(self, server: str, timeout_seconds: float = ANSWER_SECONDS) -> Sequence[ServerLog]:
        """Ask every other living process to start a server anew; how it stands there afterwards.

        Empty if no other process keeps it. One that does not answer in time is given as it stands."""
        asked = await self._logs.of_others(server)
        if not asked:
            return ()
        request = await self._store.ask(server)
        owners = {log.owner for log in asked}
        deadline = asyncio.get_running_loop().time() + timeout_seconds
        while True:
            logs = [log for log in await self._logs.of_others(server) if log.owner in owners]
            answered = all(log.restart == request for log in logs)
            if answered or asyncio.get_running_loop().time() >= deadline:
                return logs
            await asyncio.sleep(_LOOK_SECONDS)

    async def close(self) -> None:
        """Take up no more."""
        self._unsubscribe()
        await self._tasks.close()

    async def _take_up(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                newest = await self._store.newest()
            except SophosError as error:
                _log.info("restart requests could not be read: %s", error.code)
                continue
            for server, request in newest.items():
                if self._seen.get(server) != request:
                    self._tasks.spawn(self._carry_out(server, request), f"restart {server} as asked")
            self._seen = newest

    async def _carry_out(self, server: str, request: str) -> None:
        try:
            await self._restart(server, who="the command line", patience_seconds=CALLS_END_SECONDS)
        except SophosError:
            return  # this process does not have it
        self._logs.restarted(server, request)
