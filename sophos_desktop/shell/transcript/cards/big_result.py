"""A window for a text of any length: read, searched, copied, never changed.

Invariant: the window is there at once; rows are found a few milliseconds at a time, and only those that are
seen are laid out, so that 60 MB scroll as one page does.
"""

import contextlib
from time import perf_counter

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QScrollBar, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.cards.facts import size_words
from sophos_desktop.shell.transcript.cards.parts import Rounded
from sophos_desktop.shell.transcript.cards.text_lines import TextLines
from sophos_desktop.shell.transcript.text.text_search import Searched
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog

_SLICE_SECONDS = 0.006
_PAUSE_MILLISECONDS = 2
_WHEEL_ROWS = 3
_NOTCH = 120


class RowsView(Rounded):
    """Rows and a scroll bar that counts in rows."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__("bigResultView", "raised", "border_strong", theme, parent)
        self.lines = TextLines("bigResultText", theme, self)
        self.bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.bar.setObjectName("bigResultBar")
        self.bar.setSingleStep(_WHEEL_ROWS)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 2, 8)
        row.setSpacing(4)
        row.addWidget(self.lines, 1)
        row.addWidget(self.bar)
        self.lines.start_at(0)
        self.lines.setSizePolicy(self.sizePolicy().Policy.Expanding, self.sizePolicy().Policy.Expanding)
        self._timer = QTimer(self)
        self._timer.setInterval(_PAUSE_MILLISECONDS)
        self._timer.timeout.connect(self._on_turn)
        self._goal = -1
        self._anchor = 0  # the place of the text that stays at the top when rows are broken anew
        self.bar.valueChanged.connect(self._on_scrolled)
        self.lines.rows_changed.connect(self._on_rows_changed)
        self.lines.dragged_beyond.connect(lambda rows: self.bar.setValue(self.bar.value() + rows))
        self.lines.installEventFilter(self)

    def show_text(self, text: str) -> None:
        """Show the beginning of a text."""
        self._anchor = 0
        self.lines.show_text(text)
        self.bar.setValue(0)

    @property
    def is_done(self) -> bool:
        """True once all rows are found."""
        return self.lines.rows.is_done

    def go_to(self, position: int) -> None:
        """Bring a place of the text into view, as soon as its row is found."""
        self._goal = position
        if self._timer.isActive() and self.lines.rows.found_to <= position and not self.is_done:
            return
        self._reach_goal()

    def _reach_goal(self) -> None:
        row = self.lines.rows.row_at(self._goal)
        self._goal = -1
        shown = self._visible_rows
        if not self.bar.value() <= row < self.bar.value() + shown - 1:
            self.bar.setValue(row - shown // 3)

    @property
    def _visible_rows(self) -> int:
        return max(1, self.lines.height() // self.lines.line_height)

    def _on_rows_changed(self) -> None:
        """Rows are broken anew: what was at the top stays there."""
        self._goal = self._anchor if self._goal < 0 and self._anchor else self._goal
        self._timer.start()
        self._on_turn()

    def _on_turn(self) -> None:
        rows = self.lines.rows
        is_done = rows.find(perf_counter() + _SLICE_SECONDS)
        self._set_range()
        if self._goal >= 0 and (is_done or rows.found_to > self._goal):
            if self._goal == self._anchor:
                self._goal = -1
                self.bar.setValue(rows.row_at(self._anchor))
            else:
                self._reach_goal()
        if is_done:
            self._timer.stop()
        self.lines.update()

    def _set_range(self) -> None:
        shown = self._visible_rows
        self.bar.blockSignals(True)  # the rows at the top stay while rows are found below
        self.bar.setRange(0, max(0, self.lines.rows.count - shown))
        self.bar.setPageStep(shown)
        self.bar.blockSignals(False)
        self.lines.start_at(self.bar.value())

    def _on_scrolled(self, value: int) -> None:
        self.lines.start_at(value)
        with contextlib.suppress(IndexError):
            self._anchor = self.lines.rows.row(value)[0]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer rows are seen."""
        super().resizeEvent(event)
        self._set_range()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Three rows a notch; a touchpad tells pixels."""
        pixels = event.pixelDelta().y()
        rows = pixels / self.lines.line_height if pixels else event.angleDelta().y() * _WHEEL_ROWS / _NOTCH
        self.bar.setValue(self.bar.value() - (round(rows) or (1 if rows > 0 else -1 if rows < 0 else 0)))
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys that scroll."""
        if watched is self.lines and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            page = max(1, self._visible_rows - 1)
            steps = {
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_PageUp: -page,
                Qt.Key.Key_PageDown: page,
                Qt.Key.Key_Home: -self.bar.maximum(),
                Qt.Key.Key_End: self.bar.maximum(),
            }
            step = steps.get(Qt.Key(event.key()))
            if step is not None:
                self.bar.setValue(self.bar.value() + step)
                return True
        return super().eventFilter(watched, event)


class BigResultWindow(PlainDialog):
    """Closes for good when it is closed: what it holds may be large."""

    def __init__(self, title: str, text: str, theme: Theme, parent: QWidget) -> None:
        """`title` is that of the window."""
        super().__init__("bigResult", title, parent, 760, 560)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.view = RowsView(theme, self)
        self.view.lines.setAccessibleName(title)
        self.field = QLineEdit(self)
        self.field.setObjectName("bigResultFind")
        self.field.setPlaceholderText("Find")
        self.field.setAccessibleName("Find in this text")
        self.field.returnPressed.connect(self.find_next)
        self.field.installEventFilter(self)
        self.body.addWidget(self.field)
        self.body.addWidget(self.view, 1)
        lines = text.count("\n") + (0 if text.endswith("\n") else 1)
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        self._facts = f"{lines:,} {'line' if lines == 1 else 'lines'}, {size_words(size)}"
        self.note.setText(self._facts)
        self.copy_button = self.add_button("bigResultCopy", "Copy")
        self.copy_button.clicked.connect(lambda _checked=False: self.view.lines.copy())
        self._searched = Searched(text)
        self._length = len(text)
        self._found: tuple[int, int] | None = None
        self.view.show_text(text)

    def find_next(self, *, backwards: bool = False) -> bool:
        """Go to the next place of what stands in the field, round the end; False if there is none."""
        needle, searched = self.field.text(), self._searched
        found = None
        if needle and backwards:
            before = self._found[0] if self._found else self._length
            found = searched.last_before(needle, before) or searched.last_before(needle, self._length)
        elif needle:
            after = self._found[0] + 1 if self._found else 0
            found = searched.first_after(needle, after) or searched.first_after(needle, 0)
        self._found = found
        self.view.lines.show_matches([found] if found else [], 0)
        self.note.setText("Not found" if needle and found is None else self._facts)
        if found is not None:
            self.view.go_to(found[0])
        return found is not None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Shift+Enter goes back, F3 goes on."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if event.key() == Qt.Key.Key_F3 or (is_enter and is_back):
                self.find_next(backwards=is_back)
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+F and F3 from anywhere in the window."""
        is_find = event.key() == Qt.Key.Key_F and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if is_find:
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()
        elif event.key() == Qt.Key.Key_F3:
            self.find_next(backwards=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)
