"""The fields of a card: several lines that grow with what stands in them.

Invariant: Tab leaves a field, Escape leaves what it was opened for, and Enter breaks the line or says that
the line is done; none of these keys goes further.
"""

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QResizeEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QTextEdit, QWidget

from sophos_desktop.shell.theme.fonts import role_line
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.drawing.style import fixed_line
from sophos_desktop.shell.transcript.text.drawable_text import escaped

_FRAME = 10  # padding and line, above and below
_MARGIN = 2  # around the text, inside


class GrowingField(QTextEdit):
    """Belongs to its card. Plain text in lines of the height of code: a QPlainTextEdit cannot set that."""

    left = Signal()  # Escape
    ended = Signal()  # Ctrl+Enter

    def __init__(
        self,
        name: str,
        font: QFont,
        fewest: int,
        most: int,
        parent: QWidget,
        *,
        frame: int = _FRAME,
        margin: int = _MARGIN,
    ) -> None:
        """`fewest` and `most` are lines; `frame`: pixels of line and padding above and below them, `margin`:
        those around the text."""
        super().__init__(parent)
        self._fewest, self._most, self._frame, self._margin = fewest, most, frame, margin
        self.setObjectName(name)
        self.setAcceptRichText(False)
        self.setFont(font)
        self.setTabChangesFocus(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setLineWrapMode(QTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(margin)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._fit)
        self._set_lines()

    def setPlainText(self, text: str) -> None:
        """Show another text, in lines of the right height; told once."""
        was_blocked = self.blockSignals(True)
        super().setPlainText(text)
        self._set_lines()
        self.blockSignals(was_blocked)
        self.textChanged.emit()

    def changeEvent(self, event: QEvent) -> None:
        """Lines grow with the type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._set_lines()

    def _set_lines(self) -> None:
        """All lines, and those to come, which take after them. No step of its own to undo."""
        self.line_height = role_line(TYPE.code)
        document = self.document()
        if round(document.begin().blockFormat().lineHeight()) != self.line_height:
            was_blocked = self.blockSignals(True)  # nothing was typed
            cursor = QTextCursor(document)
            cursor.select(QTextCursor.SelectionType.Document)
            if document.isUndoAvailable():
                cursor.joinPreviousEditBlock()
                cursor.mergeBlockFormat(fixed_line(self.line_height))
                cursor.endEditBlock()
            else:
                document.setUndoRedoEnabled(False)
                cursor.mergeBlockFormat(fixed_line(self.line_height))
                document.setUndoRedoEnabled(True)
            self.blockSignals(was_blocked)
        self._fit()

    def sizeHint(self) -> QSize:
        """As high as its lines, within bounds."""
        lines = min(self._most, max(self._fewest, self._line_count))
        return QSize(200, lines * self.line_height + 2 * self._margin + self._frame)

    @property
    def _line_count(self) -> int:
        """Lines as they are broken at the present width."""
        return round((self.document().size().height() - 2 * self._margin) / self.line_height)

    def _fit(self) -> None:
        wanted = self.sizeHint().height()
        is_full = self._line_count > self._most
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded if is_full else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        if (self.minimumHeight(), self.maximumHeight()) != (wanted, wanted):
            self.setFixedHeight(wanted)

    def lay_out_for(self, width: int) -> None:
        """Be as high as is right at a width that is about to come."""
        if self.isVisible() and width != self.width():
            self.resize(max(1, width), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width wraps other lines."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Escape belongs to the field while it holds the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves; Enter breaks the line, with Ctrl it ends the text."""
        if event.key() == Qt.Key.Key_Escape:
            event.accept()
            self.left.emit()
        elif _is_ctrl_enter(event):
            event.accept()
            if not event.isAutoRepeat():
                self.ended.emit()
        elif event.matches(QKeySequence.StandardKey.InsertParagraphSeparator) and not self.isReadOnly():
            event.accept()
            # Qt would give up the line's height at the second of two empty lines.
            self.textCursor().insertBlock()
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)


class ArgumentsField(GrowingField):
    """Holds JSON: runs from left to right whatever is in it, is broken anywhere, and what is pasted can be
    seen."""

    def __init__(
        self,
        name: str,
        font: QFont,
        fewest: int,
        most: int,
        parent: QWidget,
        *,
        frame: int = _FRAME,
        margin: int = _MARGIN,
    ) -> None:
        """As the others."""
        super().__init__(name, font, fewest, most, parent, frame=frame, margin=margin)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDefaultTextOption(option)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """With escapes for what is not seen or turns the direction."""
        if source.hasText():
            self.textCursor().insertText(escaped(source.text()))
            self.ensureCursorVisible()


class ReasonField(QLineEdit):
    """Belongs to its card."""

    left = Signal()  # Escape

    def event(self, event: QEvent) -> bool:
        """Escape belongs to the field while it holds the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves."""
        if event.key() == Qt.Key.Key_Escape:
            event.accept()
            self.left.emit()
        elif event.isAutoRepeat() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()  # the key that opened the field is still held
        else:
            super().keyPressEvent(event)


def _is_ctrl_enter(event: QKeyEvent) -> bool:
    has_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    return has_control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def _is_escape(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
