"""Keeps the list model in step with the core: reads it once, then each conversation that changed.

Invariant: changes are read one after the other, each conversation at most once for any number of changes
that came meanwhile. What other processes change is found by comparing stamps, after the file changed.
"""

from collections.abc import Awaitable, Callable, Mapping

from PySide6.QtCore import QObject, QTimer, Signal

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.conversations.deletion_flow import DeletionFlow
from sophos_desktop.shell.conversations.list_model import ConversationListModel
from sophos_desktop.shell.conversations.undo_bar import UndoBar
from sophos_desktop.shell.facade import Core

LOOK_MILLISECONDS = 500


class ConversationFeed(QObject):
    """Lives as long as its window; works between `attach` and `detach`."""

    deleted = Signal(str, str)  # its id, and that of the row that took its place; empty if none did
    restored = Signal(str)
    can_undo_changed = Signal()
    failed = Signal(object)  # SophosError
    loaded = Signal()

    def __init__(self, model: ConversationListModel, owner: TaskOwner, parent: QObject) -> None:
        """Feeds `model`."""
        super().__init__(parent)
        self._model = model
        self._owner = owner
        self._core: Core | None = None
        self._changed: dict[str, None] = {}
        self._is_reading = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self._leave_neighbours: Callable[[], None] = lambda: None
        self._stamps: Mapping[str, object] = {}
        self._look = QTimer(self)
        self._look.setSingleShot(True)
        self._look.setInterval(LOOK_MILLISECONDS)
        self._look.timeout.connect(self._on_look)
        self._deletions = DeletionFlow(owner, self)
        self._deletions.deleted.connect(self._on_deleted)
        self._deletions.restored.connect(self._on_restored)
        self._deletions.failed.connect(self.failed)
        self._deletions.can_undo_changed.connect(self.can_undo_changed)
        connect_async(model.rename_requested, self._rename, owner, "rename conversation")

    async def attach(self, core: Core) -> None:
        """Read the whole list. Raises SophosError of the store."""
        self._core = core
        self._deletions.attach(core)
        self._unsubscribe = core.runs.subscribe(self.mark_changed)
        self._stamps = await core.conversations.stamps()
        self._model.reset(await core.conversations.find_all())
        self._leave_neighbours = core.neighbours.subscribe(self._on_file_changed)
        self.loaded.emit()

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._leave_neighbours()
        self._look.stop()
        self._deletions.detach()
        self._core = None

    def _on_file_changed(self) -> None:
        if not self._look.isActive():
            self._look.start()

    def _on_look(self) -> None:
        if self._core is not None:
            self._owner.spawn(self._compare(self._core), "look for foreign changes")

    async def _compare(self, core: Core) -> None:
        """Read again what is another than it was; what this process itself changed is among it."""
        before, self._stamps = self._stamps, await core.conversations.stamps()
        for conversation_id in before.keys() | self._stamps.keys():
            if before.get(conversation_id) != self._stamps.get(conversation_id):
                self.mark_changed(conversation_id)

    def mark_changed(self, conversation_id: str) -> None:
        """Read a conversation again soon."""
        self._changed[conversation_id] = None
        if not self._is_reading and self._core is not None:
            self._is_reading = True
            self._owner.spawn(self._read_changed(), "refresh list")

    async def _read_changed(self) -> None:
        try:
            while self._changed and self._core is not None:
                conversation_id = next(iter(self._changed))
                del self._changed[conversation_id]
                await self._read(self._core, conversation_id)
        finally:
            self._is_reading = False

    async def _read(self, core: Core, conversation_id: str) -> None:
        try:
            self._model.update(await core.conversations.find(conversation_id))
        except SophosError as error:
            if error.code is ErrorCode.NOT_FOUND:
                self._model.remove(conversation_id)
            else:
                self.failed.emit(error)

    def show_deletions(self, bar: UndoBar, save: Callable[[], Awaitable[None]]) -> None:
        """Let deletions be taken back in `bar`; `save` writes what was typed before one."""
        self._deletions.show_in(bar, save)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation; `deleted` or `failed` follows, and `restored` if that is taken back."""
        known = self._model.conversation(conversation_id)
        self._deletions.delete(conversation_id, known.title if known is not None else "")

    async def finish_deletions(self) -> None:
        """The program quits: what was deleted goes for good. Raises SophosError of the store."""
        await self._deletions.finish_all()

    @property
    def can_undo(self) -> bool:
        """A deletion can be taken back."""
        return self._deletions.can_undo

    def undo(self) -> None:
        """Take the newest deletion back."""
        self._deletions.undo()

    def _on_deleted(self, conversation_id: str) -> None:
        following = self._model.neighbour_of(conversation_id)
        self._model.remove(conversation_id)
        self.deleted.emit(conversation_id, following)

    def _on_restored(self, conversation_id: str) -> None:
        self.mark_changed(conversation_id)
        self.restored.emit(conversation_id)

    async def _rename(self, conversation_id: str, title: str) -> None:
        if self._core is None:
            return
        try:
            await self._core.conversations.rename(conversation_id, title)
        except SophosError as error:
            self.failed.emit(error)
        self.mark_changed(conversation_id)
