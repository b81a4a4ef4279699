"""The field in which a message is written.

Invariant: it holds plain text; one key sends and another breaks the line; an `Enter` that ends an input
method's composition does neither. `edited` tells of the person's changes only, not of the program's.
"""

from enum import StrEnum

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QFocusEvent,
    QFontInfo,
    QInputMethodEvent,
    QKeyEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from sophos_desktop.shell.chat.composing.incoming import count_of, incoming_from
from sophos_desktop.shell.theme.fonts import text_font
from sophos_desktop.shell.theme.type_scale import TYPE

_TEXT_MARGIN = 2
_LINE_HEIGHT = TYPE.reading.line / TYPE.reading.size  # of a single line; below it stand closer
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_BREAKING = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier


class SendKey(StrEnum):
    """What `ui.send_key` may be."""

    ENTER = "enter"
    CTRL_ENTER = "ctrl-enter"


class Composer(QPlainTextEdit):
    """Lives as long as its window, on the GUI thread."""

    send_requested = Signal()
    recall_requested = Signal()  # Up where nothing is written
    edited = Signal(str)
    focus_changed = Signal(bool)
    incoming = Signal(object)  # Sequence[Incoming]: pasted, and no text

    def __init__(self, parent: QWidget) -> None:
        """Empty, one line high."""
        super().__init__(parent)
        self.setObjectName("composer")
        self.setAccessibleName("Message")
        self.setPlaceholderText("Write a message")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(text_font(TYPE.reading.size))
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(_TEXT_MARGIN)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._send_key = SendKey.ENTER
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

    @property
    def is_empty(self) -> bool:
        """True if nothing stands in it."""
        return self.document().isEmpty()

    @property
    def text_margin(self) -> int:
        """How far its text is from its edges."""
        return _TEXT_MARGIN

    def set_send_key(self, key: SendKey) -> None:
        """Which key sends from now on."""
        self._send_key = key

    def recall(self, text: str) -> None:
        """Write a text as if the person had: it can be undone, and is told as an edit."""
        self.insertPlainText(text)
        self.moveCursor(self.textCursor().MoveOperation.End)

    def _on_text_changed(self) -> None:
        self._fit()
        if not self._is_setting:
            self.edited.emit(self.text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send at its key, unless that belongs to an input method; look back at Up in an empty field."""
        if event.key() in _ENTER_KEYS:
            self._on_enter(event)
        elif self._is_recalling(event):
            event.accept()
            self.recall_requested.emit()
        else:
            super().keyPressEvent(event)

    def _on_enter(self, event: QKeyEvent) -> None:
        event.accept()
        if self._is_composing or self._has_just_composed:
            return
        is_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        is_sending = is_control or self._send_key is SendKey.ENTER
        if is_sending and not event.modifiers() & _BREAKING:
            self.send_requested.emit()
        else:
            super().keyPressEvent(event)

    def _is_recalling(self, event: QKeyEvent) -> bool:
        is_plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
        is_free = not self._is_composing and not self.isReadOnly()
        return event.key() == Qt.Key.Key_Up and is_plain and is_free and self.is_empty

    # What is pasted and dropped

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Also what is attached instead."""
        return count_of(source) > 0 or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Files and pictures are told of, text is inserted."""
        if arrived := incoming_from(source):
            self.incoming.emit(arrived)
        else:
            super().insertFromMimeData(source)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """What can be attached belongs to the part around, text to the field."""
        if count_of(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """As above."""
        if count_of(event.mimeData()):
            event.ignore()
        else:
            super().dragMoveEvent(event)

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
        wanted = round((lines - 1) * self.fontMetrics().lineSpacing()) + self._one_line
        return QSize(200, max(self._one_line, min(wanted, self.window().height() // 3)))

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(120, self._one_line)

    @property
    def _one_line(self) -> int:
        around = self.fontMetrics().lineSpacing() + 2 * _TEXT_MARGIN
        return max(around, round(QFontInfo(self.font()).pixelSize() * _LINE_HEIGHT))

    def changeEvent(self, event: QEvent) -> None:
        """Another size of type needs another height."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

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
