"""Notices what other processes do with the open conversation.

Invariant: looks only after the file changed, at most once at a time, and never while a run of this window is
followed; what it tells is about the conversation that is open then.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core

LOOK_AGAIN_MILLISECONDS = 300
FOREIGN_NOTICE = "Another Sophos process writes this answer; it is shown step by step."


class ForeignRuns(QObject):
    """Lives as long as its window, on the GUI thread; works between `attach` and `detach`."""

    appeared = Signal(object)  # RunHandle: another process executes a run here
    file_changed = Signal()  # at most once in `LOOK_AGAIN_MILLISECONDS`, while a run is followed too
    changed = Signal(str)  # conversation id: another process ran something here, or it was recovered

    def __init__(
        self, owner: TaskOwner, open_conversation: Callable[[], str | None], parent: QObject
    ) -> None:
        """`open_conversation` gives the id of the one on the screen; None while its run is followed."""
        super().__init__(parent)
        self._owner = owner
        self._open_conversation = open_conversation
        self._core: Core | None = None
        self._shown: tuple[object, ...] = ()
        self._is_looking = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LOOK_AGAIN_MILLISECONDS)
        self._timer.timeout.connect(self.file_changed)
        self._timer.timeout.connect(self.look)

    def attach(self, core: Core) -> None:
        """Look from now on."""
        self._core = core
        self._unsubscribe = core.neighbours.subscribe(self._on_file_changed)

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._timer.stop()
        self._core = None

    def shows(self, conversation: Conversation) -> None:
        """This is what the window shows of the open conversation."""
        self._shown = _state_of(conversation)

    def _on_file_changed(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def look(self) -> None:
        """See what became of the open conversation."""
        conversation_id = self._open_conversation()
        if self._core is not None and conversation_id is not None and not self._is_looking:
            self._is_looking = True
            self._owner.spawn(self._look(self._core, conversation_id), "look at other processes")

    async def _look(self, core: Core, conversation_id: str) -> None:
        try:
            run = await core.neighbours.executing(conversation_id)
            now = _state_of(await core.conversations.find(conversation_id))
        except SophosError:
            return  # deleted, or the store is busy: the list says so
        finally:
            self._is_looking = False
        if conversation_id != self._open_conversation():
            return
        if run is not None:
            self.appeared.emit(run)
        elif now != self._shown:
            self._shown = now
            self.changed.emit(conversation_id)

    def request_stop(self, conversation_id: str) -> None:
        """Ask the process that executes the run to stop it."""
        if self._core is not None:
            self._owner.spawn(self._request_stop(self._core, conversation_id), "stop elsewhere")

    async def _request_stop(self, core: Core, conversation_id: str) -> None:
        await core.neighbours.request_stop(conversation_id)


def _state_of(conversation: Conversation) -> tuple[object, ...]:
    run = conversation.last_run
    return conversation.message_count, run and run.id, run and run.status
