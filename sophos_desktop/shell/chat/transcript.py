"""The painted transcript in the window: the view, what it shows, and all that helps to read it.

Invariant: it decides nothing: what the reader wants is told by signals. Links are told of, never followed.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QGuiApplication, QMoveEvent
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.chat.item_kinds import AnswerItem, Item
from sophos_desktop.shell.chat.shown_rows import ShownRows
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.accessible import Accessibility
from sophos_desktop.shell.transcript.cards.big_result import BigResultWindow
from sophos_desktop.shell.transcript.cards.card_states import CardStates
from sophos_desktop.shell.transcript.cards.factory import CardFactory, CardHooks
from sophos_desktop.shell.transcript.cards.meta_line import CONTINUE, COPY_MARKDOWN, COPY_TEXT, READ
from sophos_desktop.shell.transcript.find_bar import FindBar
from sophos_desktop.shell.transcript.looks import Looks
from sophos_desktop.shell.transcript.markdown import may_open
from sophos_desktop.shell.transcript.reader import Reader
from sophos_desktop.shell.transcript.selection import Selection
from sophos_desktop.shell.transcript.transcript_model import TranscriptModel
from sophos_desktop.shell.transcript.transcript_view import TranscriptView

# The bar always has its room, so that the column never moves; it shows nothing while all is in the view.
_NOTHING_TO_SCROLL = "QScrollBar::handle:vertical:disabled { background: transparent; }"


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
    edit_changed = Signal()  # what can be selected, copied and found
    opened = Signal(str)  # the key of a call or a thinking that the reader opened

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__(Looks.of(theme.tokens, 1.0, parent.devicePixelRatioF()), parent)
        self._theme = theme
        model = TranscriptModel(self)
        self.set_model(model)
        self.rows = ShownRows(model)
        self._states = _CallStates(self.opened.emit)
        hooks = CardHooks(self._open_window, self._act, answers_again=False)
        self.set_card_factory(CardFactory(self._states, hooks, theme))
        self.selection = Selection(self)
        self.find_bar = FindBar(self, theme)
        self.reader = Reader(self, self.selection)
        self.accessibility = Accessibility(self, self.selection)
        self.accessibility.acted.connect(self._on_acted)
        for changed in (model.was_reset, model.inserted, model.removed, self.selection.changed):
            changed.connect(lambda *_what: self.edit_changed.emit())
        self.linkActivated.connect(self._on_link_activated)
        self.copyRequested.connect(lambda text: QGuiApplication.clipboard().setText(text))
        theme.changed.connect(self._on_theme_changed)
        self.verticalScrollBar().setStyleSheet(_NOTHING_TO_SCROLL)
        self.layoutChanged.connect(self._on_layout_changed)

    def open_items(self, items: Sequence[Item]) -> None:
        """Show another conversation, from its end."""
        self._states.clear()
        self.rows.open(items)

    def show_items(self, items: Sequence[Item]) -> None:
        """Show the conversation as it is now; touches only what changed."""
        self.rows.show(items)

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
        elif index is not None:
            self._on_acted(index, name)

    def _on_acted(self, message: int, name: str) -> None:
        if name in (COPY_MARKDOWN, COPY_TEXT):
            self.selection.copy_message(message, as_markdown=name == COPY_MARKDOWN)
        elif name == READ:
            self.reader.open_reader(message)

    def _open_window(self, title: str, text: str) -> None:
        BigResultWindow(title, text, self._theme, self.window()).show()

    # Looks and places.

    def _on_layout_changed(self) -> None:
        bar = self.verticalScrollBar()
        if bar.isEnabled() != (bar.maximum() > 0):
            bar.setEnabled(bar.maximum() > 0)

    def _on_theme_changed(self) -> None:
        self.set_looks(Looks.of(self._theme.tokens, self.looks.zoom, self.devicePixelRatioF()))
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
