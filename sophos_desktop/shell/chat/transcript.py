"""The painted transcript in the window: the view, what it shows, and all that helps to read it.

Invariant: it decides nothing: what the reader wants is told by signals. Links are told of, never followed.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from time import monotonic

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMoveEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QTextEdit, QWidget

from sophos_desktop.shell.chat.cards.questions import Questions
from sophos_desktop.shell.chat.cards.waiting_pill import WaitingPill
from sophos_desktop.shell.chat.end_room import EndRoom, Room, RoomCard
from sophos_desktop.shell.chat.item_kinds import AnswerItem, Item
from sophos_desktop.shell.chat.left_reading import LeftReading
from sophos_desktop.shell.chat.shown_rows import ShownRows
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.cards.big_result import BigResultWindow
from sophos_desktop.shell.transcript.cards.card_states import CardStates
from sophos_desktop.shell.transcript.cards.factory import CardFactory, CardHooks
from sophos_desktop.shell.transcript.cards.meta_line import CONTINUE, COPY_MARKDOWN, COPY_TEXT, READ
from sophos_desktop.shell.transcript.cards.notice_line import THE_REST
from sophos_desktop.shell.transcript.cards.tool_card import card_id
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.finding.find_bar import FindBar
from sophos_desktop.shell.transcript.markdown.reading import may_open
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.speaking.accessible import Accessibility
from sophos_desktop.shell.transcript.speaking.reader import Reader
from sophos_desktop.shell.transcript.view.attached_files import AttachedFiles
from sophos_desktop.shell.transcript.view.image_window import ImageWindow
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

_PRESSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_F7)
_LOW = 480  # pixels: two pills would leave too little of the text


class _CallStates(CardStates):
    """Tells which calls the reader opened."""

    def __init__(self, on_opened: Callable[[str], object]) -> None:
        super().__init__()
        self._on_opened = on_opened

    def set_open(self, key: str, *, is_open: bool) -> None:
        super().set_open(key, is_open=is_open)
        if is_open:
            self._on_opened(key)

    def show_all(self, key: str, *, is_whole: bool = True) -> None:
        super().show_all(key, is_whole=is_whole)
        if is_whole:
            self._on_opened(key.rpartition("/")[0])


class Transcript(TranscriptView):
    """Lives as long as its window, on the GUI thread."""

    link_chosen = Signal(str)
    continue_wanted = Signal()
    rest_wanted = Signal()  # of an answer that was cut by its length
    edit_changed = Signal()  # what can be selected, copied and found
    opened = Signal(str)  # the key of a call or a thinking that the reader opened
    attachment_wanted = Signal(object)  # AttachmentRef

    _room: EndRoom | None = None  # the view lays itself out while it is being made

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        now: Callable[[], float] = monotonic,
        wall_clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Empty. `now` gives seconds that only grow; `wall_clock` the time, aware."""
        super().__init__(Looks.of(theme.tokens, theme.reading_scale, parent.devicePixelRatioF()), parent)
        self._theme = theme
        model = TranscriptModel(self)
        self.set_model(model)
        self.rows = ShownRows(model)
        self._states = _CallStates(self.opened.emit)
        self._reading = LeftReading()
        self.questions = Questions(theme, self, now)
        self._waiting_pill = WaitingPill(self.viewport(), theme)
        self._waiting_pill.clicked.connect(lambda: self.questions.go_to_first())
        hooks = CardHooks(self._open_window, self._act, self._other_card, wall_clock)
        self.set_card_factory(CardFactory(self._states, hooks, theme))
        self.selection = Selection(self)
        self.find_bar = FindBar(self, theme)
        self._reader: Reader | None = None
        self.accessibility = Accessibility(self, self.selection)
        self.accessibility.acted.connect(self._on_acted)
        for changed in (model.was_reset, model.inserted, model.removed, self.selection.changed):
            changed.connect(lambda *_what: self.edit_changed.emit())
        self.linkActivated.connect(self._on_link_activated)
        self.copyRequested.connect(lambda text: QGuiApplication.clipboard().setText(text))
        theme.changed.connect(self._on_theme_changed)
        self.layoutChanged.connect(self._on_layout_changed)
        self._room = EndRoom(self.rows, self.transcript_layout)
        self.questions.reshaping.connect(self._room.hold)
        self.questions.changed.connect(self._show_pills)
        self.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What a part of a card left of the keys that press and open is not for the text around the card."""
        if (
            watched is self.viewport()
            and event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
        ):
            focus = QApplication.focusWidget()
            if event.key() in _PRESSING and focus is not None and self.viewport().isAncestorOf(focus):
                is_enter = event.key() != Qt.Key.Key_Space
                if is_enter and isinstance(focus, QAbstractButton) and not event.isAutoRepeat():
                    focus.click()
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def open_items(self, items: Sequence[Item], conversation_id: str | None = None) -> None:
        """Show another conversation: where it was left, or from its end."""
        place = self._reading.exchange(conversation_id, self.reading_place(), self._states)
        if self._room is not None:
            self._room.forget()
        self.rows.open(items)
        if place is not None:
            self.go_back(place)
        for key in self._states.opened:
            self.opened.emit(key)

    def show_items(self, items: Sequence[Item]) -> None:
        """Show the conversation as it is now; touches only what changed."""
        self.rows.show(items)
        if self._room is not None and self._room.restore():
            self.refresh()

    def come_to_end(self) -> None:
        """The person did something whose effect is at the end: it is shown, and followed."""
        self.selection.clear()
        self.jump_to_latest()

    def hold_still(self, call_key: str) -> None:
        """The next `show_items` makes the card of a call lower: what is above it stays where it is."""
        if self._room is not None:
            self._room.hold_for_change(self.model.index_of(card_id(call_key)))

    def grow(self, item: AnswerItem) -> bool:
        """The last answer grew; False if more changed than its end."""
        return self.rows.grow(item)

    @property
    def visible_items(self) -> Sequence[Item]:
        """The items that are in the view."""
        return self.rows.items_of(self.transcript_layout.visible_messages)

    @property
    def has_text(self) -> bool:
        """There is something to select or to find."""
        return len(self.model) > 0

    @property
    def has_selection(self) -> bool:
        """Something is selected."""
        return self.selection.span is not None

    def copy(self) -> None:
        """Put what is selected on the clipboard, as text."""
        self.selection.copy_text()

    def copy_markdown(self) -> None:
        """Put the Markdown of what is selected on the clipboard."""
        self.selection.copy_markdown()

    def select_all(self) -> None:
        """Select everything."""
        self.selection.select_all()

    def search(self, *, is_back: bool = False, is_again: bool = False) -> None:
        """Open the find bar; `is_again`: go to the next hit, or the one before, if it is open."""
        if is_again and not self.find_bar.isHidden():
            if is_back:
                self.find_bar.previous()
            else:
                self.find_bar.next()
            return
        span = self.selection.span
        is_short = span is not None and span.start.message == span.end.message
        self.find_bar.open_bar(self.selection.text() if is_short else "")

    # What the reader wants.

    def _on_link_activated(self, address: str) -> None:
        if may_open(address):
            self.link_chosen.emit(address)

    def _act(self, message_id: str, name: str) -> None:
        index = self.model.index_of(message_id)
        if name == CONTINUE:
            self.continue_wanted.emit()
        elif name == THE_REST:
            self.rest_wanted.emit()
        elif index is not None:
            self._on_acted(index, name)

    def _on_acted(self, message: int, name: str) -> None:
        if name in (COPY_MARKDOWN, COPY_TEXT):
            self.selection.copy_message(message, as_markdown=name == COPY_MARKDOWN)
        elif name == READ:
            self.reader.open_reader(message)

    @property
    def reader(self) -> Reader:
        """Where a message is read with the keyboard; made when it is first wanted."""
        if self._reader is None:
            self._reader = Reader(self, self.selection)
        return self._reader

    def open_image(self, title: str, content: bytes) -> None:
        """Show an image in a window of its own."""
        ImageWindow(title, content, self.images.pool, self.window()).show()

    def open_text(self, title: str, text: str) -> None:
        """Show a text in a window of its own."""
        self._open_window(title, text)

    def _open_window(self, title: str, text: str) -> None:
        BigResultWindow(title, text, self._theme, self.window()).show()

    def _other_card(self, message: TranscriptMessage, is_footer: bool, parent: QWidget) -> QWidget | None:  # noqa: FBT001
        if is_footer and message.kind is MessageKind.USER:
            files = AttachedFiles(self._theme, parent)
            files.wanted.connect(self.attachment_wanted.emit)
            files.show_message(message)
            return files
        if isinstance(message.payload, Room):
            return RoomCard(message, parent)
        return self.questions.card_of(message)

    # Looks and places.

    def refresh(self) -> None:
        """Lay out; a new question comes into the view while the end is followed, and what is above a card
        that shrank stays where it is."""
        super().refresh()
        if self._room is None:
            return
        self._room.look()
        if self.questions.bring_first():
            super().refresh()
        self._show_pills()

    def _show_pills(self) -> None:
        """Something waits that is not in the view. In a low view one pill has to do, and none lies on what
        can be pressed or typed into."""
        asked = self.questions.messages
        is_waiting = bool(asked) and not set(asked) & set(self.transcript_layout.visible_messages)
        is_low = self.viewport().height() < _LOW
        self.pill.give_way(does=(is_waiting and is_low) or self._is_in_use(self.pill.body))
        above = self.pill.height() if self.pill.isVisible() else 0
        self._waiting_pill.show_waiting(is_shown=is_waiting, above=above)
        if is_waiting and self._is_in_use(self._waiting_pill.geometry()):
            self._waiting_pill.move_to_top()

    def _is_in_use(self, area: QRect) -> bool:
        """A button or a field of a card is there."""
        for card in self.cards.cards():
            if card.isVisible() and card.geometry().intersects(area):
                for part in (*card.findChildren(QPushButton), *card.findChildren(QTextEdit)):
                    corner = part.mapTo(self.viewport(), QPoint(0, 0))
                    if part.isVisible() and QRect(corner, part.size()).intersects(area):
                        return True
        return False

    def _on_layout_changed(self) -> None:
        bar = self.verticalScrollBar()
        if bar.isEnabled() != (bar.maximum() > 0):
            bar.setEnabled(bar.maximum() > 0)

    def _on_theme_changed(self) -> None:
        scale = self._theme.reading_scale
        self.set_looks(Looks.of(self._theme.tokens, scale, self.devicePixelRatioF()))
        self.selection.refresh_colours()

    def event(self, event: QEvent) -> bool:
        """Another screen may have other pixels."""
        if event.type() == QEvent.Type.DevicePixelRatioChange and self._is_made:
            self._on_theme_changed()
        return super().event(event)

    def moveEvent(self, event: QMoveEvent) -> None:
        """A banner above came or went: what is read stays where it is on the screen."""
        super().moveEvent(event)
        if not self.transcript_layout.follows_end:
            self.scroll_by(event.pos().y() - event.oldPos().y())
