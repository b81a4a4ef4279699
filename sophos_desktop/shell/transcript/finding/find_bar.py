"""Find in conversation: the bar at the upper right, and what it marks in the view.

Invariant: only hits in the view are painted; going to a hit opens the card that hides it and never moves the
view if the hit is seen already. Closing leaves no mark.
"""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.parts import MarkView, Rounded, Words, icon_button, on_click
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.finding.card_marks import CardMarks
from sophos_desktop.shell.transcript.finding.find import MOST_HITS, Find, Hit
from sophos_desktop.shell.transcript.model.positions import Highlight
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from sophos_desktop.shell.widgets.foldaway import Foldaway

WIDTH, HEIGHT = 360, 40
_FROM_EDGE = 8
_LAYER = "find"
_TYPING_MILLISECONDS = 120
_SPOKEN_AROUND = 60  # characters before and after a hit


class FindBar(Rounded):
    """Lives as long as its view, hidden until it is opened."""

    closed = Signal()

    def __init__(self, view: TranscriptView, theme: Theme) -> None:
        """`view` shows what is searched."""
        super().__init__("findBar", "raised", "border_strong", theme, view.viewport())
        self._view = view
        self._scratch = ScratchDocuments(view)
        self.finder = Find(self._scratch.document, self)
        self.finder.set_model(view.model)
        self._marks = CardMarks(view)
        self._current: Hit | None = None
        self._wants_first = False
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setAccessibleName("Find in conversation")
        self._parts = Foldaway(self)
        inside = self._parts.inside
        self.field = QLineEdit(inside)
        self.field.setObjectName("findField")
        self.field.setAccessibleName("Find in conversation")
        self.field.setPlaceholderText("Find in conversation")
        self.field.setFont(role_font(TYPE.interface))
        self.field.setStyleSheet("border: none; background: transparent; padding: 0; min-height: 24px;")
        theme.sizes_changed.connect(self.place)
        self.counter = Words("", TYPE.small, "text_2", theme, inside)
        self.counter.setObjectName("findCount")
        self.up = icon_button("findPrevious", Mark.RAISE, "Previous (Shift+F3)", theme, inside)
        self.down = icon_button("findNext", Mark.OPEN, "Next (F3)", theme, inside)
        self.shut = icon_button("findClose", Mark.CLOSE, "Close (Esc)", theme, inside)
        for button, said in (
            (self.up, "Previous match"),
            (self.down, "Next match"),
            (self.shut, "Close the search"),
        ):
            button.setAccessibleName(said)  # its keys are in the tooltip
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._parts)
        row = QHBoxLayout(inside)
        row.setContentsMargins(12, 0, 8, 0)
        row.setSpacing(4)
        row.addWidget(MarkView(Mark.SEARCH, "text_2", 16, theme, inside))
        row.addSpacing(4)
        row.addWidget(self.field, 1)
        row.addWidget(self.counter)
        for button in (self.up, self.down, self.shut):
            row.addWidget(button)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MILLISECONDS)
        self._typing.timeout.connect(self._on_typed)
        self._connect()
        self.hide()

    def _connect(self) -> None:
        self.field.textChanged.connect(lambda _text: self._typing.start())
        self.field.installEventFilter(self)
        on_click(self.up, self.previous)
        on_click(self.down, self.next)
        on_click(self.shut, self.close_bar)
        self.finder.changed.connect(self._on_found)
        self._view.layoutChanged.connect(self._on_layout_changed)
        self._view.model.was_reset.connect(self._forget)
        self._view.model.inserted.connect(self._forget)
        self._view.model.removed.connect(self._forget)
        self.theme.changed.connect(self._mark)

    def open_bar(self, words: str = "") -> None:
        """Show the bar and put the keyboard into it; `words` is what is selected, if that is short."""
        if words and "\n" not in words and len(words) <= 100:
            self.field.setText(words)
        self.place()
        self._parts.show()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._on_typed()

    def close_bar(self) -> None:
        """Hide the bar and all marks; the keyboard goes to the conversation."""
        self._typing.stop()
        self._put_caret()
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()
        self._parts.hide()
        self.finder.stop()
        self._current = None
        self._mark()
        self.closed.emit()

    def _put_caret(self) -> None:
        """Who listens goes on from there; for others the plain keys go on scrolling."""
        if not QAccessible.isActive():
            return
        selection, hit = self._view.findChild(Selection), self._current
        if isinstance(selection, Selection) and hit is not None and not hit.part and selection.span is None:
            selection.select(hit.position, hit.position)

    def place(self) -> None:
        """At the upper right, whatever is scrolled."""
        width = min(WIDTH, self._view.viewport().width() - 2 * _FROM_EDGE)
        left = self._view.viewport().width() - width - _FROM_EDGE
        self.setFixedSize(max(200, width), row_height(HEIGHT))
        if self.pos() != QPoint(left, _FROM_EDGE):
            self.move(left, _FROM_EDGE)

    # Going through the hits.

    @property
    def current(self) -> Hit | None:
        """The hit with the frame."""
        return self._current

    def next(self) -> None:
        """Go on to the next hit, round the end."""
        self._go(self.finder.next_hit(self._current, self._first_seen))

    def previous(self) -> None:
        """Go back to the hit before, round the beginning."""
        self._go(self.finder.hit_before(self._current, self._last_seen))

    @property
    def _first_seen(self) -> int:
        seen = self._view.transcript_layout.visible_messages
        return seen.start if len(seen) else 0

    @property
    def _last_seen(self) -> int:
        seen = self._view.transcript_layout.visible_messages
        return seen.stop - 1 if len(seen) else 0

    def _go(self, hit: Hit | None) -> None:
        if self._typing.isActive():
            self._typing.stop()
            self._on_typed()
            return
        self._wants_first = hit is None and not self.finder.is_done
        self._current = hit
        if hit is not None and hit.part:
            self._marks.reveal(hit, self.finder.needle)
        elif hit is not None:
            self._view.scroll_to(hit.position)
            self._uncover(hit)
        self._show_count()
        self._mark()

    def _uncover(self, hit: Hit) -> None:
        """Move a hit out from under the bar, as far as the conversation goes."""
        for area in self._view.geometry_of_text.rectangles(hit.position, hit.end_position):
            if area.intersects(self.geometry().toRectF()):
                self._view.scroll_by(round(area.top()) - self.geometry().bottom() - _FROM_EDGE)
                return

    # What changes.

    def _on_typed(self) -> None:
        self._current = None
        self._wants_first = bool(self.field.text())
        self.finder.search(self.field.text(), self._first_seen)
        self._show_count()

    def _on_found(self) -> None:
        current = self._current  # while its message is read again, it is in no list and stays
        if (
            current is not None
            and self.finder.is_done
            and current not in self.finder.hits_in(current.message)
        ):
            self._current = None
        if self._wants_first and self.finder.count and self.isVisible():
            self._wants_first = False
            self._go(self.finder.next_hit(None, self._first_seen))
            return
        self._show_count()
        self._mark()

    def _forget(self, *_what: object) -> None:
        self._current = None

    def _on_layout_changed(self) -> None:
        if self.isVisible():
            self.place()
            self.raise_()
            self._mark()

    def _show_count(self) -> None:
        find = self.finder
        if not find.needle:
            words = ""
        elif find.count == 0:
            words = "No hit" if find.is_done else "…"
        else:
            more = "+" if find.count >= MOST_HITS else "" if find.is_done else "…"
            at = find.number_of(self._current) if self._current is not None else 0
            words = f"{at:,} of {find.count:,}{more}"
        if words != self.counter.text():
            self.counter.setText(words)
        said = ". ".join(part for part in (words, self._line_of_current()) if part)
        if said != self.field.accessibleDescription():  # which is spoken when it changes
            self.field.setAccessibleDescription(said)
        self.counter.set_colour("danger" if words == "No hit" else "text_2")
        for button in (self.up, self.down):
            button.setEnabled(find.count > 0)

    def _line_of_current(self) -> str:
        """What stands around the hit, for who does not see it."""
        hit = self._current
        if hit is None or hit.part or not QAccessible.isActive():
            return ""
        document = self._scratch.document(hit.message, hit.segment)
        block = document.findBlock(hit.start)
        start = max(block.position(), hit.start - _SPOKEN_AROUND)
        end = min(block.position() + block.length(), max(hit.start, hit.end) + _SPOKEN_AROUND)
        return " ".join(plain_text(document, start, end).split())

    def _mark(self) -> None:
        """Mark what is found in the view."""
        tokens = self.theme.tokens
        highlights = []
        if not self.isHidden() and self.finder.needle:
            for message in self._view.transcript_layout.visible_messages:
                for hit in self.finder.hits_in(message):
                    if not hit.part:
                        frame = tokens.warning if hit == self._current else ""
                        highlights.append(Highlight(hit.position, hit.end_position, tokens.match, frame))
        self._view.set_highlights(_LAYER, highlights)
        self._marks.show(self.finder.needle if not self.isHidden() else "", self._current)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the field."""
        if watched is self.field and isinstance(event, QKeyEvent):
            is_override = event.type() == QEvent.Type.ShortcutOverride
            if is_override and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F3):
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and self._on_key(event):
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape and F3 on the buttons too."""
        if not self._on_key(event):
            super().keyPressEvent(event)

    def _on_key(self, event: QKeyEvent) -> bool:
        is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            if is_back:
                self.previous()
            else:
                self.next()
        else:
            return False
        return True
