"""Paints one row of the conversation list: title, then time or the state's mark and word.

Invariant: the state is told by mark and word; colour comes third.
"""

from unicodedata import bidirectional

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sophos_desktop.shell.conversations.list_model import Role, RowState
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE

_RIGHT_PADDING = 8
_GAP = 8
_MARK = 14
_MARK_GAP = 4
_RIGHT_TO_LEFT_MARK = "\u200f"
_TITLE_NEEDS = 96  # below it the state keeps its mark and gives up its word
_LOOKS = {
    RowState.RUNNING: (Mark.RUNNING, "accent"),
    RowState.WAITING: (Mark.WAITING, "warning"),
    RowState.FAILED: (Mark.FAILED, "danger"),
    RowState.INTERRUPTED: (Mark.INTERRUPTED, "plum"),
}
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class RowDelegate(QStyledItemDelegate):
    """Lives as long as its list."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Paints in the colours of `theme`."""
        super().__init__(parent)
        self._theme = theme
        self.turned_degrees = 0.0  # how far the marks of running rows are turned
        self._take_fonts()
        theme.sizes_changed.connect(self._take_fonts)

    def _take_fonts(self) -> None:
        self._title_font = role_font(TYPE.interface)
        self._chosen_font = role_font(TYPE.name)
        self._time_font = role_font(TYPE.small)
        self._word_font = role_font(TYPE.badge)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are alike."""
        return QSize(120, self._theme.tokens.measures.row)

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """Says what it is for."""
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName("Title of the conversation")
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """A field of 28 in the row's ground."""
        row = option.rect.adjusted(MEASURES.row_inset, 0, -MEASURES.row_inset, 0)
        spare = max(0, row.height() - self._theme.tokens.measures.field_in_row) // 2
        editor.setGeometry(row.adjusted(0, spare, 0, -spare))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Ground, title, right-hand part."""
        tokens = self._theme.tokens
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        row = option.rect.adjusted(MEASURES.row_inset, 0, -MEASURES.row_inset, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option, row, is_selected=is_selected)
        inside = row.adjusted(MEASURES.row_padding, 0, -_RIGHT_PADDING, 0)
        state = RowState(index.data(Role.STATE))
        used = self._paint_right(painter, inside, state, str(index.data(Role.TIME)))
        font = self._chosen_font if is_selected else self._title_font
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        room = inside.adjusted(0, 0, -used - _GAP, 0)
        title = " ".join(str(index.data()).split())
        painter.drawText(room, _LEFT, elided_title(title, QFontMetrics(font), room.width()))
        painter.restore()

    def _paint_ground(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, *, is_selected: bool
    ) -> None:
        tokens = self._theme.tokens
        radius = MEASURES.button_radius
        painter.setPen(Qt.PenStyle.NoPen)
        if is_selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(QColor(tokens.selected if is_selected else tokens.hover))
            painter.drawRoundedRect(row, radius, radius)
        if is_selected:
            painter.setBrush(QColor(tokens.accent))
            top = row.top() + (row.height() - MEASURES.accent_bar) / 2
            bar = QRectF(row.left(), top, MEASURES.accent_bar_width, MEASURES.accent_bar)
            painter.drawRoundedRect(bar, 1.5, 1.5)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.accent), MEASURES.focus_ring_width))
            painter.drawRoundedRect(QRectF(row).adjusted(1, 1, -1, -1), radius - 1, radius - 1)

    def _paint_right(self, painter: QPainter, inside: QRect, state: RowState, time: str) -> int:
        """Paint the time or the state; returns its width."""
        tokens = self._theme.tokens
        mark, colour_name = _LOOKS.get(state, (None, "text_3"))
        colour = QColor(getattr(tokens, colour_name))
        font = self._time_font if mark is None else self._word_font
        words = state.value if mark is not None else time
        width, side = QFontMetrics(font).horizontalAdvance(words), mark_size(_MARK)
        if mark is not None and inside.width() - width - side - _MARK_GAP - _GAP < _TITLE_NEEDS:
            words, width = "", -_MARK_GAP
        painter.setFont(font)
        painter.setPen(colour)
        painter.drawText(inside, _RIGHT, words)
        if mark is None:
            return width
        left = inside.left() + inside.width() - width - side - _MARK_GAP
        top = inside.top() + (inside.height() - side) / 2
        turned = self.turned_degrees if state is RowState.RUNNING else 0.0
        paint_mark(painter, mark, QRectF(left, top, side, side), colour, turned)
        return width + side + _MARK_GAP


def elided_title(title: str, metrics: QFontMetrics, room: int) -> str:
    """As much as fits in `room` pixels; the dots stand where the reading ends, which may be at the left."""
    shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, room)
    if shown == title:
        return shown
    kinds = (bidirectional(letter) for letter in reversed(shown))
    last = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return shown if last == "L" else shown + _RIGHT_TO_LEFT_MARK
