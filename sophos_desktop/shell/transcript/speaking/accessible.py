"""The conversation for assistive technology: a list of messages, each with a name, its text and its actions.

Invariant: what a client asks is answered from the model, whether or not it is laid out. No exception leaves a
method, and `interface_cast` gives nothing but a VoidPtr: anything else ends the process (PySide 6.11).
"""

from typing import Any

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QApplication
from shiboken6 import isValid

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.transcript.cards.error_card import ErrorFacts
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.speaking.accessible_message import READ, AccessibleMessage, guarded
from sophos_desktop.shell.transcript.speaking.message_walk import MessageWalk
from sophos_desktop.shell.transcript.speaking.spoken_text import SpokenTexts
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from sophos_desktop.shell.widgets.announcing import announce

ANSWER_FINISHED = "Answer finished"
MESSAGE_SENT = "Message sent"
_ENDED = {
    MessageState.COMPLETE: ANSWER_FINISHED,
    MessageState.INCOMPLETE: "Answer ended early",
    MessageState.STOPPED: "Answer stopped",
}
_HOW_TO = "Up and Down go from message to message, Enter reads one"
_INSTALLED = "transcriptAccessibility"


class Accessibility(QObject):
    """Belongs to its view; hands out the view's messages and tells of changes."""

    acted = Signal(int, str)  # message, the action's name
    announced = Signal(str)

    def __init__(self, view: TranscriptView, selection: Selection) -> None:
        """`selection` is moved when a client puts the caret."""
        super().__init__(view)
        self.view = view
        self.selection = selection
        self.scratch = ScratchDocuments(view)
        self.texts = SpokenTexts(view.model, self.scratch)
        self._list: QAccessibleInterface | None = None
        self._items: dict[int, AccessibleMessage] = {}  # by the message's key
        self._open: set[int] = set()
        self._sent: str | None = None  # since the last answer ended
        self._indices: dict[int, int] | None = None  # by key; made when asked for
        self.walk = MessageWalk(view, selection)
        self.walk.moved.connect(self._on_moved)
        self.walk.read_wanted.connect(lambda message: self.acted.emit(message, READ))
        view.setAccessibleName("Conversation")
        view.setAccessibleDescription(_HOW_TO)
        model = view.model
        model.was_reset.connect(self._on_reset)
        model.inserted.connect(self._on_inserted)
        model.removed.connect(self._on_removed)
        model.grew.connect(lambda message, _changed: self._look_at(message))
        model.changed.connect(self._look_at)
        self._note_open()
        items = self._items
        view.destroyed.connect(lambda: _forget(items, set(items)))
        _install()

    def list_interface(self) -> QAccessibleInterface:
        """The interface of the view, kept alive here."""
        if self._list is None:
            self._list = AccessibleTranscript(self.view, self)
        return self._list

    def item(self, message: int) -> AccessibleMessage:
        """The interface of a message, made when it is first asked for."""
        key = self.view.model.key(message)
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = AccessibleMessage(self, key)
            QAccessible.registerAccessibleInterface(item)
        return item

    @property
    def item_count(self) -> int:
        """How many messages somebody has asked for."""
        return len(self._items)

    def index_of(self, key: int) -> int | None:
        """The index of the message with a key."""
        if self._indices is None:
            model = self.view.model
            self._indices = {model.key(index): index for index in range(len(model))}
        return self._indices.get(key)

    def announce(self, words: str) -> None:
        """Say something, when the reader is done with what is being said."""
        self.announced.emit(words)
        announce(self.view, words)

    def is_current(self, key: int) -> bool:
        """Whether the keyboard is at the message with a key."""
        current = self.walk.current
        return current is not None and self.view.hasFocus() and self.view.model.key(current) == key

    def _on_moved(self, message: int) -> None:
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(self.item(message), QAccessible.Event.Focus))

    # Changes.

    def _look_at(self, message: int) -> None:
        """Tell of an answer that is whole now; nothing is told of the tokens on the way, or of words before
        a tool call."""
        model = self.view.model
        key = model.key(message)
        if model.is_open(message):
            self._open.add(key)
        elif key in self._open:
            self._open.discard(key)
            told = model.message(message)
            self._sent = None
            if told.ends_turn:
                self.announce(_ENDED[told.state])

    def _on_inserted(self, first: int, last: int) -> None:
        self._indices = None
        model = self.view.model
        for message in range(first, last + 1):
            if model.message(message).kind is MessageKind.ANSWER and model.is_open(message):
                self._open.add(model.key(message))
        self._tell_of_new(first, last)
        if QAccessible.isActive() and last - first < 8:
            for message in range(first, last + 1):
                QAccessible.updateAccessibility(
                    QAccessibleEvent(self.item(message), QAccessible.Event.ObjectCreated)
                )

    def _tell_of_new(self, first: int, last: int) -> None:
        """What came at the end: what was sent, and an error."""
        model = self.view.model
        if last + 1 < self.walk.count or last - first > 1:
            return
        for message in (model.message(index) for index in range(first, last + 1)):
            if message.kind is MessageKind.USER:
                if message.text != self._sent:  # what was typed is replaced by what was stored
                    self.announce(MESSAGE_SENT)
                self._sent = message.text
            elif isinstance(message.payload, ErrorFacts):
                self._sent = None
                self.announce(message.payload.words)

    def _on_removed(self, _first: int, _last: int) -> None:
        self._indices = None
        model = self.view.model
        alive = {model.key(index) for index in range(len(model))}
        self._open &= alive
        _forget(self._items, set(self._items) - alive)

    def _on_reset(self) -> None:
        self._indices = None
        self._open.clear()
        _forget(self._items, set(self._items))
        self._note_open()

    def _note_open(self) -> None:
        """Whose end is to be announced."""
        model = self.view.model
        self._open.update(model.key(index) for index in range(len(model)) if model.is_open(index))


def _forget(items: dict[int, AccessibleMessage], keys: set[int]) -> None:
    for key in keys:
        item = items.pop(key)
        item.close()
        QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(item))


def _install() -> None:
    """Let Qt ask us about views; once an application."""
    application = QApplication.instance()
    if application is not None and not application.property(_INSTALLED):
        application.setProperty(_INSTALLED, True)
        QAccessible.installFactory(_interface_of)


def _interface_of(_class_name: str, about: QObject | None) -> QAccessibleInterface | None:
    """What Qt asks for each object: ours for a view that has an `Accessibility`."""
    if not isinstance(about, TranscriptView) or not isValid(about):
        return None
    owner = about.findChild(Accessibility)
    return owner.list_interface() if isinstance(owner, Accessibility) else None


class AccessibleTranscript(QAccessibleWidget):
    """Belongs to its `Accessibility`."""

    def __init__(self, view: TranscriptView, owner: Accessibility) -> None:
        """A list."""
        super().__init__(view, QAccessible.Role.List, "Conversation")
        self._view = view
        self._owner = owner

    @guarded(0)
    def childCount(self) -> int:
        """All messages, laid out or not."""
        return self._owner.walk.count

    @guarded(None)
    def child(self, index: int) -> Any:
        """The message at `index`."""
        return self._owner.item(index) if 0 <= index < self._owner.walk.count else None

    @guarded(-1)
    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Where a message is."""
        if isinstance(child, AccessibleMessage):
            index = self._owner.index_of(child.key)
            return -1 if index is None else index
        return -1

    @guarded(None)
    def childAt(self, x: int, y: int) -> Any:
        """The message at a point of the screen."""
        for message in self._view.transcript_layout.visible_messages:
            item = self._owner.item(message)
            if item.rect().contains(x, y):
                return item
        return None

    @guarded(None)
    def focusChild(self) -> Any:
        """The message, card or reader that has the keyboard."""
        focus = QApplication.focusWidget()
        current = self._owner.walk.current
        if focus is self._view and current is not None:
            return self._owner.item(current)
        if focus is None or focus is self._view or not self._view.isAncestorOf(focus):
            return None
        return QAccessible.queryAccessibleInterface(focus)

    @guarded(QRect())
    def rect(self) -> QRect:
        """On the screen."""
        return QRect(self._view.mapToGlobal(self._view.rect().topLeft()), self._view.size())
