"""Tells what became of runs of this process, in whatever conversation.

Invariant: told once for each end or pause, after it was recorded, with the conversation as it is then.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core


class RunEndings(QObject):
    """Lives as long as its window; works between `attach` and `detach`."""

    ended = Signal(object)  # Conversation

    def __init__(self, owner: TaskOwner, parent: QObject) -> None:
        """Hears nothing yet."""
        super().__init__(parent)
        self._owner = owner
        self._core: Core | None = None
        self._running: set[str] = set()
        self._unsubscribe: Callable[[], None] = lambda: None

    def attach(self, core: Core) -> None:
        """Listen from now on."""
        self._core = core
        self._unsubscribe = core.runs.subscribe(self._on_changed)

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._unsubscribe = lambda: None
        self._core = None

    def _on_changed(self, conversation_id: str) -> None:
        if self._core is None:
            return
        if self._core.runs.active(conversation_id) is not None:
            self._running.add(conversation_id)
        elif conversation_id in self._running:
            self._running.discard(conversation_id)
            self._owner.spawn(self._tell(self._core, conversation_id), "what became of a run")

    async def _tell(self, core: Core, conversation_id: str) -> None:
        try:
            conversation = await core.conversations.find(conversation_id)
        except SophosError:
            return  # deleted, or the store is busy: the list says so
        self.ended.emit(conversation)
