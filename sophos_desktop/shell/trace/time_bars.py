"""Paints the trace's rows: name, time bar on the run's scale, time; and the axis above them.

Invariant: a bar's colour says what it was, its shape how it ended; the words beside it say the same.
"""

import math

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import code_font, text_font
from sophos_desktop.shell.theme.tokens import (
    AXIS_HEIGHT,
    SMALL_SIZE,
    TINY_SIZE,
    TRACE_ROW_HEIGHT,
    Tokens,
)
from sophos_desktop.shell.trace.nodes import Bar
from sophos_desktop.shell.trace.trace_model import BAR, NAME, TIME, Role
from sophos_desktop.shell.widgets.shapes import Shape, paint_shape

_PAD = 6
_HEIGHTS = (2, 4, 8)
_STATE_SHAPES = {
    "running": (Shape.RUNNING, "accent"),
    "waiting": (Shape.WAITING, "warning"),
    "failed": (Shape.FAILED, "danger"),
    "interrupted": (Shape.INTERRUPTED, "plum"),
}
_COLOURS = {
    "load": "bar_load",
    "prompt": "bar_prompt",
    "think": "bar_model",
    "answer": "bar_model",
    "agent": "bar_model",
    "tool": "bar_tool",
    "tools": "bar_tool",
}


def ticks(total_ms: float) -> list[float]:
    """One to three round marks after zero, in milliseconds."""
    smallest = total_ms * 0.3
    power = 10.0 ** math.floor(math.log10(max(smallest, 1e-3)))
    step = next(power * factor for factor in (1, 2, 3, 5, 10) if power * factor >= smallest)
    return [step * count for count in range(1, 4) if step * count < total_ms * 0.96]


def tick_words(milliseconds: float, total_ms: float) -> str:
    """A mark's figure, without its unit."""
    return f"{milliseconds / 1000:g}" if total_ms >= 1000 else f"{milliseconds:g}"


def bar_rect(bar: Bar, cell: QRectF) -> QRectF:
    """Where a bar lies in its cell; at least three pixels wide."""
    room = max(1.0, cell.width() - 2 * _PAD)
    width = min(room, max(3.0, bar.length_ms / bar.total_ms * room))
    left = cell.left() + _PAD + min(room - width, max(0.0, bar.start_ms / bar.total_ms * room))
    height = _HEIGHTS[bar.level]
    return QRectF(left, cell.center().y() - height / 2, width, height)


class TraceDelegate(QStyledItemDelegate):
    """Lives as long as its tree."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Paints in the colours of `theme`."""
        super().__init__(parent)
        self._theme = theme
        self._hatches: dict[str, QPixmap] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are alike."""
        return QSize(40, max(TRACE_ROW_HEIGHT, option.fontMetrics.height() + 12))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """One cell."""
        painter.save()
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
            tokens = self._theme.tokens
            painter.fillRect(option.rect, QColor(tokens.selected if is_selected else tokens.hover))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.column() == NAME:
            self._paint_name(painter, option, index)
        elif index.column() == BAR:
            self._paint_bar(painter, QRectF(option.rect), index)
        else:
            painter.setFont(text_font(SMALL_SIZE, _weight(index)))
            painter.setPen(QColor(self._theme.tokens.text_2))
            cell = option.rect.adjusted(0, 0, -12, 0)
            painter.drawText(cell, _RIGHT, str(index.data()))
        painter.restore()

    def _paint_name(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens = self._theme.tokens
        is_tool = index.data(Role.KIND) == "tool"
        font = code_font(SMALL_SIZE) if is_tool else text_font(SMALL_SIZE, _weight(index))
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        cell = option.rect.adjusted(2, 0, -4, 0)
        known = _STATE_SHAPES.get(str(index.data(Role.STATE)))
        if known is not None:
            shape, colour = known
            box = QRectF(cell.right() - 12, cell.center().y() - 5.5, 12, 12)
            paint_shape(painter, shape, box, QColor(getattr(tokens, colour)))
            cell = cell.adjusted(0, 0, -16, 0)
        metrics = QFontMetrics(font)
        name = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, cell.width())
        painter.drawText(cell, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)

    def _paint_bar(self, painter: QPainter, cell: QRectF, index: QModelIndex | QPersistentModelIndex) -> None:
        tokens = self._theme.tokens
        total = float(index.data(Role.TOTAL) or 1.0)
        painter.setPen(QPen(QColor(tokens.border), 1))
        room = cell.width() - 2 * _PAD
        for mark in (0.0, *ticks(total)):
            x = round(cell.left() + _PAD + mark / total * room) + 0.5
            painter.drawLine(QPointF(x, cell.top()), QPointF(x, cell.bottom()))
        bar = index.data(Role.BAR)
        if not isinstance(bar, Bar):
            return
        rect = bar_rect(bar, cell)
        colour = QColor(getattr(tokens, _colour_name(bar)))
        if bar.state == "waiting" and bar.level:
            painter.setPen(QPen(colour, 1))
            painter.setBrush(QBrush(self._hatch(colour)))
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
        painter.drawRoundedRect(rect, min(2.0, rect.height() / 2), min(2.0, rect.height() / 2))
        if bar.state == "interrupted" and bar.level:
            painter.setPen(QPen(colour, 2, Qt.PenStyle.DotLine))
            painter.drawLine(rect.topRight() + QPointF(3, -2), rect.bottomRight() + QPointF(3, 2))

    def _hatch(self, colour: QColor) -> QPixmap:
        """Lines at 45°, one every four pixels."""
        if colour.name() not in self._hatches:
            made = QPixmap(4, 4)
            made.fill(Qt.GlobalColor.transparent)
            painter = QPainter(made)
            painter.setPen(QPen(colour, 1))
            painter.drawLine(0, 3, 3, 0)
            painter.end()
            self._hatches[colour.name()] = made
        return self._hatches[colour.name()]


_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def _weight(index: QModelIndex | QPersistentModelIndex) -> QFont.Weight:
    return QFont.Weight.Medium if index.data(Role.LEVEL) == 0 else QFont.Weight.Normal


def _colour_name(bar: Bar) -> str:
    if bar.level == 0:
        return "border_control"
    if bar.state == "failed":
        return "bar_failed"
    if bar.state == "interrupted":
        return "bar_broken"
    return _COLOURS.get(bar.kind, "bar_load")


class AxisHeader(QHeaderView):
    """The tree's header: its bar column shows the scale of one run."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Without a scale before `set_total`."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._total_ms: float | None = None
        self.setSectionsClickable(False)
        self.setFixedHeight(AXIS_HEIGHT)

    def set_total(self, total_ms: float | None) -> None:
        """The length of the run whose scale is shown, in milliseconds; None for none."""
        if total_ms != self._total_ms:
            self._total_ms = total_ms
            self.viewport().update()

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """A name, or the scale."""
        tokens = self._theme.tokens
        painter.save()
        painter.fillRect(rect, QColor(tokens.window))
        painter.setPen(QColor(tokens.border))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setFont(text_font(TINY_SIZE))
        painter.setPen(QColor(tokens.text_3))
        if logicalIndex == BAR:
            self._paint_axis(painter, rect, tokens)
        elif logicalIndex == TIME:
            painter.drawText(rect.adjusted(0, 0, -12, 0), _RIGHT, "Time")
        else:
            cell = rect.adjusted(16, 0, 0, 0)
            painter.drawText(cell, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, "Step")
        painter.restore()

    def _paint_axis(self, painter: QPainter, rect: QRect, tokens: Tokens) -> None:
        total = self._total_ms
        if total is None:
            return
        room = rect.width() - 2 * _PAD
        unit = "s" if total >= 1000 else "ms"
        metrics = painter.fontMetrics()
        free_from = rect.left() - 100.0
        for mark in (0.0, *ticks(total)):
            said = f"0 {unit}" if mark == 0 else tick_words(mark, total)
            width = metrics.horizontalAdvance(said)
            left = rect.left() + _PAD + mark / total * room - (0 if mark == 0 else width / 2)
            if left < free_from or left + width > rect.right():
                continue
            painter.drawText(QRectF(left, rect.top(), width + 2, rect.height()), _LEFT, said)
            free_from = left + width + 6


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
