"""Keeps the columns of tables as wide as the reader sees them while rows come that would change them.

Invariant: while columns are held no table that was shown with some rows has others; once they are let go,
every table is as wide as a fresh rendering makes it.
"""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtGui import QTextDocument, QTextLength, QTextTable

from sophos_desktop.shell.transcript.drawing.built import BuiltSegment
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind

_FIRST_ROWS = 3  # the head and two more: with fewer, the widths would say nothing of what comes

Key = tuple[int, int]  # the message's key in the model, the segment
_Widths = tuple[float, ...]


class HeldColumns:
    """Lives as long as its documents, which tell it what they build."""

    def __init__(self) -> None:
        """Holds nothing."""
        self._is_holding = False
        self._held: dict[Key, list[_Widths]] = {}  # a segment's tables in their order; () is not held

    @property
    def is_any_held(self) -> bool:
        """A table may look otherwise than a fresh one."""
        return any(any(tables) for tables in self._held.values())

    def hold(self, *, is_held: bool) -> frozenset[int]:
        """From now on or no longer; gives the keys of messages whose tables are to be built again."""
        self._is_holding = is_held
        if is_held:
            return frozenset()
        messages = frozenset(key for (key, _), tables in self._held.items() if any(tables))
        self._held.clear()
        return messages

    def forget(self, message_key: int) -> None:
        """A message is gone or something else now."""
        for key in [key for key in self._held if key[0] == message_key]:
            del self._held[key]

    def clear(self) -> None:
        """Forget all: the widths of another style or column say nothing."""
        self._held.clear()

    def note(self, key: Key, shown: QTextDocument) -> None:
        """This is what is shown of a segment that is about to be built again."""
        if not self._is_holding:
            return
        known = self._held.get(key, [])
        seen = [_widths(table) if table.rows() >= _FIRST_ROWS else () for table in _tables(shown)]
        if seen or known:
            behind = known[len(seen) :]
            self._held[key] = [*(old or new for old, new in zip(known, seen, strict=False))]
            self._held[key] += seen[len(known) :] + behind

    def apply(
        self, key: Key, segments: Sequence[Segment], document: QTextDocument, built: BuiltSegment, column: int
    ) -> BuiltSegment:
        """Give the tables of a segment that was just built the widths that are held."""
        held = self._held.get(_first_piece(key, segments), ()) if built.has_table and self._held else ()
        widest = 0.0
        for table, widths in zip(_tables(document), held, strict=False):
            made = table.format()
            if len(widths) == table.columns() and widths != _widths(table):
                fixed = QTextLength.Type.FixedLength
                made.setWidth(QTextLength(fixed, sum(widths)))
                made.setColumnWidthConstraints([QTextLength(fixed, width) for width in widths])
                table.setFormat(made)
                widest = max(widest, made.leftMargin() + sum(widths))
        if not widest:
            return built
        is_table = segments[key[1]].kind is SegmentKind.TABLE
        natural = max(column, round(widest)) if is_table else max(built.natural_width, round(widest))
        return replace(built, natural_width=natural)


def _tables(document: QTextDocument) -> list[QTextTable]:
    return [frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable)]


def _widths(table: QTextTable) -> _Widths:
    return tuple(length.rawValue() for length in table.format().columnWidthConstraints())


def _first_piece(key: Key, segments: Sequence[Segment]) -> Key:
    message_key, index = key
    while segments[index].kind is SegmentKind.TABLE and segments[index].continues and index > 0:
        index -= 1
    return message_key, index
