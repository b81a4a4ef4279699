"""Paints the trace's rows: name, time bar on the scale of the axis, time.

Invariant: a bar's colour says what it was, its shape how it ended; the words beside it say the same.
"""

from dataclasses import replace

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import code_font, role_font, text_font
from sophos_desktop.shell.theme.tokens import SMALL_SIZE, TINY_SIZE
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.trace.axis import LEFT_PAD, RIGHT_PAD, SIDE, AxisHeader, x_of
from sophos_desktop.shell.trace.bars import Bar
from sophos_desktop.shell.trace.trace_model import BAR, NAME, Role
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code
from sophos_desktop.shell.widgets.shapes import Shape, paint_shape

NAME_SHIFT = 12
"""How far the names stand right of where a tree puts them: in between is the room of the chevrons."""
_HEIGHTS = (2, 4, 8)
_NARROWEST = 3.0
_ICON = 12
_HATCH = 6  # from line to line along the bar
_HATCH_PEN = 1.4
_CUT_OFF = 5.0  # how wide the bar of what was cut off is at least
_STATE_SHAPES = {
    "running": (Shape.RUNNING, "accent"),
    "waiting": (Shape.WAITING, "warning"),
    "uncertain": (Shape.UNCERTAIN, "warning"),
    "failed": (Shape.FAILED, "danger"),
    "denied": (Shape.DENIED, "text_2"),
    "skipped": (Shape.SKIPPED, "text_2"),
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
_BROKEN = ("interrupted", "uncertain")
_BESIDE_NAME = 6
_NARROWEST_ARGUMENT = 44  # pixels: of less than six letters nothing can be told
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def bar_rect(bar: Bar, cell: QRectF) -> QRectF:
    """Where a bar lies in its cell; at least three pixels wide."""
    return _rect_of(bar.start_ms, bar.length_ms or 0.0, bar.total_ms, _HEIGHTS[bar.level], cell)


def waiting_rect(bar: Bar, cell: QRectF) -> QRectF:
    """Where the time lies in which somebody was waited for: as high as the bar of a row."""
    return _rect_of(bar.waited_from_ms, bar.waited_ms or 0.0, bar.total_ms, _HEIGHTS[-1], cell)


def _rect_of(start_ms: float, length_ms: float, total_ms: float, height: int, cell: QRectF) -> QRectF:
    room = max(1.0, cell.width() - LEFT_PAD - RIGHT_PAD)
    width = min(room, max(_NARROWEST, length_ms / total_ms * room))
    left = min(x_of(start_ms, total_ms, cell.left(), cell.width()), cell.left() + LEFT_PAD + room - width)
    return QRectF(left, cell.center().y() - height / 2, width, height)


class TraceDelegate(QStyledItemDelegate):
    """Lives as long as its tree."""

    def __init__(self, theme: Theme, axis: AxisHeader, parent: QObject) -> None:
        """Paints in the colours of `theme`, with the lines of `axis`."""
        super().__init__(parent)
        self._axis = axis
        self._theme = theme
        self._hatches: dict[str, QPixmap] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are alike."""
        return QSize(40, self._theme.tokens.measures.trace_row)

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
            self._paint_bar(painter, option, index)
        else:
            painter.setFont(role_font(TYPE.small))
            painter.setPen(QColor(self._theme.tokens.text_2))
            cell = option.rect.adjusted(0, 0, -SIDE, 0)
            painter.drawText(cell, _RIGHT, str(index.data()))
        painter.restore()

    def _paint_name(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens = self._theme.tokens
        is_tool = index.data(Role.KIND) == "tool"
        font = code_font(TINY_SIZE) if is_tool else text_font(SMALL_SIZE, _weight(index))
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        cell = option.rect.adjusted(NAME_SHIFT, 0, 0, 0)
        state = str(index.data(Role.STATE))
        # What waits in an open step says so itself.
        is_told_below = state == "waiting" and index.data(Role.LEVEL) == 1 and _is_open(option)
        known = None if is_told_below else _STATE_SHAPES.get(state)
        if known is not None:
            shape, colour = known
            box = QRectF(cell.right() + 1 - _ICON, cell.center().y() - 5, _ICON, _ICON)
            paint_shape(painter, shape, box, QColor(getattr(tokens, colour)))
            cell = cell.adjusted(0, 0, -_ICON, 0)
        metrics = QFontMetrics(font)
        name = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, cell.width() - 4)
        painter.drawText(cell, _LEFT, name)
        argument = str(index.data(Role.ARGUMENT)) if is_tool else ""
        beside = cell.adjusted(metrics.horizontalAdvance(name) + _BESIDE_NAME, 0, -4, 0)
        if argument and beside.width() >= _NARROWEST_ARGUMENT:
            painter.setPen(QColor(tokens.text_3))
            said = drawable_code(argument)
            painter.drawText(
                beside, _LEFT, metrics.elidedText(said, Qt.TextElideMode.ElideRight, beside.width())
            )

    def _paint_bar(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens, cell = self._theme.tokens, QRectF(option.rect)
        total = self._axis.total_ms or 1.0
        for mark in self._axis.marks(option.rect.width()):
            x = round(x_of(mark, total, cell.left(), cell.width()))
            painter.fillRect(QRectF(x, cell.top(), 1, cell.height()), QColor(tokens.border))
        bar = index.data(Role.BAR)
        if not isinstance(bar, Bar):
            return
        bar = replace(bar, total_ms=total)  # never another than that of the figures above
        if bar.waited_ms is not None:
            self._paint_waiting(painter, waiting_rect(bar, cell))
        if bar.length_ms is not None:
            self._paint_solid(painter, bar, bar_rect(bar, cell))

    def _paint_waiting(self, painter: QPainter, rect: QRectF) -> None:
        """A frame with lines at 45°."""
        colour = QColor(self._theme.tokens.bar_tool)
        painter.setPen(QPen(colour, 1))
        painter.setBrush(QBrush(self._hatch(colour, painter)))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)

    def _paint_solid(self, painter: QPainter, bar: Bar, rect: QRectF) -> None:
        tokens = self._theme.tokens
        if bar.level and bar.state in _BROKEN:
            rect.setWidth(max(rect.width(), _CUT_OFF))
        radius = min(2.0, rect.height() / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(tokens, _colour_name(bar))))
        painter.drawRoundedRect(rect, radius, radius)
        ending = QColor(tokens.bar_broken if bar.state in _BROKEN else tokens.bar_failed)
        if bar.level == 0 and bar.state in (*_BROKEN, "failed"):
            # The line of a run says in its last pixels how it ended.
            width = min(rect.width(), 5.0 if bar.state in _BROKEN else _NARROWEST)
            rect = QRectF(rect.right() - width, rect.center().y() - 4, width, 8)
            painter.setBrush(ending)
            painter.drawRoundedRect(rect, 2, 2)
        if bar.state in _BROKEN:
            middle = round(rect.center().y())
            for top in (middle - 7, middle + 2):
                painter.fillRect(QRectF(round(rect.right()) + 3, top, 2, 5), ending)

    def _hatch(self, colour: QColor, painter: QPainter) -> QPixmap:
        """Lines at 45°, four pixels from each other, at the real size of the device."""
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        key = f"{colour.name()} {ratio:g}"
        if key not in self._hatches:
            side = max(1, round(_HATCH * ratio))
            made = QPixmap(side, side)
            made.setDevicePixelRatio(ratio)
            made.fill(Qt.GlobalColor.transparent)
            lines = QPainter(made)
            lines.setRenderHint(QPainter.RenderHint.Antialiasing)
            lines.setPen(QPen(colour, _HATCH_PEN))
            size = side / ratio
            for shift in (-size, 0.0, size):  # the corners of the tile belong to its neighbours' lines
                lines.drawLine(QPointF(shift - 1, size + 1), QPointF(shift + size + 1, -1))
            lines.end()
            self._hatches[key] = made
        return self._hatches[key]


def _is_open(option: QStyleOptionViewItem) -> bool:
    return bool(option.state & QStyle.StateFlag.State_Open)


def _weight(index: QModelIndex | QPersistentModelIndex) -> QFont.Weight:
    is_newest = index.data(Role.LEVEL) == 0 and index.row() == 0
    return QFont.Weight.Medium if is_newest else QFont.Weight.Normal


def _colour_name(bar: Bar) -> str:
    if bar.level == 0:
        return "border_control"
    if bar.state in ("failed", "denied"):
        return "bar_failed"
    if bar.state in _BROKEN:
        return "bar_broken"
    return _COLOURS.get(bar.kind, "bar_load")
