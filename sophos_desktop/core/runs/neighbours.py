"""The runs of other processes on the same file: seen, followed, asked to stop, and their death noticed.

Invariant: nothing of another process's run is changed here but the request to stop it; what a dead one left
is recovery's. A stop that another process asks for is taken up within a second.
"""

import asyncio
import logging
from collections.abc import Callable

from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.runs.following import FollowedRun, Follower
from sophos_desktop.core.runs.recovery import Recovery
from sophos_desktop.core.runs.registry import RunRegistry
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.runs.watcher import StoreWatcher
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

LOOK_AT_OWNERS_SECONDS = 2.0


class Neighbours:
    """Lives as long as the core, on its loop, between `start` and `close`."""

    def __init__(
        self,
        stores: Stores,
        runs: RunRegistry,
        recovery: Recovery,
        follower: Follower,
        watcher: StoreWatcher,
        owner_id: str,
    ) -> None:
        """`owner_id`: the lock file's id of this process."""
        self._stores = stores
        self._runs = runs
        self._recovery = recovery
        self._follower = follower
        self._watcher = watcher
        self._owner_id = owner_id
        self._tasks = TaskOwner(lambda error: _log.error("looking at other processes failed", exc_info=error))
        self._ends: list[Callable[[], None]] = []
        self._stop_watching: Callable[[], None] | None = None
        self._listening = False

    def start(self) -> None:
        """Take up requests to stop this process's runs, whenever it has some."""
        self._ends.append(self._runs.subscribe(lambda _: self._watch_while_running()))

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on the loop after any change of the file, and notice owners that die.

        Returns what ends that. For a window, which stays open while other processes come and go."""
        if not self._listening:
            self._listening = True
            self._tasks.spawn(self._look_at_owners(), "other owners")
        return self._watcher.subscribe(listener)

    async def executing(self, conversation_id: str) -> FollowedRun | None:
        """The run that another process executes on a conversation, to be followed."""
        record = await self._foreign(conversation_id)
        return None if record is None else self._follower.follow(record)

    async def request_stop(self, conversation_id: str) -> bool:
        """Stop the run on a conversation, here or elsewhere, or one that waits for a decision.

        False if none is active. Raises SophosError STORE_*."""
        if self._runs.stop(conversation_id) or await self._runs.cancel_waiting(conversation_id):
            return True
        record = await self._foreign(conversation_id)
        return record is not None and await self._stores.runs.request_stop(record.id)

    async def _foreign(self, conversation_id: str) -> RunRecord | None:
        record = await self._stores.runs.active(conversation_id)
        if record is None or record.status is not RunStatus.RUNNING or record.owner == self._owner_id:
            return None
        return record

    def _watch_while_running(self) -> None:
        if self._runs.is_idle:
            if self._stop_watching is not None:
                self._stop_watching()
                self._stop_watching = None
        elif self._stop_watching is None:
            self._stop_watching = self._watcher.subscribe(self._on_change)

    def _on_change(self) -> None:
        if self._tasks.active <= int(self._listening):
            self._tasks.spawn(self._take_up_requests(), "stop requests")

    async def _take_up_requests(self) -> None:
        for conversation_id in await self._stores.runs.stop_requests(self._owner_id):
            self._runs.stop(conversation_id)

    async def _look_at_owners(self) -> None:
        """While another process runs something, see whether it lives."""
        changed = asyncio.Event()
        changed.set()
        self._ends.append(self._watcher.subscribe(changed.set))
        while True:
            await changed.wait()
            changed.clear()
            running = await self._stores.runs.with_status(RunStatus.RUNNING)
            others = [record for record in running if record.owner != self._owner_id]
            for record in others:
                await self._recovery.before_claim(record.conversation_id)
            if others:
                changed.set()
                await asyncio.sleep(LOOK_AT_OWNERS_SECONDS)

    async def close(self) -> None:
        """Look no more."""
        for end in self._ends:
            end()
        if self._stop_watching is not None:
            self._stop_watching()
        await self._tasks.close()
