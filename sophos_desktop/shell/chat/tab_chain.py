"""Where the Tab key goes in a conversation: as it is read, from the top, and on to the message field.

Invariant: the chain is put in order when the key is pressed, since cards and banners come and go in between
and Qt puts what is new at the end of the window. Who is led to a card out of the view sees it.
"""

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.chat.cards.card import Card
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

_NO_FOCUS = Qt.FocusPolicy.NoFocus
_Place = tuple[int, ...]  # part of the column; within it: message, footer, then as it was made or is seen


class TabChain(QObject):
    """Lives as long as its column, on the GUI thread.

    The chain is written and never read: what `nextInFocusChain` gives becomes a child of the asked widget for
    PySide (6.11), and is invalid once that one is deleted; a viewport was, and took the window with it.
    """

    def __init__(self, column: QWidget, transcript: TranscriptView, home: QWidget) -> None:
        """`column` holds `transcript` and, below it, `home`, the message field with what belongs to it."""
        super().__init__(column)
        self._column = column
        self._transcript = transcript
        self._home = home
        self._above: tuple[QWidget, ...] = ()
        self._below: tuple[QWidget, ...] = ()
        self._asked: QWidget | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)

    def set_parts(self, above: tuple[QWidget, ...], below: tuple[QWidget, ...]) -> None:
        """What stands above the conversation and between it and the message field, from the top; any other
        part of the column comes right before `below`."""
        self._above, self._below = above, below

    def set_asked(self, part: QWidget) -> None:
        """What asks about the message: while it is there it comes right after the message field."""
        self._asked = part

    def add_above(self, part: QWidget) -> None:
        """What comes before everything in the column, wherever it stands."""
        self._above = (part, *self._above)

    def order(self, before: QWidget, after: QWidget) -> None:
        """Put everything between `before`, outside, and `after`, the first part of `home`."""
        cards = self._places_of_cards()
        ours = {one: self._place(one, cards) for one in self._ours()}
        for one, next_one in pairwise((before, *sorted(ours, key=lambda one: ours[one]), after)):
            QWidget.setTabOrder(one, next_one)
        if self._asked is not None and self._asked.isVisible():
            asked = [one for one in self._asked.findChildren(QWidget) if one.focusPolicy() != _NO_FOCUS]
            for one, next_one in pairwise((after, *asked)):
                QWidget.setTabOrder(one, next_one)

    def _ours(self) -> list[QWidget]:
        """What can have the focus in the column; what belongs to `home` has its own order."""
        found = dict.fromkeys(self._column.findChildren(QWidget))
        for part in self._above:
            found.update(dict.fromkeys(part.findChildren(QWidget)))
        return [
            one
            for one in found
            if one.focusPolicy() != _NO_FOCUS
            and not one.isWindow()
            and not (one is self._home or self._home.isAncestorOf(one))
            and not (self._asked is not None and self._asked.isAncestorOf(one))
        ]

    def _places_of_cards(self) -> dict[QWidget, _Place]:
        model = self._transcript.model
        cards = self._transcript.cards.by_key()
        indices = {model.key(index): index for index in range(len(model))} if cards else {}
        return {
            card: (len(self._above) + 1, indices.get(key, len(indices)), int(is_footer))
            for (key, is_footer), card in cards.items()
        }

    def _place(self, one: QWidget, cards: dict[QWidget, _Place]) -> _Place:
        transcript, after_cards = len(self._above), len(self._above) + 2
        if one is self._transcript:
            return (transcript,)
        for part in _with_parents(one):
            if part in cards:
                return *cards[part], *_within(part, one)
            if part in self._above:
                return (self._above.index(part),)
            if part in self._below:
                return (after_cards + 2 + self._below.index(part),)
            if part is self._transcript:
                return (after_cards,)
        return after_cards + 1, *_seen(self._column, one)

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        view = self._transcript
        is_mouse = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        if now is None or is_mouse or not view.isAncestorOf(now):
            return
        cards = self._places_of_cards()
        found = next((cards[part] for part in _with_parents(now) if part in cards), None)
        if found is None or found[1] >= len(view.model):
            return
        if found[1] not in view.transcript_layout.visible_messages:
            view.scroll_to_message(found[1])


def _within(card: QWidget, one: QWidget) -> _Place:
    """A question knows its order; the parts of other cards come as they are seen."""
    if isinstance(card, Card):
        order = card.tab_order
        return (order.index(one) if one in order else len(order),)
    return _seen(card, one)


def _seen(top: QWidget, one: QWidget) -> _Place:
    corner = one.mapTo(top, QPoint(0, 0))
    return corner.y(), corner.x()


def _with_parents(one: QWidget) -> Iterator[QWidget]:
    part: QWidget | None = one
    while part is not None:
        yield part
        part = part.parentWidget()
