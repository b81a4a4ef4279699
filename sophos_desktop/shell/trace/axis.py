"""The axis above the trace's rows: round marks on the one scale of all bars.

Invariant: a mark stands where the rows draw its line, and no line is drawn that has no figure; below the
axis is the room above the first row.
"""

import math
from collections.abc import Iterator

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QHeaderView, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_size
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.trace.trace_model import BAR, TIME

LEFT_PAD, RIGHT_PAD = 8, 1
"""Beside the bars, in their column."""
SIDE = 16
"""Between the dock's edge and what stands in its columns."""
ROOM_ABOVE_ROWS = 4
_APART = 6  # from figure to figure at least
_UNITS = (
    (100.0, 1.0, "ms"),  # from a tenth of a second on times are told in seconds
    (120_000.0, 1000.0, "s"),
    (7_200_000.0, 60_000.0, "min"),
    (math.inf, 3_600_000.0, "h"),
)
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def unit_of(total_ms: float) -> tuple[float, str]:
    """The unit of a scale, in milliseconds, and its sign."""
    return next((unit, sign) for longest, unit, sign in _UNITS if total_ms < longest)


def ticks(total_ms: float) -> list[float]:
    """One to three round marks after zero, in milliseconds."""
    return next(iter(_choices(total_ms)))


def _choices(total_ms: float) -> Iterator[list[float]]:
    """Round marks, then fewer of them where there is room for fewer figures."""
    unit, _ = unit_of(total_ms)
    total = total_ms / unit
    smallest = total * 0.3
    power = 10.0 ** math.floor(math.log10(max(smallest, 1e-3)))
    steps = (power * factor for factor in (1, 2, 3, 5, 10, 20, 30) if power * factor >= smallest)
    for step in steps:
        marks = [step * count * unit for count in range(1, 4) if step * count < total * 0.96]
        yield from (marks[:count] for count in range(len(marks), 0, -1))
    alone = (power * factor for factor in (1.5, 4, 6, 7, 8, 15))  # less round, and better than none
    yield from ([mark * unit] for mark in alone if smallest <= mark < total * 0.96)


def tick_words(milliseconds: float, total_ms: float) -> str:
    """A mark's figure, without its unit."""
    return f"{milliseconds / unit_of(total_ms)[0]:g}"


def x_of(milliseconds: float, total_ms: float, left: float, width: float) -> float:
    """Where a moment lies in a column that begins at `left`."""
    room = max(1.0, width - LEFT_PAD - RIGHT_PAD)
    return left + LEFT_PAD + min(1.0, max(0.0, milliseconds / total_ms)) * room


class AxisHeader(QHeaderView):
    """The tree's header: its bar column shows the scale."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Without a scale before `set_total`."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._total_ms: float | None = None
        self._marked: tuple[tuple[float, int, int], list[float]] | None = None
        self.setSectionsClickable(False)

    @property
    def line_at(self) -> int:
        """Where the line below the words is; one more is above them, on the tree's frame."""
        return self._theme.tokens.measures.axis - 2

    def sizeHint(self) -> QSize:
        """What the tree leaves free above its rows: the axis and the room below it."""
        return QSize(super().sizeHint().width(), self.line_at + 1 + ROOM_ABOVE_ROWS)

    @property
    def total_ms(self) -> float | None:
        """The length of its scale."""
        return self._total_ms

    def set_total(self, total_ms: float | None) -> None:
        """How long the scale is, in milliseconds; None for none."""
        if total_ms != self._total_ms:
            self._total_ms = total_ms
            self.viewport().update()

    def marks(self, width: int) -> list[float]:
        """The marks whose figures have room in a column of `width` pixels, in milliseconds, zero first."""
        total = self._total_ms
        if total is None:
            return []
        metrics = QFontMetrics(_font())
        if self._marked is None or self._marked[0] != (total, width, metrics.height()):
            chosen = next((some for some in _choices(total) if _have_room(some, total, width, metrics)), [])
            self._marked = (total, width, metrics.height()), [0.0, *chosen]
        return self._marked[1]

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """A name, or the scale."""
        tokens = self._theme.tokens
        line_y = rect.top() + self.line_at
        painter.save()
        painter.fillRect(rect, QColor(tokens.window))
        painter.fillRect(QRect(rect.left(), line_y, rect.width(), 1), QColor(tokens.border))
        painter.setFont(_font())
        painter.setPen(QColor(tokens.text_3))
        words = QRect(rect.left(), rect.top(), rect.width(), self.line_at)
        if logicalIndex == BAR:
            self._paint_axis(painter, words)
        elif logicalIndex == TIME:
            painter.drawText(words.adjusted(0, 0, -SIDE, 0), _RIGHT, "Time")
        else:
            painter.drawText(words.adjusted(SIDE, 0, 0, 0), _LEFT, "Step")
        painter.restore()

    def _paint_axis(self, painter: QPainter, words: QRect) -> None:
        total = self._total_ms
        if total is None:
            return
        for mark in self.marks(words.width()):
            left = x_of(mark, total, words.left(), words.width())
            painter.drawText(QRectF(left, words.top(), 100, words.height()), _LEFT, _figure(mark, total))


def _font() -> QFont:
    font = role_font(TYPE.figure_label)
    font.setPixelSize(role_size(TYPE.figure_label))
    return font


def _figure(mark: float, total_ms: float) -> str:
    return f"0 {unit_of(total_ms)[1]}" if mark == 0 else tick_words(mark, total_ms)


def _have_room(marks: list[float], total_ms: float, width: int, metrics: QFontMetrics) -> bool:
    """True if no figure is cut, and none touches the next."""
    free_from = 0.0
    for mark in (0.0, *marks):
        left = x_of(mark, total_ms, 0, width)
        if left < free_from:
            return False
        free_from = left + metrics.horizontalAdvance(_figure(mark, total_ms)) + _APART
    return free_from - _APART <= width
