"""The fields of a card: several lines that grow with what stands in them.

Invariant: Tab leaves a field, Escape leaves what it was opened for, and Enter breaks the line or says that
the line is done; none of these keys goes further.
"""

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from sophos_desktop.shell.transcript.drawable_text import escaped

_FRAME = 12  # padding and line, above and below


class GrowingField(QPlainTextEdit):
    """Belongs to its card."""

    left = Signal()  # Escape

    def __init__(
        self, name: str, font: QFont, fewest: int, most: int, parent: QWidget, *, frame: int = _FRAME
    ) -> None:
        """`fewest` and `most` are lines; `frame`: pixels above and below them."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setFont(font)
        self.setTabChangesFocus(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(self.wordWrapMode().WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._fewest, self._most, self._frame = fewest, most, frame
        self.textChanged.connect(self._fit)
        self._fit()

    def sizeHint(self) -> QSize:
        """As high as its lines, within bounds."""
        lines = min(self._most, max(self._fewest, round(self.document().size().height())))
        return QSize(200, lines * self.fontMetrics().lineSpacing() + 4 + self._frame)

    def _fit(self) -> None:
        wanted = self.sizeHint().height()
        is_full = self.document().size().height() > self._most
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
        """Escape leaves."""
        if event.key() == Qt.Key.Key_Escape:
            event.accept()
            self.left.emit()
            return
        super().keyPressEvent(event)


class ArgumentsField(GrowingField):
    """Holds JSON: runs from left to right whatever is in it, and what is pasted can be seen."""

    def __init__(
        self, name: str, font: QFont, fewest: int, most: int, parent: QWidget, *, frame: int = _FRAME
    ) -> None:
        """As the others."""
        super().__init__(name, font, fewest, most, parent, frame=frame)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDefaultTextOption(option)

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


def _is_escape(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
