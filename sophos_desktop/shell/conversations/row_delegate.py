"""Paints one row of the conversation list: title, then time or the state's shape and word.

Invariant: the state is told by shape and word; colour comes third.
"""

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sophos_desktop.shell.conversations.list_model import Role, RowState
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import text_font
from sophos_desktop.shell.theme.tokens import INTERFACE_SIZE, ROW_HEIGHT, SMALL_SIZE
from sophos_desktop.shell.widgets.shapes import Shape, paint_shape

_INSET = 8
_PADDING = 12
_SHAPE_SIZE = 13
_LOOKS = {
    RowState.RUNNING: (Shape.RUNNING, "accent"),
    RowState.WAITING: (Shape.WAITING, "warning"),
    RowState.FAILED: (Shape.FAILED, "danger"),
    RowState.INTERRUPTED: (Shape.INTERRUPTED, "plum"),
}


class RowDelegate(QStyledItemDelegate):
    """Lives as long as its list."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Paints in the colours of `theme`."""
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are alike."""
        return QSize(120, max(ROW_HEIGHT, option.fontMetrics.height() + 12))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Ground, title, right-hand part."""
        tokens = self._theme.tokens
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        row = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option, row, is_selected=is_selected)
        inside = row.adjusted(_PADDING, 0, -_PADDING, 0)
        state = RowState(index.data(Role.STATE))
        used = self._paint_right(painter, inside, state, str(index.data(Role.TIME)))
        weight = QFont.Weight.Medium if is_selected else QFont.Weight.Normal
        font = text_font(INTERFACE_SIZE, weight)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        room = inside.adjusted(0, 0, -used - 8, 0)
        title = " ".join(str(index.data()).split())
        elided = QFontMetrics(font).elidedText(title, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
        painter.restore()

    def _paint_ground(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, *, is_selected: bool
    ) -> None:
        tokens = self._theme.tokens
        painter.setPen(Qt.PenStyle.NoPen)
        if is_selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(QColor(tokens.selected if is_selected else tokens.hover))
            painter.drawRoundedRect(row, 6, 6)
        if is_selected:
            painter.setBrush(QColor(tokens.accent))
            bar = QRectF(row.left(), row.center().y() - 7.5, 3, 16)
            painter.drawRoundedRect(bar, 1.5, 1.5)
        if option.state & QStyle.StateFlag.State_HasFocus and self._view_has_focus(option):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QColor(tokens.accent))
            painter.drawRoundedRect(QRectF(row).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    @staticmethod
    def _view_has_focus(option: QStyleOptionViewItem) -> bool:
        view = option.widget
        return isinstance(view, QWidget) and view.hasFocus()

    def _paint_right(self, painter: QPainter, inside: QRect, state: RowState, time: str) -> int:
        """Paint the time or the state; returns its width."""
        tokens = self._theme.tokens
        font = text_font(SMALL_SIZE)
        painter.setFont(font)
        shape, colour_name = _LOOKS.get(state, (None, "text_3"))
        words = state.value if shape is not None else time
        colour = QColor(getattr(tokens, colour_name))
        painter.setPen(colour)
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        width = QFontMetrics(font).horizontalAdvance(words)
        if shape is None:
            return width
        left = inside.right() - width - _SHAPE_SIZE - 4
        box = QRectF(left, inside.center().y() - _SHAPE_SIZE / 2 + 0.5, _SHAPE_SIZE, _SHAPE_SIZE)
        paint_shape(painter, shape, box, colour)
        return width + _SHAPE_SIZE + 4
