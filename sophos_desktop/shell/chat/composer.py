"""The field in which a message is written.

Invariant: it holds plain text; `Enter` sends and `Shift+Enter` breaks the line; an `Enter` that ends an
input method's composition does neither. `edited` tells of the person's changes only, not of the program's.
"""

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from sophos_desktop.shell.theme.fonts import text_font
from sophos_desktop.shell.theme.tokens import READING_SIZE

_ONE_LINE = 30
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_BREAKING = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier


class Composer(QPlainTextEdit):
    """Lives as long as its window, on the GUI thread."""

    send_requested = Signal()
    edited = Signal(str)
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        """Empty, one line high."""
        super().__init__(parent)
        self.setObjectName("composer")
        self.setAccessibleName("Message")
        self.setPlaceholderText("Write a message")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(text_font(READING_SIZE))
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._is_setting = False
        self._is_composing = False
        self._has_just_composed = False
        self._composed = QTimer(self)
        self._composed.setSingleShot(True)
        self._composed.setInterval(0)
        self._composed.timeout.connect(self._on_composed)
        self.document().clearUndoRedoStacks()  # setting it up is nothing to undo
        self.textChanged.connect(self._on_text_changed)

    @property
    def text(self) -> str:
        """What stands in it."""
        return self.toPlainText()

    def set_text(self, text: str) -> None:
        """Put a text there without telling of an edit; the caret goes to its end."""
        if text == self.text:
            return
        self._is_setting = True
        try:
            self.setPlainText(text)
        finally:
            self._is_setting = False
        self.moveCursor(self.textCursor().MoveOperation.End)

    def _on_text_changed(self) -> None:
        self._fit()
        if not self._is_setting:
            self.edited.emit(self.text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send at `Enter`, unless it belongs to an input method."""
        if event.key() not in _ENTER_KEYS or event.modifiers() & _BREAKING:
            super().keyPressEvent(event)
            return
        event.accept()
        if not self._is_composing and not self._has_just_composed:
            self.send_requested.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Remember whether a composition is open or was closed in this turn of the loop."""
        was_composing, self._is_composing = self._is_composing, bool(event.preeditString())
        if was_composing and not self._is_composing:
            # Some platforms deliver the Enter that ended the composition as a key right after it.
            self._has_just_composed = True
            self._composed.start()
        super().inputMethodEvent(event)

    def _on_composed(self) -> None:
        self._has_just_composed = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the frame around."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell the frame around."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def sizeHint(self) -> QSize:
        """As high as its lines, from one up to a third of the window."""
        lines = max(1.0, self.document().size().height())  # a plain text document counts in lines
        wanted = round(lines * self.fontMetrics().lineSpacing()) + 8
        return QSize(200, max(_ONE_LINE, min(wanted, self.window().height() // 3)))

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(120, _ONE_LINE)

    def _fit(self) -> None:
        wanted = self.sizeHint().height()
        if wanted != self.maximumHeight() or wanted != self.minimumHeight():
            is_full = wanted >= self.window().height() // 3
            policy = (
                Qt.ScrollBarPolicy.ScrollBarAsNeeded if is_full else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            )
            self.setVerticalScrollBarPolicy(policy)
            self.setFixedHeight(wanted)

    def fit_window(self) -> None:
        """The window has another size."""
        self._fit()
