"""The runs of one conversation as an item model: run › step › row.

Invariant: newest run first; events only ever add to the end of a run, so that an update touches its last
group alone. A run's events are asked for (`wanted`) when it is opened; those of an interrupted one at once,
for they tell how long it took. All bars are on one scale. Knows no core, no window.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from sophos_desktop.core.domain.projection import JsonObject
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.foundation.clock import Clock, to_text
from sophos_desktop.shell.trace import blocks, saying, words
from sophos_desktop.shell.trace.bars import bar_of
from sophos_desktop.shell.trace.nodes import Entry, Node, Run
from sophos_desktop.shell.trace.shown import EVERYTHING, Shown
from sophos_desktop.shell.widgets.plain_tip import plain_tip

Index = QModelIndex | QPersistentModelIndex

NAME, BAR, TIME = range(3)


class Role(IntEnum):
    """What an item holds beside its words."""

    BAR = Qt.ItemDataRole.UserRole + 1
    STATE = Qt.ItemDataRole.UserRole + 2
    LEVEL = Qt.ItemDataRole.UserRole + 3
    KIND = Qt.ItemDataRole.UserRole + 4
    ARGUMENT = Qt.ItemDataRole.UserRole + 5


class TraceModel(QAbstractItemModel):
    """Lives as long as its window, on the GUI thread."""

    wanted = Signal(str)  # run id: its events are needed
    grew = Signal(str)  # run id: it has new events or another state

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        """Empty; `clock` tells how long a run goes on."""
        super().__init__(parent)
        self._clock = clock
        self._ids = itertools.count(1)
        self._nodes: dict[int, Node] = {}
        self._runs: list[Node] = []
        self._lengths: tuple[float, list[Run]] | None = None  # the longest run that is over, and what is not
        self.shown = EVERYTHING

    # What Qt asks

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """The item at a place."""
        siblings = self._children(parent)
        if not 0 <= row < len(siblings) or not 0 <= column <= TIME:
            return QModelIndex()
        return self.createIndex(row, column, siblings[row].id)

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """The item above."""
        node = self.node(index)
        above = node.parent if node is not None else None
        return self._index_of(above) if above is not None else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many items are below one."""
        return len(self._children(parent)) if parent.column() <= 0 else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Name, bar, time."""
        return 3

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        """True also for a run whose events are not read yet."""
        if self.canFetchMore(parent):
            return parent.column() <= 0
        return self.rowCount(parent) > 0

    def canFetchMore(self, parent: Index) -> bool:
        """True for a run whose events are not read yet."""
        node = self.node(parent)
        return node is not None and node.parent is None and not node.run.is_loaded

    def fetchMore(self, parent: Index) -> None:
        """Ask for a run's events; they come later."""
        node = self.node(parent)
        if node is not None and not node.run.is_loaded:
            self.wanted.emit(node.run.record.id)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The columns' names."""
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return ("Step", "", "Time")[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, bar, time, state, and all of them as words for screen readers."""
        node = self.node(index)
        if node is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._display(node, index.column())
        if role == Role.BAR:
            now = self._now()
            return bar_of(node, now, self._scale_at(now))
        if role == Role.STATE:
            return saying.state_of(node)
        if role == Role.LEVEL:
            return node.level
        if role == Role.KIND:
            return "tool" if node.shown_row is not None and node.shown_row.is_call else ""
        if role == Role.ARGUMENT:
            return words.argument_words(node.shown_row.row) if node.shown_row is not None else ""
        if role == Qt.ItemDataRole.AccessibleTextRole:
            # A blank: for nothing at all Qt takes what is displayed, and the row would be spoken thrice.
            return self._said(node) if index.column() == NAME else " "
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._said(node))  # a model wrote the argument
        return None

    def _said(self, node: Node) -> str:
        took = saying.took_ms(node, self._now())
        time = words.time_words(took) if took is not None else ""
        argument = words.argument_words(node.shown_row.row) if node.shown_row is not None else ""
        said = (saying.name_of(node), argument, saying.state_word_of(node), time)
        return ", ".join(word for word in said if word)

    def _display(self, node: Node, column: int) -> str:
        if column == NAME:
            return saying.name_of(node)
        return saying.time_of(node, self._now()) if column == TIME else ""

    def _now(self) -> str:
        return to_text(self._clock.now())

    # What the window asks

    def node(self, index: Index) -> Node | None:
        """The item that an index stands for."""
        return self._nodes.get(int(index.internalId())) if index.isValid() else None

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""
        node = self._run_node(run_id)
        return node.run if node is not None else None

    def run_index(self, run_id: str) -> QModelIndex:
        """Where a run stands; invalid if it is unknown."""
        node = self._run_node(run_id)
        return self._index_of(node) if node is not None else QModelIndex()

    @property
    def runs(self) -> Sequence[Run]:
        """All runs, newest first."""
        return [node.run for node in self._runs]

    @property
    def scale_ms(self) -> float:
        """How long the one scale of all bars is, in milliseconds: as long as the longest run, up to now."""
        return self._scale_at(self._now())

    def _scale_at(self, now: str) -> float:
        if self._lengths is None:
            runs = [node.run for node in self._runs]
            ended = (run.end_ms(now) for run in runs if not run.record.status.is_active)
            active = [run for run in runs if run.record.status.is_active]
            self._lengths = max(ended, default=1.0), active
        longest, active = self._lengths
        return max([longest, *(run.end_ms(now) for run in active)])

    def run_ms(self, run: Run) -> float | None:
        """How long a run took; up to now if it goes on; None if that is not known."""
        return run.total_ms(self._now())

    def took_ms(self, node: Node) -> float | None:
        """How long an item took; None if that is not known."""
        return saying.took_ms(node, self._now())

    # What the feed tells

    def set_runs(self, records: Iterable[RunRecord]) -> None:
        """All runs of the conversation, oldest first; those that are known keep their events."""
        wanted = list(records)
        self._lengths = None
        known = {node.run.record.id: node for node in self._runs}
        same = [record for record in wanted if record.id in known]
        keeps_order = [record.id for record in reversed(same)] == [node.run.record.id for node in self._runs]
        if not same or not keeps_order or wanted[: len(same)] != same:
            self._reset(wanted)
        else:
            for record in same:
                self._update_record(known[record.id], record)
            if len(wanted) > len(same):
                self._insert_runs(wanted[len(same) :], len(same))
        for run in self.runs:
            if run.record.status is RunStatus.INTERRUPTED and not run.is_loaded:
                self.wanted.emit(run.record.id)  # its record does not tell how long it worked

    def clear(self) -> None:
        """Another conversation."""
        self._reset([])

    def show_only(self, shown: Shown) -> None:
        """Show other rows."""
        if shown != self.shown:
            self.shown = shown
            self._reset([node.run.record for node in reversed(self._runs)])

    def add_events(self, run_id: str, events: Iterable[JsonObject]) -> None:
        """The next events of a run; those it has already are left out. Counts as loaded from now on."""
        node = self._run_node(run_id)
        if node is None:
            return
        run = node.run
        was_loaded, run.is_loaded = run.is_loaded, True
        if not run.record.status.is_active:
            self._lengths = None
        first: int | None = None
        for event in events:
            if event["seq"] > run.fold.last_seq:
                changed = run.fold.add(event)
                run.events.append(event)
                first = changed if first is None else min(first, changed)
        if first is not None:
            self._sync_run(node, first)
        if first is not None or not was_loaded:
            self._changed(node)
            self.grew.emit(run_id)

    def refresh_running(self) -> None:
        """Time went on: what runs is longer now."""
        for node in self._runs:
            if node.run.is_running:
                self._changed(node)

    # How it is kept

    def _reset(self, records: Sequence[RunRecord]) -> None:
        self.beginResetModel()
        self._lengths = None
        before = {node.run.record.id: node.run for node in self._runs}
        self._nodes.clear()
        self._runs = []
        for number, record in reversed(list(enumerate(records, start=1))):
            run = before.get(record.id) or Run(record, number)
            run.record, run.number = record, number
            node = self._make(run, None, len(self._runs))
            node.children = list(self._made(node, entries_from=0))
            self._runs.append(node)
        self.endResetModel()

    def _insert_runs(self, records: Sequence[RunRecord], known: int) -> None:
        self.beginInsertRows(QModelIndex(), 0, len(records) - 1)
        for number, record in enumerate(records, start=known + 1):
            self._runs.insert(0, self._make(Run(record, number), None, 0))
        for position, node in enumerate(self._runs):
            node.position = position
        self.endInsertRows()

    def _update_record(self, node: Node, record: RunRecord) -> None:
        before, node.run.record = node.run.record, record
        if before != record:
            self._sync_run(node, 0)  # what was running may be cut off now
            self._changed(node)
            if node.children:  # how a step stands that has no end is the run's to say
                self._changed(node.children[0], node.children[-1])
            self.grew.emit(record.id)

    def _make(self, run: Run, parent: Node | None, position: int, entry: Entry | None = None) -> Node:
        node = Node(next(self._ids), run, parent, position, entry)
        self._nodes[node.id] = node
        return node

    def _made(self, node: Node, *, entries_from: int) -> Iterator[Node]:
        return self._made_of(node, list(blocks.entries_of(node.run, entries_from, self.shown)), 0)

    def _made_of(self, node: Node, entries: Sequence[Entry], start: int) -> Iterator[Node]:
        """New items for entries, each with what is below it."""
        for position, entry in enumerate(entries, start=start):
            child = self._make(node.run, node, position, entry)
            below = list(blocks.entries_below(node.run, entry, self.shown))
            child.children = list(self._made_of(child, below, 0))
            yield child

    def _sync_run(self, node: Node, first_group: int) -> None:
        if first_group < len(node.run.fold.steps):
            first_group = blocks.first_group(node.run, first_group)
        start = len(node.children)
        while start > 0 and _group(node.children[start - 1]) >= first_group:
            start -= 1
        self._sync(node, start, list(blocks.entries_of(node.run, first_group, self.shown)))

    def _sync(self, node: Node, start: int, entries: Sequence[Entry]) -> None:
        """Bring the items from `start` on up to date: change, cut, append."""
        same = 0
        for child, entry in zip(node.children[start:], entries, strict=False):
            if child.entry is None or child.entry.key != entry.key:
                break
            if child.entry != entry:
                child.entry = entry
                self._changed(child)
            if entry.step is not None or child.children or _has_more(entry):
                self._sync(child, 0, list(blocks.entries_below(node.run, entry, self.shown)))
            same += 1
        self._cut(node, start + same)
        fresh = entries[same:]
        if fresh:
            place = len(node.children)
            if place:
                self._changed(node.children[-1])  # it is no longer the last one
            self.beginInsertRows(self._index_of(node), place, place + len(fresh) - 1)
            node.children.extend(self._made_of(node, fresh, place))
            self.endInsertRows()

    def _cut(self, node: Node, length: int) -> None:
        if length >= len(node.children):
            return
        self.beginRemoveRows(self._index_of(node), length, len(node.children) - 1)
        for child in node.children[length:]:
            self._forget(child)
        del node.children[length:]
        self.endRemoveRows()

    def _forget(self, node: Node) -> None:
        self._nodes.pop(node.id, None)
        for child in node.children:
            self._forget(child)

    def _changed(self, node: Node, last: Node | None = None) -> None:
        """An item says something else, or all from it to the `last` of its siblings."""
        self.dataChanged.emit(self._index_of(node), self._index_of(last or node).siblingAtColumn(TIME))

    def _children(self, parent: Index) -> list[Node]:
        node = self.node(parent)
        if node is not None:
            return node.children
        return [] if parent.isValid() else self._runs

    def _index_of(self, node: Node) -> QModelIndex:
        return self.createIndex(node.position, NAME, node.id)

    def _run_node(self, run_id: str) -> Node | None:
        return next((node for node in self._runs if node.run.record.id == run_id), None)


def _has_more(entry: Entry) -> bool:
    return entry.shown_row is not None and bool(entry.shown_row.row.below)


def _group(node: Node) -> int:
    return node.entry.group if node.entry is not None else -1
