"""Shows text as rows of code that can be selected, folded and searched.

Invariant: what is selected and copied is the text itself, not its rows. Rows that are not seen cost nothing
but their place.
"""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_line
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.json_text import Fold
from sophos_desktop.shell.transcript.cards.row_painter import Colours, Ground, RowPainter
from sophos_desktop.shell.transcript.cards.text_rows import UNBOUNDED, TextRows
from sophos_desktop.shell.transcript.text.words_at import word_around
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu

_FOLD_MARK: Final = 12
_FOLD_GAP: Final = 2
_LARGEST_COPY: Final = 64 * 1024 * 1024  # characters


def gutter() -> int:
    """The room left of the text for the marks of what can be folded, in pixels."""
    return mark_size(_FOLD_MARK) + _FOLD_GAP


class TextLines(QWidget):
    """Lives in a card or in a window of its own. As high as its rows, unless it is told where to start."""

    fold_clicked = Signal(object)  # Fold
    rows_changed = Signal()
    dragged_beyond = Signal(int)  # -1: above the first row shown, 1: below the last

    def __init__(self, name: str, theme: Theme, parent: QWidget) -> None:
        """Empty. `name` is the object name."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self._theme = theme
        self._painter = RowPainter(role_font(TYPE.code), role_line(TYPE.code))
        self._text = ""
        self._colour = "code_text"
        self._colours: Colours | None = None
        self._folds: dict[int, Fold] = {}
        self._most = UNBOUNDED
        self._rows = TextRows("", 80)
        self._first_row = 0
        self._is_growing = True
        self._anchor = self._caret = 0
        self._matches: Sequence[tuple[int, int]] = ()
        self._current_match = -1
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        if self._painter.line_height != role_line(TYPE.code):
            self._painter = RowPainter(role_font(TYPE.code), role_line(TYPE.code))
            self._break_anew()
        self.update()

    # What is shown.

    @property
    def rows(self) -> TextRows:
        """The rows as far as they are found."""
        return self._rows

    @property
    def text(self) -> str:
        """All of the text, shown or not."""
        return self._text

    @property
    def line_height(self) -> int:
        """Of each row, in pixels."""
        return self._painter.line_height

    @property
    def column_width(self) -> float:
        """Of one character, in pixels."""
        return self._painter.column_width

    def show_text(
        self,
        text: str,
        *,
        colour: str = "code_text",
        colours: Colours | None = None,
        folds: Sequence[Fold] = (),
        most_rows: int = UNBOUNDED,
    ) -> None:
        """Show `text`; `colour` names a token, `most_rows` bounds what is shown of it."""
        self._colour, self._colours, self._most = colour, colours, most_rows
        self._folds = {fold.line: fold for fold in folds}
        if text != self._text:
            self._text = text
            self._anchor = self._caret = 0
            self._matches = ()
        self._break_anew()

    def start_at(self, row: int) -> None:
        """From now on the height is given from outside, and the rows from `row` on are shown."""
        self._is_growing = False
        self._first_row = max(0, row)
        self.update()

    def set_width(self, width: int) -> None:
        """Break the rows for a width that it will have."""
        if self._is_growing:
            self._rows = self._rows_for(width)

    def show_matches(self, matches: Sequence[tuple[int, int]], current: int) -> None:
        """Mark what was found: starts and ends in the text; `current` is an index, or -1."""
        self._matches, self._current_match = matches, current
        self.update()

    def rectangle_of(self, position: int) -> QRect:
        """Where a place of the text is, as far as its row is found."""
        if not self._rows.count:
            return QRect(0, 0, 1, self.line_height)
        row = self._rows.row_at(position)
        x = self._left + self._painter.x_of(self._rows, row, position)
        return QRect(round(x), (row - self._first_row) * self.line_height, 1, self.line_height)

    # Size.

    @property
    def _left(self) -> int:
        return gutter() if self._folds else 0

    def hasHeightForWidth(self) -> bool:
        """Rows are broken at the width."""
        return self._is_growing

    def heightForWidth(self, width: int) -> int:
        """As high as its rows."""
        if not self._is_growing:
            return -1
        return max(1, self._rows_for(width).count) * self.line_height

    def sizeHint(self) -> QSize:
        """As high as the rows at the present width."""
        width = self.width() if self.width() > 100 else 480
        return QSize(480, self.heightForWidth(width) if self._is_growing else 200)

    def minimumSizeHint(self) -> QSize:
        """Narrow enough for a narrow window."""
        return QSize(120, self.line_height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width has other rows."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._break_anew()

    def _rows_for(self, width: int) -> TextRows:
        columns = max(8, self._painter.columns_in(width - self._left))
        if self._rows.text is self._text and self._rows.columns == columns and self._reaches(self._rows):
            return self._rows
        rows = TextRows(self._text, columns)
        rows.find(most=self._most)
        return rows

    def _reaches(self, rows: TextRows) -> bool:
        """Bounded otherwise than now, they are too few or too many."""
        return rows.count == self._most or (rows.is_done and rows.count <= self._most)

    def _break_anew(self) -> None:
        if self._is_growing:
            self._rows = self._rows_for(self.width())
            self.updateGeometry()
        else:
            columns = max(8, self._painter.columns_in(self.width() - self._left))
            if self._rows.text is not self._text or self._rows.columns != columns:
                self._rows = TextRows(self._text, columns)
        self.rows_changed.emit()
        self.update()

    # Painting.

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows in the damaged part."""
        height = self.line_height
        first = self._first_row + max(0, event.rect().top() // height)
        last = min(self._rows.count, self._first_row + event.rect().bottom() // height + 1)
        painter = QPainter(self)
        painter.setFont(self._painter.font)
        tokens = self._theme.tokens
        if first < last:
            self._painter.paint(
                painter,
                self._rows,
                range(first, last),
                QPointF(self._left, (first - self._first_row) * height),
                str(getattr(tokens, self._colour)),
                self._colours,
                self._grounds(),
                lambda name: str(getattr(tokens, name)),
            )
            self._paint_folds(painter, first, last)
        painter.end()

    def _grounds(self) -> list[Ground]:
        tokens = self._theme.tokens
        grounds = [
            Ground(start, end, tokens.match, frame=tokens.warning if number == self._current_match else "")
            for number, (start, end) in enumerate(self._matches)
        ]
        start, end = self.selected_range
        if start < end:
            grounds.append(Ground(start, end, tokens.accent, tokens.on_accent))
        return grounds

    def _paint_folds(self, painter: QPainter, first: int, last: int) -> None:
        side = mark_size(_FOLD_MARK)
        for row in range(first, last):
            fold = self._fold_of(row)
            if fold is None:
                continue
            top = (row - self._first_row) * self.line_height + (self.line_height - side) / 2
            box = QRectF(0, top, side, side)
            mark = Mark.SHUT if fold.is_folded else Mark.OPEN
            paint_mark(painter, mark, box, QColor(self._theme.tokens.text_3))

    def _fold_of(self, row: int) -> Fold | None:
        """What can be folded at a row: the first row of its line carries the mark."""
        if not self._folds or row >= self._rows.count:
            return None
        start, _ = self._rows.row(row)
        if self._rows.line_start(row) != start:
            return None
        return self._folds.get(self._text.count("\n", 0, start))

    # Selecting.

    @property
    def selected_range(self) -> tuple[int, int]:
        """Start and end in the text; equal if nothing is selected."""
        return min(self._anchor, self._caret), max(self._anchor, self._caret)

    def selected_text(self) -> str:
        """What is selected."""
        start, end = self.selected_range
        return self._text[start : min(end, start + _LARGEST_COPY)]

    def select_all(self) -> None:
        """All of the text, shown or not."""
        self._anchor, self._caret = 0, len(self._text)
        self.update()

    def copy(self) -> None:
        """Put what is selected, or all, on the clipboard."""
        QGuiApplication.clipboard().setText(self.selected_text() or self._text[:_LARGEST_COPY])

    def _position_at(self, point: QPoint) -> int:
        row = self._first_row + point.y() // self.line_height
        if row < 0 or not self._rows.count:
            return 0
        if row >= self._rows.count:
            return self._rows.row(self._rows.count - 1)[1]
        return self._painter.position_in(self._rows, row, point.x() - self._left)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Put the caret, or fold."""
        point = event.position().toPoint()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        fold = self._fold_of(self._first_row + point.y() // self.line_height)
        if fold is not None and point.x() < self._left:
            self.fold_clicked.emit(fold)
            return
        self._caret = self._position_at(point)
        if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._anchor = self._caret
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select while the button is held."""
        if not event.buttons() & Qt.MouseButton.LeftButton:
            return
        point = event.position().toPoint()
        self._caret = self._position_at(point)
        if point.y() < 0 or point.y() >= self.height():
            self.dragged_beyond.emit(-1 if point.y() < 0 else 1)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the word."""
        self._anchor, self._caret = word_around(self._text, self._position_at(event.position().toPoint()))
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show it."""
        super().focusInEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Copy and select all belong to this text while it has the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            has_selection = self.selected_range[0] < self.selected_range[1]
            if event.matches(QKeySequence.StandardKey.SelectAll) or (
                event.matches(QKeySequence.StandardKey.Copy) and has_selection
            ):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy, select all, fold and unfold."""
        folds = list(self._folds.values())
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif folds and event.key() == Qt.Key.Key_Left:
            self._fold_by_key([fold for fold in reversed(folds) if not fold.is_folded])
        elif folds and event.key() == Qt.Key.Key_Right:
            self._fold_by_key([fold for fold in folds if fold.is_folded])
        else:
            super().keyPressEvent(event)

    def _fold_by_key(self, candidates: list[Fold]) -> None:
        """Right opens the first folded part, Left folds the last open one: level by level either way."""
        if candidates:
            self.fold_clicked.emit(candidates[0])

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the text."""
        menu = FloatingMenu("", self._theme, self)
        menu.setObjectName("linesMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy", self.copy)
        menu.addAction("Select All", self.select_all)
        menu.popup(event.globalPos())
