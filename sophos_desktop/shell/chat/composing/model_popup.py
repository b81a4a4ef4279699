"""The list of models that opens over the composer: a field that filters, and the rows below it.

Invariant: the keyboard stays in the field while arrows move through the rows; what only says something is
never chosen; closing it changes nothing.
"""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QCursor,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from sophos_desktop.core.domain.model_choices import EngineModels, ModelStanding
from sophos_desktop.shell.chat.composing.model_list import ModelList, ModelRowDelegate, Role
from sophos_desktop.shell.chat.composing.model_rows import ModelRow, rows_of
from sophos_desktop.shell.theme.compositing import is_composited
from sophos_desktop.shell.theme.floating import MARGIN, paint_floating_frame
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import wide
from sophos_desktop.shell.theme.tokens import Tokens
from sophos_desktop.shell.widgets.foldaway import Foldaway

_WIDTH: Final = 400
_TALLEST: Final = 420
_LOWEST: Final = 120
_PADDING: Final = 4
_GAP: Final = 4
_MOVES: Final = frozenset({Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown})
_ENTER: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class ModelPopup(Foldaway):
    """Made once, opened as often as wanted."""

    chosen = Signal(object)  # ModelRow
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Closed."""
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("modelPopup")
        self.setAccessibleName("Models")
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)  # a click on the picker closes it, and no more
        self._theme = theme
        self._standing: ModelStanding | None = None
        self._engines: Sequence[EngineModels] | None = None
        self._is_looking = False
        self._told: tuple[object, ...] | None = None  # the row that was spoken last
        self._pointer = QCursor.pos()
        self._margin = MARGIN if is_composited() else 0
        if self._margin:
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
            self.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)
        self.filter = QLineEdit(self.inside)
        self.view = QListView(self.inside)
        self.list = ModelList(self.view)
        self._make_parts()
        theme.sizes_changed.connect(self._on_sizes_changed)
        self._on_sizes_changed()

    def _make_parts(self) -> None:
        self.filter.setObjectName("modelFilter")
        self.filter.setAccessibleName("Filter models")
        self.filter.setPlaceholderText("Filter models")
        self.filter.setProperty("row", "true")
        self.filter.setClearButtonEnabled(False)
        self.filter.textChanged.connect(self._on_filtered)
        self.filter.installEventFilter(self)
        self.view.setObjectName("modelList")
        self.view.setAccessibleName("Models")
        self.view.setModel(self.list)
        self.view.setItemDelegate(ModelRowDelegate(self._theme, self.view))
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.entered.connect(self._on_entered)
        self.view.clicked.connect(self._choose)
        column = QVBoxLayout(self.inside)
        around = self._margin + _PADDING
        column.setContentsMargins(around, around, around, around)
        column.setSpacing(_GAP)
        column.addWidget(self.filter)
        column.addWidget(self.view, 1)

    # What it shows

    def show_models(
        self, standing: ModelStanding | None, engines: Sequence[EngineModels] | None, *, is_looking: bool
    ) -> None:
        """What there is to choose from; `engines` is what was known last, None for nothing."""
        self._standing, self._engines, self._is_looking = standing, engines, is_looking
        self._refill()

    def open_over(self, button: QWidget) -> None:
        """Above `button`, or below it where there is more room; the field is empty and has the keyboard."""
        self.unfold()
        self.filter.clear()
        self._pointer = QCursor.pos()
        self._refill(at_chosen=True)
        self.setGeometry(self._place(button))
        chosen = self._current()
        self.filter.setAccessibleDescription(chosen.words if chosen is not None else "")
        self.show()
        self.filter.setFocus(Qt.FocusReason.PopupFocusReason)
        self._told = _meaning(chosen) if chosen is not None else None

    def _place(self, button: QWidget) -> QRect:
        corner, width = button.mapToGlobal(QPoint(0, 0)), wide(_WIDTH)
        free = button.screen().availableGeometry()
        above = corner.y() - free.top() - _GAP
        below = free.bottom() - corner.y() - button.height() - _GAP
        wanted = self._wanted_height()
        is_above = above >= min(wanted, _LOWEST) and (above >= wanted or above >= below)
        height = max(_LOWEST, min(wanted, above if is_above else below))
        top = corner.y() - _GAP - height if is_above else corner.y() + button.height() + _GAP
        left = max(free.left(), min(corner.x(), free.right() - width))
        margin = self._margin
        return QRect(left, top, width, height).adjusted(-margin, -margin, margin, margin)

    def _wanted_height(self) -> int:
        """Of the frame, so that a usual list needs no scroll bar; it stays so while one filters."""
        rows = sum(self.view.sizeHintForRow(row) for row in range(self.list.rowCount()))
        return min(wide(_TALLEST), 2 * _PADDING + self.filter.sizeHint().height() + _GAP + rows + 2)

    def _refill(self, *, at_chosen: bool = False) -> None:
        """Write the rows again; the current one stays, else it is the chosen one or the first."""
        current = self._current()
        wanted = self.filter.text()
        rows_now = rows_of(self._standing, self._engines, wanted, is_looking=self._is_looking)
        self.list.show_rows(rows_now)
        rows = self.list.rows
        same = [] if at_chosen or current is None else [_meaning(row) == _meaning(current) for row in rows]
        chosen = [row.is_chosen for row in rows]
        can_be = [row.can_be_chosen for row in rows]
        for fitting in (same, chosen, can_be):
            if True in fitting:
                self._go_to(fitting.index(True))
                break
        self._tell()
        if self.isVisible() and not self.filter.text():
            self._grow()

    def _grow(self) -> None:
        """Rows came while it is open: the edge beside the button stays where it is."""
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(self._place(parent))

    def _current(self) -> ModelRow | None:
        index = self.view.currentIndex()
        row: ModelRow | None = index.data(Role.ROW) if index.isValid() else None
        return row

    def _go_to(self, row: int) -> None:
        index = self.list.index(row)
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)

    def _tell(self) -> None:
        """The keyboard stays in the field: a screen reader is told which row it works on."""
        index, row = self.view.currentIndex(), self._current()
        if row is None or not self.isVisible() or not QAccessible.isActive() or self._told == _meaning(row):
            return
        self._told = _meaning(row)
        event = QAccessibleEvent(self.view, QAccessible.Event.Focus)
        event.setChild(index.row())
        QAccessible.updateAccessibility(event)

    # What a person does

    def _on_filtered(self) -> None:
        self._refill()

    def _on_entered(self, index: QModelIndex) -> None:
        """The current row goes with the pointer, but not to a row that came under a pointer that rests."""
        if QCursor.pos() != self._pointer:
            self._pointer = QCursor.pos()
            self.view.setCurrentIndex(index)

    def _choose(self, index: QModelIndex) -> None:
        row: ModelRow | None = index.data(Role.ROW) if index.isValid() else None
        if row is not None and row.can_be_chosen:
            self.close()
            self.chosen.emit(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys that move and choose belong to the rows, all others to the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = Qt.Key(event.key())
            if key in _MOVES:
                self._move(key)
                return True
            if key in _ENTER:
                self._choose(self.view.currentIndex())
                return True
            if key == Qt.Key.Key_Escape:
                self.close()
                return True
            if key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                return True
        return super().eventFilter(watched, event)

    def _move(self, key: Qt.Key) -> None:
        page = max(1, self.view.viewport().height() // max(1, self.view.sizeHintForRow(0)))
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -page}.get(key, page)
        self._pointer = QCursor.pos()
        last = self.list.rowCount() - 1
        if last >= 0:
            self._go_to(max(0, min(last, max(0, self.view.currentIndex().row()) + step)))
            self._tell()

    def hideEvent(self, event: QHideEvent) -> None:
        """However it went: the keyboard is wanted elsewhere."""
        super().hideEvent(event)
        self.closed.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the shadow, or anywhere else, closes it."""
        if not self._frame().contains(event.position().toPoint()):
            self.close()
            return
        super().mousePressEvent(event)

    def _frame(self) -> QRect:
        margin = self._margin
        return self.rect().adjusted(margin, margin, -margin, -margin)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The frame."""
        painter = QPainter(self)
        tokens = self._theme.tokens
        if self._margin:
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.fillRect(event.rect(), Qt.GlobalColor.transparent)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
            paint_floating_frame(painter, self._frame(), tokens)
        else:
            painter.fillRect(event.rect(), tokens.raised)
            painter.setPen(tokens.border_strong)
            painter.drawRect(self._frame().adjusted(0, 0, -1, -1))
        painter.end()

    def _on_sizes_changed(self) -> None:
        self.view.scheduleDelayedItemsLayout()


def _meaning(row: ModelRow) -> tuple[object, ...]:
    return (row.kind, row.engine, row.model)


def popup_style(t: Tokens) -> str:
    """The style sheet's rules for what is in the popup."""
    return f"""
#modelPopup {{ background: transparent; border: none; }}
#modelList {{ background: {t.raised}; color: {t.text}; border: none; outline: none; }}
"""
