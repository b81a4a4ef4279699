"""Shows plain prose in a card: it can be selected, copied and searched.

Invariant: text that only grew is appended, so that a growing one costs what is new; of a very long one the
beginning is shown.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_line, role_size
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.drawing.built import text_rectangles
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.text.drawable_text import drawable

LONGEST = 200_000  # characters that are shown
_MEASURE = 520


class ProseLines(QWidget):
    """Belongs to its card. Margins are those of the widget."""

    def __init__(self, name: str, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._theme = theme
        self._document = QTextDocument(self)
        self._document.setDocumentMargin(0)
        self._document.setUndoRedoEnabled(False)
        self._document.setDefaultFont(role_font(TYPE.interface))
        self._text = ""
        self._cursor = QTextCursor(self._document)
        self._matches: Sequence[tuple[int, int]] = ()
        self._current_match = -1
        theme.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        if self._document.defaultFont().pixelSize() != role_size(TYPE.interface):
            self._document.setDefaultFont(role_font(TYPE.interface))
            block = QTextBlockFormat()
            block.setLineHeight(role_line(TYPE.interface), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
            cursor = QTextCursor(self._document)
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.mergeBlockFormat(block)
            self.updateGeometry()
        self.update()

    @property
    def text(self) -> str:
        """What is shown."""
        return self._text

    def show_text(self, text: str) -> None:
        """Show `text`, as far as it is not too long."""
        if len(text) > LONGEST:
            text = text[:LONGEST] + "…"
        if text == self._text:
            return
        cursor = QTextCursor(self._document)
        if self._text and text.startswith(self._text):
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(drawable(text[len(self._text) :]))
        else:
            self._document.clear()
            block = QTextBlockFormat()
            block.setLineHeight(role_line(TYPE.interface), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
            cursor.setBlockFormat(block)
            cursor.insertText(drawable(text.strip("\n")))
            self._cursor = QTextCursor(self._document)
        self._text = text
        self.setAccessibleName(text[:500])
        self.updateGeometry()
        self.update()

    def show_matches(self, matches: Sequence[tuple[int, int]], current: int) -> None:
        """Mark what was found: starts and ends in `shown_text`; `current` is an index, or -1."""
        text = self.shown_text()
        self._matches = [(_units(text, start), _units(text, end)) for start, end in matches]
        self._current_match = current
        self.update()

    def shown_text(self) -> str:
        """The text that matches count in."""
        return plain_text(self._document)

    def rectangle_of(self, position: int) -> QRect:
        """Where a place of the shown text is."""
        self._set_width(self.width())
        unit = _units(self.shown_text(), position)
        found = text_rectangles(self._document, unit, unit + 1)
        return (
            found[0].translated(self._origin).toRect() if found else QRect(0, 0, 1, role_line(TYPE.interface))
        )

    @property
    def _origin(self) -> QPointF:
        margins = self.contentsMargins()
        return QPointF(margins.left(), margins.top())

    def _set_width(self, width: int) -> None:
        margins = self.contentsMargins()
        room = max(80, min(_MEASURE, width - margins.left() - margins.right()))
        if self._document.textWidth() != room:
            self._document.setTextWidth(room)

    def hasHeightForWidth(self) -> bool:
        """Text is broken at the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Of the text."""
        self._set_width(width)
        margins = self.contentsMargins()
        return round(self._document.size().height()) + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        """At the present width."""
        return QSize(400, self.heightForWidth(max(200, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Narrow enough for a narrow window."""
        return QSize(120, role_line(TYPE.interface))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The text in the damaged part."""
        tokens = self._theme.tokens
        self._set_width(self.width())
        painter = QPainter(self)
        painter.translate(self._origin)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = event.rect().toRectF().translated(-self._origin)
        context.palette.setColor(QPalette.ColorRole.Text, QColor(tokens.text_2))
        grounds = [
            self._ground(start, end, tokens.match, tokens.text) for start, end in self._matches[:1_000]
        ]
        if self._cursor.hasSelection():
            first, last = self._cursor.selectionStart(), self._cursor.selectionEnd()
            grounds.append(self._ground(first, last, tokens.accent, tokens.on_accent))
        context.selections = grounds
        self._document.documentLayout().draw(painter, context)
        if 0 <= self._current_match < len(self._matches):
            painter.setPen(QColor(tokens.warning))
            for box in text_rectangles(self._document, *self._matches[self._current_match]):
                painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _ground(
        self, start: int, end: int, colour: str, text_colour: str
    ) -> QAbstractTextDocumentLayout.Selection:
        made = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(self._document)
        last = self._document.characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        made.cursor = cursor
        characters = QTextCharFormat()
        characters.setBackground(QColor(colour))
        characters.setForeground(QColor(text_colour))
        made.format = characters
        return made

    def selected_text(self) -> str:
        """What is selected."""
        return plain_text(self._document, self._cursor.selectionStart(), self._cursor.selectionEnd())

    def _place(self, event: QMouseEvent, mode: QTextCursor.MoveMode) -> None:
        point = event.position() - self._origin
        unit = self._document.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit)
        self._cursor.setPosition(max(0, unit), mode)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Put the caret."""
        if event.button() == Qt.MouseButton.LeftButton:
            is_more = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            mode = QTextCursor.MoveMode.KeepAnchor if is_more else QTextCursor.MoveMode.MoveAnchor
            self._place(event, mode)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select while the button is held."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._place(event, QTextCursor.MoveMode.KeepAnchor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the word."""
        self._place(event, QTextCursor.MoveMode.MoveAnchor)
        self._cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy, select all."""
        if event.matches(QKeySequence.StandardKey.Copy) and self._cursor.hasSelection():
            QGuiApplication.clipboard().setText(self.selected_text())
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._cursor.select(QTextCursor.SelectionType.Document)
            self.update()
        else:
            super().keyPressEvent(event)


def _units(text: str, position: int) -> int:
    """A position as Qt counts it."""
    return len(text[:position].encode("utf-16-le", "surrogatepass")) // 2
