"""Asks the core how engine, model, context and servers stand, and tells the status bar.

Invariant: only of the conversation that is open; asking never delays anything else, one question is out at a
time, and what comes too late for another conversation is dropped.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.events import ModelCallFinished, RunEvent, event_fields
from sophos_desktop.core.domain.model_choices import context_use
from sophos_desktop.core.domain.specs import EngineStatus
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.status.bar import StatusBar
from sophos_desktop.shell.status.loading import LoadingWords

_ASK_AGAIN_MILLISECONDS = 15_000


class StatusFeed(QObject):
    """Asks the core and tells the bar; works between `attach` and `detach`."""

    engine_changed = Signal()  # another engine, another version, or it went or came back

    def __init__(self, bar: StatusBar, owner: TaskOwner, parent: QObject) -> None:
        """Feeds `bar`."""
        super().__init__(parent)
        self._bar = bar
        self._owner = owner
        self._core: Core | None = None
        self._conversation_id: str | None = None
        self._is_asking = self._is_stale = False
        self._reads = 0
        self._engine: EngineStatus | None = None
        self._loading = LoadingWords(bar, owner)
        self._unsubscribe: Callable[[], None] = lambda: None
        self._timer = QTimer(self)
        self._timer.setInterval(_ASK_AGAIN_MILLISECONDS)
        self._timer.timeout.connect(self.refresh)

    def attach(self, core: Core) -> None:
        """The core is open."""
        self._core = core
        self._unsubscribe = core.servers.subscribe(self._on_servers_changed)
        self._on_servers_changed()
        self._timer.start()
        self.open(self._conversation_id)

    def detach(self) -> None:
        """The core is about to close."""
        self._timer.stop()
        self._unsubscribe()
        self._core = None

    def open(self, conversation_id: str | None) -> None:
        """Report about this conversation; None: the chat that does not exist yet."""
        self._conversation_id = conversation_id
        self._reads += 1
        self._loading.reset()
        if self._core is None or conversation_id is None:
            self._bar.show_context(None)
        else:
            self._owner.spawn(self._read_use(self._core, conversation_id, self._reads), "context in use")
        self.refresh()

    def on_event(self, conversation_id: str, told: RunEvent) -> None:
        """Something happened in the run that is followed."""
        if conversation_id != self._conversation_id or self._core is None:
            return
        self._loading.on_event(self._core, conversation_id, told)
        if isinstance(told.event, ModelCallFinished):
            self._reads += 1
            self._bar.show_context(context_use(event_fields(told.event)))

    @property
    def answered_run(self) -> str:
        """The run whose model answered last."""
        return self._loading.answered_run

    def refresh(self) -> None:
        """Ask which model answers next and how its engine stands."""
        if self._is_asking:
            self._is_stale = True
        elif self._core is not None:
            self._is_asking = True
            self._owner.spawn(self._ask(self._core), "engine status")

    async def _read_use(self, core: Core, conversation_id: str, read: int) -> None:
        try:
            use = await core.models.context_use(conversation_id)
        except SophosError:
            use = None
        if read == self._reads:
            self._bar.show_context(use)

    async def _ask(self, core: Core) -> None:
        try:
            self._is_stale = True
            while self._is_stale:
                self._is_stale = False
                await self._ask_once(core, self._conversation_id)
        finally:
            self._is_asking = False

    async def _ask_once(self, core: Core, conversation_id: str | None) -> None:
        try:
            standing = await core.models.standing(conversation_id)
            following = standing.following
            status = await core.engines.status(following.engine if following is not None else None)
        except SophosError as error:
            if not self._is_stale:
                self._bar.show_engine_error(error)
            return
        if self._is_stale:
            return
        self._bar.show_engine(status, following)
        before, self._engine = self._engine, status
        if before is not None and _differs(before, status):
            self.engine_changed.emit()

    def _on_servers_changed(self) -> None:
        if self._core is not None:
            self._bar.show_servers(self._core.servers.statuses())


def _differs(before: EngineStatus, now: EngineStatus) -> bool:
    """True if it may have other models now."""
    return (before.engine, before.reachable, before.version) != (now.engine, now.reachable, now.version)
