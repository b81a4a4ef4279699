"""The conversations as an item model: title, time, state.

Invariant: rows are pinned first, then newest first, and fall into groups in that order; the filter only
hides rows; the model knows no core and no window.
"""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.clock import Clock, from_text
from sophos_desktop.shell.conversations.groups import Group, grouped
from sophos_desktop.shell.conversations.relative_time import relative_time
from sophos_desktop.shell.widgets.plain_tip import plain_tip

Index = QModelIndex | QPersistentModelIndex


class Role(IntEnum):
    """What a row holds beside its title."""

    ID = Qt.ItemDataRole.UserRole + 1
    TIME = Qt.ItemDataRole.UserRole + 2
    STATE = Qt.ItemDataRole.UserRole + 3


class RowState(StrEnum):
    """What a row says in the place of its time while its run needs notice."""

    NONE = ""
    RUNNING = "Running"
    WAITING = "Waiting"
    FAILED = "Failed"
    INTERRUPTED = "Interrupted"


class ConversationListModel(QAbstractListModel):
    """Lives as long as its window, on the GUI thread."""

    rename_requested = Signal(str, str)  # conversation id, title

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        """Empty; `clock` tells what today is."""
        super().__init__(parent)
        self._clock = clock
        self._all: dict[str, Conversation] = {}
        self._rows: list[Conversation] = []
        self._filter = ""
        self._is_known = False
        self._groups: list[Group] | None = None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """How many rows the filter lets through."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title, id, time, state and the words for screen readers."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        conversation = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return conversation.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(conversation.title)
        if role == Role.ID:
            return conversation.id
        if role == Role.TIME:
            return self._time(conversation)
        if role == Role.STATE:
            return row_state(conversation)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return self._group_name(index.row())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = (conversation.title, row_state(conversation).value, self._time(conversation))
            return ", ".join(word for word in words if word)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A row can be renamed in place."""
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another title; the row changes when the store has it."""
        title = str(value).strip()
        if not index.isValid() or role != Qt.ItemDataRole.EditRole or not title:
            return False
        conversation = self._rows[index.row()]
        if title != conversation.title:
            self.rename_requested.emit(conversation.id, title)
        return True

    @property
    def groups(self) -> list[Group]:
        """The groups of the rows; what counts as today is the clock's."""
        if self._groups is None:
            self._groups = grouped(self._rows, self._clock.now().astimezone())
        return self._groups

    def _group_name(self, row: int) -> str:
        return next((group.name for group in reversed(self.groups) if group.first <= row), "")

    @property
    def is_filtered(self) -> bool:
        """True while a filter is set."""
        return bool(self._filter)

    def count(self, state: "RowState") -> int:
        """How many conversations, hidden ones too, are in a state."""
        return sum(row_state(conversation) is state for conversation in self._all.values())

    def _time(self, conversation: Conversation) -> str:
        now = self._clock.now().astimezone()
        moment = from_text(conversation.updated_at).astimezone(now.tzinfo)
        if not conversation.pinned and (now.date() - moment.date()).days == 1:
            return f"{moment:%H:%M}"  # its group says that it was yesterday
        return relative_time(moment, now)

    def conversation(self, conversation_id: str) -> Conversation | None:
        """What is known of a conversation."""
        return self._all.get(conversation_id)

    def title_of(self, conversation_id: str | None) -> str:
        """A conversation's title on one line; empty if it is not known."""
        known = self._all.get(conversation_id or "")
        return " ".join(known.title.split()) if known is not None else ""

    @property
    def is_known(self) -> bool:
        """The list was read, be it empty."""
        return self._is_known

    def row_of(self, conversation_id: str | None) -> QModelIndex:
        """Where a conversation stands; invalid if it is hidden or unknown."""
        for row, conversation in enumerate(self._rows):
            if conversation.id == conversation_id:
                return self.index(row)
        return QModelIndex()

    def neighbour_of(self, conversation_id: str) -> str:
        """The id of the row below a conversation, or above the last one; empty if there is no other."""
        row = self.row_of(conversation_id).row()
        if row < 0 or len(self._rows) < 2:
            return ""
        return self._rows[row + 1 if row + 1 < len(self._rows) else row - 1].id

    def reset(self, conversations: Iterable[Conversation]) -> None:
        """Take the whole list."""
        self.beginResetModel()
        self._is_known = True
        self._all = {conversation.id: conversation for conversation in conversations}
        self._sort()
        self.endResetModel()

    def set_filter(self, text: str) -> None:
        """Show only titles that hold `text`, whatever the case."""
        wanted = text.strip().casefold()
        if wanted != self._filter:
            self.beginResetModel()
            self._filter = wanted
            self._sort()
            self.endResetModel()

    def update(self, conversation: Conversation) -> None:
        """Add a conversation or show its new state; moves it where its time puts it."""
        self._all[conversation.id] = conversation
        before = self.row_of(conversation.id).row()
        if before >= 0 and self._passes(conversation):
            self._rows[before] = conversation
            self._move(before)
            index = self.row_of(conversation.id)
            self.dataChanged.emit(index, index)
        elif before >= 0:
            self._take(before)
        elif self._passes(conversation):
            self._insert(conversation)

    def remove(self, conversation_id: str) -> None:
        """A conversation was deleted."""
        self._all.pop(conversation_id, None)
        row = self.row_of(conversation_id).row()
        if row >= 0:
            self._take(row)

    def refresh_times(self) -> None:
        """The clock went on: what was today may be yesterday."""
        self._groups = None
        if self._rows:
            roles = [int(Role.TIME), int(Qt.ItemDataRole.AccessibleTextRole)]
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1), roles)

    def _take(self, row: int) -> None:
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._rows[row]
        self._groups = None
        self.endRemoveRows()

    def _place(self, conversation: Conversation) -> int:
        """The row that a conversation belongs before."""
        wanted = _order(conversation)
        return next(
            (
                row
                for row, other in enumerate(self._rows)
                if other is not conversation and _order(other) <= wanted
            ),
            len(self._rows),
        )

    def _move(self, before: int) -> None:
        conversation = self._rows[before]
        self._groups = None
        after = self._place(conversation)
        if after in (before, before + 1):
            return
        self.beginMoveRows(QModelIndex(), before, before, QModelIndex(), after)
        del self._rows[before]
        self._rows.insert(after - 1 if after > before else after, conversation)
        self.endMoveRows()

    def _insert(self, conversation: Conversation) -> None:
        row = self._place(conversation)
        self.beginInsertRows(QModelIndex(), row, row)
        self._rows.insert(row, conversation)
        self._groups = None
        self.endInsertRows()

    def _passes(self, conversation: Conversation) -> bool:
        return self._filter in conversation.title.casefold()

    def _sort(self) -> None:
        shown = [conversation for conversation in self._all.values() if self._passes(conversation)]
        self._rows = sorted(shown, key=_order, reverse=True)
        self._groups = None


def _order(conversation: Conversation) -> tuple[bool, str]:
    return conversation.pinned, conversation.updated_at


def row_state(conversation: Conversation) -> RowState:
    """What the list says of a conversation's last run."""
    run = conversation.last_run
    if run is None:
        return RowState.NONE
    if run.status is RunStatus.RUNNING:
        return RowState.RUNNING
    if run.status is RunStatus.WAITING:
        # Once all is decided nobody is waited for: like an interrupted one, it is to be resumed.
        return RowState.INTERRUPTED if run.decided else RowState.WAITING
    if run.status is RunStatus.FAILED:
        return RowState.FAILED
    return RowState.INTERRUPTED if run.status is RunStatus.INTERRUPTED else RowState.NONE
