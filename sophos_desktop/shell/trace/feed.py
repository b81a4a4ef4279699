"""Fills the trace model from stored events, and from those of the running run as they come.

Invariant: reads nothing while the dock is hidden; at most one reading is under way; what arrives live is
shown ten times a second at most, and what was read for another conversation changes nothing.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import RunEvent
from sophos_desktop.core.domain.projection import JsonObject
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.event_bridge import EventBridge
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.trace.nodes import Run
from sophos_desktop.shell.trace.trace_model import TraceModel

REFRESH_MILLISECONDS = 100


class TraceFeed(QObject):
    """Lives as long as its window; works between `attach` and `detach`."""

    failed = Signal(object)  # SophosError

    def __init__(self, model: TraceModel, bridge: EventBridge, owner: TaskOwner, parent: QObject) -> None:
        """Fills `model`."""
        super().__init__(parent)
        self._model = model
        self._bridge = bridge
        self._owner = owner
        self._core: Core | None = None
        self._conversation_id: str | None = None
        self._generation = 0
        self._is_shown = True
        self._is_stale = False
        self._is_working = False
        self._wanted: dict[str, None] = {}
        self._arrived: dict[str, list[JsonObject]] = {}
        self._unsubscribe: Callable[[], None] = lambda: None
        self._leave_neighbours: Callable[[], None] = lambda: None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REFRESH_MILLISECONDS)
        self._timer.timeout.connect(self._work_soon)
        bridge.stored.connect(self._on_stored)
        model.wanted.connect(self._on_wanted)

    def attach(self, core: Core) -> None:
        """The core is open."""
        self._core = core
        self._unsubscribe = core.runs.subscribe(self._on_run_changed)
        self._leave_neighbours = core.neighbours.subscribe(self._on_file_changed)

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._leave_neighbours()
        self._unsubscribe = self._leave_neighbours = lambda: None
        self._timer.stop()
        self._core = None

    def open(self, conversation_id: str | None) -> None:
        """Show the runs of another conversation, or of none."""
        if conversation_id == self._conversation_id:
            return
        self._conversation_id = conversation_id
        self._generation += 1
        self._wanted.clear()
        self._arrived.clear()
        self._model.clear()
        self._is_stale = conversation_id is not None
        self._work_soon()

    def set_shown(self, shown: bool) -> None:  # noqa: FBT001 (a Qt slot)
        """The dock came or went."""
        self._is_shown = shown
        if shown:
            self._is_stale = self._conversation_id is not None
            self._work_soon()

    def _on_stored(self, conversation_id: str, event: RunEvent) -> None:
        if conversation_id == self._conversation_id and self._is_shown:
            self._arrived.setdefault(event.run_id, []).append(event.to_json())
            if self._model.run(event.run_id) is None:
                self._is_stale = True
            if not self._timer.isActive():
                self._timer.start()

    def _on_run_changed(self, conversation_id: str) -> None:
        if conversation_id == self._conversation_id:
            self._is_stale = True
            if not self._timer.isActive():
                self._timer.start()

    def _on_file_changed(self) -> None:
        # A run that is followed tells by itself what it does; this is about those that are not.
        if self._conversation_id is not None and self._bridge.following is None and self._is_shown:
            self._on_run_changed(self._conversation_id)

    def _on_wanted(self, run_id: str) -> None:
        self._wanted[run_id] = None
        self._work_soon()

    @property
    def _has_work(self) -> bool:
        return bool(self._is_stale or self._wanted or self._arrived)

    def _work_soon(self) -> None:
        if self._core is not None and self._is_shown and self._has_work and not self._is_working:
            self._is_working = True
            self._owner.spawn(self._work(), "trace")

    async def _work(self) -> None:
        try:
            while self._core is not None and self._is_shown and self._has_work:
                await self._step(self._core, self._generation)
        except SophosError as error:
            self._is_stale = False
            self._wanted.clear()
            if error.code is not ErrorCode.NOT_FOUND:  # it was deleted meanwhile
                self.failed.emit(error)
        finally:
            self._is_working = False

    async def _step(self, core: Core, generation: int) -> None:
        if any(self._model.run(run_id) is not None for run_id in self._arrived):
            await self._take_arrived(core, generation)
        elif self._is_stale and self._conversation_id is not None:
            self._is_stale = False
            before = {run.record.id: run.record for run in self._model.runs}
            records = await core.conversations.runs(self._conversation_id)
            if generation != self._generation:
                return
            self._model.set_runs(records)
            for record in records:
                run = self._model.run(record.id)
                may_have_more = before.get(record.id) != record or record.status.is_active
                if run is not None and run.is_loaded and may_have_more and not self._is_told(run):
                    await self._read(core, record.id, generation)
        elif self._wanted:
            run_id = next(iter(self._wanted))
            if not self._arrived_whole(run_id):
                await self._read(core, run_id, generation)
            self._wanted.pop(run_id, None)
        else:
            self._arrived.clear()  # of a run that is not there any more

    def _is_told(self, run: Run) -> bool:
        """True if nothing needs to be read: the run's events come by themselves, or its end is here."""
        if self._bridge.following is not None and self._bridge.following.run_id == run.record.id:
            return True
        is_over = bool(run.events) and run.events[-1]["type"] == "end"
        return is_over and not run.record.status.is_active

    async def _take_arrived(self, core: Core, generation: int) -> None:
        run_id = next(run_id for run_id in self._arrived if self._model.run(run_id) is not None)
        run = self._model.run(run_id)
        if run is not None and not run.is_loaded and not self._arrived_whole(run_id):
            await self._read(core, run_id, generation)
        if generation == self._generation:
            self._model.add_events(run_id, self._arrived.pop(run_id, []))

    def _arrived_whole(self, run_id: str) -> bool:
        """True if what arrived begins with the run's first event, so that nothing needs to be read."""
        arrived = self._arrived.get(run_id, ())
        return len(arrived) > 0 and arrived[0]["seq"] == 1

    async def _read(self, core: Core, run_id: str, generation: int) -> None:
        run = self._model.run(run_id)
        if run is None:
            return
        events = await core.conversations.trace(run_id, run.fold.last_seq)
        if generation == self._generation:
            self._model.add_events(run_id, events)
