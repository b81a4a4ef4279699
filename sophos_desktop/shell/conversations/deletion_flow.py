"""Deletes conversations with ten seconds to take that back, and offers to clear the memory of what they said.

Invariant: a deletion is on disk before the list forgets the conversation; it is carried out when its time is
up, or the program quits; whatever fails or is cut off is finished by the next start.
"""

import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.conversations.facts_dialog import FactsDialog
from sophos_desktop.shell.conversations.undo_bar import UndoBar
from sophos_desktop.shell.facade import Core, MemoryFact

_log = logging.getLogger(__name__)

_TICK_MILLISECONDS = 250


@dataclass(frozen=True, slots=True)
class _Pending:
    """A deletion that can be taken back until `ends`, on the monotonic clock."""

    conversation_id: str
    title: str
    ends: float


class DeletionFlow(QObject):
    """Lives as long as its window; works between `attach` and `detach`."""

    deleted = Signal(str)
    restored = Signal(str)
    can_undo_changed = Signal()
    failed = Signal(object)  # SophosError

    def __init__(self, owner: TaskOwner, parent: QObject) -> None:
        """`owner` keeps its tasks."""
        super().__init__(parent)
        self._owner = owner
        self._core: Core | None = None
        self._bar: UndoBar | None = None
        self._save: Callable[[], Awaitable[None]] | None = None
        self._pending: list[_Pending] = []
        self._told = 0
        self._facts: tuple[str, Sequence[MemoryFact]] = ("", ())
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)

    def show_in(self, bar: UndoBar, save: Callable[[], Awaitable[None]]) -> None:
        """Say it in `bar`. `save` writes what was typed, so that an undo gives all of it back."""
        self._bar = bar
        self._save = save
        bar.undo_wanted.connect(self.undo)
        bar.facts_wanted.connect(self._on_facts_wanted)
        bar.facts_closed.connect(self._forget_facts)

    def attach(self, core: Core) -> None:
        """The core is open."""
        self._core = core

    def detach(self) -> None:
        """The core is about to close; what is pending then is left to the next start."""
        self._core = None
        self._pending.clear()
        self._forget_facts()
        self._show()

    def delete(self, conversation_id: str, title: str) -> None:
        """Delete a conversation; `deleted` or `failed` follows."""
        if self._core is not None:
            self._owner.spawn(self._delete(self._core, conversation_id, title), "delete conversation")

    async def _delete(self, core: Core, conversation_id: str, title: str) -> None:
        try:
            if self._save is not None:
                await self._save()
            facts = await core.conversations.memory_facts(conversation_id)
            seconds = await core.conversations.bury(conversation_id)
        except SophosError as error:
            self.failed.emit(error)
            return
        self._pending.append(_Pending(conversation_id, title, monotonic() + seconds))
        if facts:
            self._facts = (conversation_id, facts)
            if self._bar is not None:
                stays = "stays" if len(facts) == 1 else "stay"
                self._bar.show_facts(f"{_count(facts)} {stays} in memory", can_remove=True)
        self._show()
        self.deleted.emit(conversation_id)

    @property
    def can_undo(self) -> bool:
        """A deletion can be taken back."""
        return self._core is not None and bool(self._pending)

    def undo(self) -> None:
        """Take the newest deletion back; `restored` or `failed` follows."""
        if self._core is not None and self._pending:
            self._owner.spawn(self._undo(self._core, self._pending.pop()), "undo delete")
            self._show()

    async def _undo(self, core: Core, pending: _Pending) -> None:
        try:
            await core.conversations.restore(pending.conversation_id)
        except SophosError as error:
            self.failed.emit(error)
            await self._finish(core, pending)
            return
        if self._facts[0] == pending.conversation_id:
            self._forget_facts()
        self.restored.emit(pending.conversation_id)

    def _on_tick(self) -> None:
        now = monotonic()
        over = [pending for pending in self._pending if pending.ends <= now]
        for pending in over:
            self._pending.remove(pending)
            if self._core is not None:
                self._owner.spawn(self._finish(self._core, pending), "finish deletion")
        self._show()

    async def _finish(self, core: Core, pending: _Pending) -> None:
        try:
            await core.conversations.finish_deletion(pending.conversation_id)
        except SophosError as error:
            # Its tombstone stays, so the next start finishes it.
            _log.info("a deletion could not be finished: %s", error.code)

    async def finish_all(self) -> None:
        """The program quits: nothing can be taken back any more."""
        core, pending = self._core, tuple(self._pending)
        self._pending.clear()
        self._show()
        if core is not None:
            for one in pending:
                await self._finish(core, one)
            try:
                await core.conversations.finish_deletions()
            except SophosError as error:
                _log.info("deletions are left to the next start: %s", error.code)

    def _show(self) -> None:
        if self._pending and not self._tick.isActive():
            self._tick.start()
        elif not self._pending:
            self._tick.stop()
        if len(self._pending) != self._told:
            self._told = len(self._pending)
            self.can_undo_changed.emit()
        if self._bar is None:
            return
        if self._pending:
            newest = self._pending[-1]
            self._bar.show_deletion(newest.title, max(0, math.ceil(newest.ends - monotonic())))
        else:
            self._bar.hide_deletion()

    # The memory

    def _forget_facts(self) -> None:
        self._facts = ("", ())
        if self._bar is not None:
            self._bar.hide_facts()

    def _on_facts_wanted(self) -> None:
        if self._core is not None:
            self._owner.spawn(self._offer(self._core, self._facts[1]), "look for facts")

    async def _offer(self, core: Core, facts: Sequence[MemoryFact]) -> None:
        try:
            there = await core.conversations.facts_still_there(facts, core.direct_calls)
        except SophosError as error:
            self.failed.emit(error)
            return
        if self._bar is None or self._facts[1] is not facts:
            return
        if not there:
            self._bar.show_facts("Nothing of it is in memory", can_remove=False)
            return
        FactsDialog(there, self._on_facts_chosen, self._bar.window()).open()

    def _on_facts_chosen(self, facts: Sequence[MemoryFact]) -> None:
        if self._core is not None and facts:
            self._owner.spawn(self._remove(self._core, facts), "remove facts")

    async def _remove(self, core: Core, facts: Sequence[MemoryFact]) -> None:
        try:
            gone = await core.conversations.remove_facts(facts, core.direct_calls)
        except SophosError as error:
            self.failed.emit(error)
            return
        self._facts = ("", ())
        if self._bar is not None:
            stays = len(facts) - len(gone)
            more = f", {stays} in use" if stays else ""
            self._bar.show_facts(f"{_count(gone)} removed{more}", can_remove=False)


def _count(facts: Sequence[MemoryFact]) -> str:
    return "1 fact" if len(facts) == 1 else f"{len(facts)} facts"
