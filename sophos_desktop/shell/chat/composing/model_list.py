"""The rows of the model picker's list for Qt, and how one looks: name and figures, marks at the right.

Invariant: a row is painted from its `ModelRow` alone; the chosen one has a tick, not only a colour.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from sophos_desktop.shell.chat.composing.model_rows import ModelRow, RowKind
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_line
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE

_PADDING = 8
_TICK = 14
_MARK = 14
_GAP = 8
_AROUND = 4  # above and below the two lines
_LOADED = "Loaded"
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
_ANY_INDEX = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class Role(IntEnum):
    """What a row holds beside its words."""

    ROW = Qt.ItemDataRole.UserRole + 1


class ModelList(QAbstractListModel):
    """Lives as long as its popup."""

    def __init__(self, parent: QObject) -> None:
        """Empty."""
        super().__init__(parent)
        self._rows: tuple[ModelRow, ...] = ()

    def show_rows(self, rows: Sequence[ModelRow]) -> None:
        """These from now on."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    @property
    def rows(self) -> tuple[ModelRow, ...]:
        """What is shown, from the top."""
        return self._rows

    def rowCount(self, parent: _ANY_INDEX = _NOWHERE) -> int:
        """How many rows."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _ANY_INDEX, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Words, and the row itself."""
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.words
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.words if row.kind is RowKind.PROBLEM else row.abilities.capitalize()
        return row if role == Role.ROW else None


class ModelRowDelegate(QStyledItemDelegate):
    """Lives as long as its list."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Paints in the colours of `theme`."""
        super().__init__(parent)
        self._theme = theme
        self._take_fonts()
        theme.sizes_changed.connect(self._take_fonts)

    def _take_fonts(self) -> None:
        self._title_font, self._detail_font = role_font(TYPE.name), role_font(TYPE.small)
        self._plain_font, self._badge_font = role_font(TYPE.interface), role_font(TYPE.badge)

    def sizeHint(self, option: QStyleOptionViewItem, index: _ANY_INDEX) -> QSize:
        """Two lines, or one where there is no more to say."""
        row: ModelRow = index.data(Role.ROW)
        lines = role_line(TYPE.name) + (role_line(TYPE.small) if row.detail else 0)
        return QSize(200, lines + 2 * _AROUND)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _ANY_INDEX) -> None:
        """Ground, tick or warning, two lines, marks."""
        row: ModelRow = index.data(Role.ROW)
        tokens, is_said = self._theme.tokens, not row.can_be_chosen
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_current or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selected if is_current else tokens.hover))
            painter.drawRoundedRect(option.rect, MEASURES.menu_item_radius, MEASURES.menu_item_radius)
        inside = option.rect.adjusted(_PADDING, _AROUND, -_PADDING, -_AROUND)
        self._paint_mark_before(painter, row, inside)
        inside.setLeft(inside.left() + mark_size(_TICK) + _GAP)
        first = QRect(inside.left(), inside.top(), inside.width(), role_line(TYPE.name))
        second = inside.adjusted(0, first.height(), 0, 0)
        used = self._paint_right(painter, row, first)
        title_font = self._plain_font if is_said else self._title_font
        title_colour = tokens.text_2 if row.kind is RowKind.LOOKING else tokens.text
        self._write(painter, title_font, title_colour, first.adjusted(0, 0, -used, 0), row.title)
        if row.detail:
            self._write(painter, self._detail_font, tokens.text_2, second, row.detail)
        painter.restore()

    def _paint_mark_before(self, painter: QPainter, row: ModelRow, inside: QRect) -> None:
        tokens = self._theme.tokens
        line, side = role_line(TYPE.name), mark_size(_TICK)
        box = QRectF(inside.left(), inside.top() + (line - side) / 2, side, side)
        if row.kind in (RowKind.PROBLEM, RowKind.GONE):
            paint_mark(painter, Mark.WARNING, box, QColor(tokens.warning))
        elif row.is_chosen:
            paint_mark(painter, Mark.DONE, box, QColor(tokens.accent))

    def _paint_right(self, painter: QPainter, row: ModelRow, line: QRect) -> int:
        """What the model can do, and whether it is loaded; returns the width with the gap before it."""
        tokens, right, side = self._theme.tokens, line.right() + 1, mark_size(_MARK)
        for mark in reversed(row.marks):
            box = QRectF(right - side, line.top() + (line.height() - side) / 2, side, side)
            paint_mark(painter, mark, box, QColor(tokens.text_2))
            right -= side + _GAP
        if row.is_loaded:
            painter.setFont(self._badge_font)
            painter.setPen(QColor(tokens.text_2))
            painter.drawText(
                QRect(line.left(), line.top(), right - line.left(), line.height()), _RIGHT, _LOADED
            )
            right -= QFontMetrics(self._badge_font).horizontalAdvance(_LOADED) + _GAP
        return line.right() + 1 - right

    def _write(self, painter: QPainter, font: QFont, colour: str, room: QRect, text: str) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _LEFT, shown)
