"""A caret in the text of one message: a read-only text laid over the message, with Qt's own keys.

Invariant: it shows what the message shows and changes nothing; Escape and a click elsewhere close it, and the
keyboard goes back to the conversation.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QTextEdit

from sophos_desktop.shell.transcript.copying.clipboard import message_span, text_steps
from sophos_desktop.shell.transcript.drawing.style import characters, fixed_line
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.speaking.in_words import write_formulas, write_tables
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

_MOST_SEGMENTS = 200  # laid out with their formats; a longer message is read as plain text
_SIDE = 12
_LEAST = 120
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Reader(QTextEdit):
    """Lives as long as its view, hidden until it is opened."""

    closed = Signal()

    def __init__(
        self, view: TranscriptView, selection: Selection, is_spoken: Callable[[], bool] = QAccessible.isActive
    ) -> None:
        """`selection` says which message is the current one; `is_spoken`: whether the text is to be heard."""
        super().__init__(view.viewport())
        self.setObjectName("transcriptReader")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the conversation's comes instead
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByKeyboard | Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._view = view
        self._selection = selection
        self._is_spoken = is_spoken
        self._scratch = ScratchDocuments(view)
        self._message_key = -1
        view.installEventFilter(self)
        view.layoutChanged.connect(self._place)
        view.model.was_reset.connect(self.close_reader)
        view.model.removed.connect(lambda *_what: self.close_reader())
        self.hide()

    @property
    def message(self) -> int | None:
        """The index of the message that is read; None while it is closed."""
        model = self._view.model
        if self.isHidden():
            return None
        return next((index for index in range(len(model)) if model.key(index) == self._message_key), None)

    def open_reader(self, message: int) -> bool:
        """Lay the reader over a message and put the caret where the selection is, or at its beginning; False
        for a message without text."""
        model = self._view.model
        span = message_span(model, message) if 0 <= message < len(model) else None
        if span is None or model.message(message).kind is MessageKind.CARD:
            return False
        self._message_key = model.key(message)
        whose = "You" if model.message(message).kind is MessageKind.USER else "Answer"
        self.setAccessibleName(f"{whose}, read with the keyboard. Escape closes.")
        self._dress()
        caret = self._selection.caret
        self._view.set_held("reader", is_held=True)
        if message not in self._view.transcript_layout.visible_messages:
            self._view.scroll_to(TextPosition(message, 0, 0))
        self.show()
        self.raise_()
        # Before there is a caret to tell of: Orca takes a caret for the focus, and says nothing of that then.
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        starts = self._fill(message)
        place = 0
        if caret is not None and caret.message == message and caret.segment < len(starts):
            place = starts[caret.segment] + caret.character
        cursor = self.textCursor()
        cursor.setPosition(min(place, max(0, self.document().characterCount() - 1)))
        self.setTextCursor(cursor)
        if self._is_spoken():
            self._write_in_words(message, starts)
        self._place()
        self.ensureCursorVisible()
        return True

    def close_reader(self) -> None:
        """Take it away; the keyboard goes to the conversation if it was here."""
        if self.isHidden():
            return
        had_focus = self.hasFocus()
        self.hide()
        self.document().clear()
        self._view.set_held("reader", is_held=False)
        if had_focus:
            self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.closed.emit()

    def _dress(self) -> None:
        tokens, style = self._view.looks.tokens, self._view.looks.style
        radius, padding = tokens.measures.card_radius, _SIDE - 4
        self.document().setDocumentMargin(0)
        self.setFont(style.font(style.reading_size))
        self.setCursorWidth(2)
        self.setStyleSheet(
            f"QTextEdit#transcriptReader {{ background: {tokens.paper}; color: {tokens.text};"
            f" border: 2px solid {tokens.accent}; border-radius: {radius}px; padding: {padding}px;"
            f" selection-background-color: {tokens.accent}; selection-color: {tokens.on_accent}; }}"
        )

    def _fill(self, message: int) -> list[int]:
        """Put the message's text in; gives where each segment starts."""
        model, style = self._view.model, self._view.looks.style
        segments = model.segments(message)
        self.document().clear()
        if len(segments) > _MOST_SEGMENTS:
            span = message_span(model, message)
            assert span is not None
            text = (
                model.source(message)
                if model.is_raw(message)
                else "".join(text_steps(model, self._scratch.document, span))
            )
            cursor = QTextCursor(self.document())
            cursor.setBlockFormat(fixed_line(style.reading_line))
            cursor.insertText(text, characters(style.font(style.reading_size), style.text))
            return [0]
        starts: list[int] = []
        cursor = QTextCursor(self.document())
        for segment in segments:
            cursor.movePosition(QTextCursor.MoveOperation.End)
            if starts:
                cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
            starts.append(cursor.position())
            document = self._scratch.document(message, segment.index)
            source = QTextCursor(document)
            source.select(QTextCursor.SelectionType.Document)
            cursor.insertFragment(source.selection())
            self._dress_first(starts[-1], document)
        return starts

    def _write_in_words(self, message: int, starts: list[int]) -> None:
        """A formula is a picture and a table a grid: neither is heard by a caret that goes through it."""
        segments = self._view.model.segments(message)
        if len(starts) == len(segments):
            for start, segment in reversed([*zip(starts, segments, strict=True)]):
                drawn = self._scratch.drawn(message, segment.index)
                write_formulas(self.document(), start, drawn.built.formulas)
        write_tables(self.document())

    def _dress_first(self, start: int, source: QTextDocument) -> None:
        """A fragment's first paragraph takes the margins of where it is put: give it its own."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        if cursor.currentTable() is None:
            own = QTextBlockFormat(source.begin().blockFormat())
            own.setTopMargin(self._view.looks.style.gap if start else 0)
            cursor.setBlockFormat(own)

    # Where it is.

    def _place(self) -> None:
        """Over the message's text, as far as that is in the view."""
        message = self.message
        if message is None:
            return
        placed = [part for part in self._view.transcript_layout.placed if part.message == message]
        viewport = self._view.viewport()
        if not placed:
            self.move(self.x(), -9_000)  # not hidden: that would take the keyboard away
            return
        column = self._view.transcript_layout.documents.column
        left = self._view.geometry_of_text.column_left - _SIDE
        top = max(4, placed[0].top - _SIDE)
        bottom = min(viewport.height() - 4, placed[-1].bottom + _SIDE)
        wanted = round(self.document().size().height()) + 2 * _SIDE
        height = max(min(wanted, viewport.height() - 8), min(_LEAST, wanted), bottom - top)
        height = min(height, viewport.height() - 8)
        top = max(4, min(top, viewport.height() - 4 - height))
        width = min(column + 2 * _SIDE, viewport.width())
        self.setGeometry(QRect(max(0, left), top, width, height))

    # Keys.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter and F7 on the conversation open it."""
        if watched is self._view and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            opens = event.key() in (Qt.Key.Key_F7, Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if opens and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
                message = self._selection.current_message
                if message is not None and self._open_at_or_near(message):
                    return True
        return super().eventFilter(watched, event)

    def _open_at_or_near(self, message: int) -> bool:
        """The current message, or the first behind it in the view that has text."""
        seen = self._view.transcript_layout.visible_messages
        for candidate in (message, *(one for one in seen if one > message)):
            if self.open_reader(candidate):
                return True
        return False

    def event(self, event: QEvent) -> bool:
        """Escape and the copy keys belong to the reader while it has the keyboard."""
        if event.type() == QEvent.Type.ShortcutOverride and _closes(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape and F7 close."""
        if _closes(event):
            self.close_reader()
        elif event.key() in _ENTER_KEYS and (address := self._address_at_caret()):
            self._view.linkActivated.emit(address)
        elif event.matches(QKeySequence.StandardKey.Copy):
            text = self.textCursor().selection().toPlainText()
            if text:
                QGuiApplication.clipboard().setText(text)
        else:
            super().keyPressEvent(event)

    def _address_at_caret(self) -> str:
        """Of the link that the caret is in or before; empty if there is none."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(self.textCursor().position())
        cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
        return cursor.charFormat().anchorHref()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Who goes elsewhere has read enough; a menu or another window is not elsewhere."""
        super().focusOutEvent(event)
        if event.reason() in (
            Qt.FocusReason.MouseFocusReason,
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
        ):
            self.close_reader()


def _closes(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F7)
