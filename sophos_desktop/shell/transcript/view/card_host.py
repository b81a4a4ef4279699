"""Keeps the widgets of cards: real children of the viewport, made when they come near the view.

Invariant: a card that is not in the view is moved away, not hidden (hiding would take its keyboard focus); at
most `_MOST_KEPT` are alive besides those in the view, and the one with the focus stays. A card that somebody
keeps (an open question, with what was typed into it) is never thrown away before it is let go.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol, cast

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage, TranscriptModel

_MOST_KEPT = 60
_AWAY = -9_000

CardFactory = Callable[[TranscriptMessage, bool, QWidget], QWidget]
"""Makes the widget of a message: (message, is_footer, parent). The widget has `show_message(message)`, which
is called when the message changed, and calls `updateGeometry` when its height changes. Its height is
heightForWidth, or sizeHint where that is not used. It may be thrown away while it is far from the view: what
must last longer (open, closed) is kept by the factory, by the message's id. A message whose payload becomes
one of another kind gets another widget."""

CardKey = tuple[int, bool]  # the message's key, is_footer


class Card(Protocol):
    """What the host asks of a card besides being a QWidget."""

    def show_message(self, message: TranscriptMessage) -> None:
        """The message is this now."""
        ...


def no_cards(message: TranscriptMessage, is_footer: bool, parent: QWidget) -> QWidget:  # noqa: FBT001
    """The factory in force until another one is set: empty widgets."""
    return _NoCard(parent)


class _NoCard(QWidget):
    """Nothing to see."""

    def show_message(self, message: TranscriptMessage) -> None:
        """Nothing to do."""


class CardHost:
    """Lives as long as its view, on the GUI thread."""

    def __init__(self, viewport: QWidget) -> None:
        """No card yet."""
        self._viewport = viewport
        self._factory: CardFactory = no_cards
        self._cards: OrderedDict[CardKey, QWidget] = OrderedDict()
        self._shown: dict[CardKey, TranscriptMessage] = {}
        self._kept: list[QWidget] = []

    def keep(self, card: QWidget) -> None:
        """Hold a card that its owner made and the factory will give, in the view or not, until `let_go`."""
        card.setParent(self._viewport)
        card.move(0, _AWAY)
        card.show()
        self._kept.append(card)

    def let_go(self, card: QWidget) -> None:
        """Its owner is done with it: it goes with its message."""
        self._kept.remove(card)
        if card not in self._cards.values():
            card.move(card.x(), _AWAY)
            card.deleteLater()

    def make_again(self, card: QWidget) -> None:
        """Throw a card away that is no longer what the factory would give for its message."""
        for key in [key for key, one in self._cards.items() if one is card]:
            self._drop(key)

    def set_factory(self, factory: CardFactory) -> None:
        """Make cards with another factory."""
        self._factory = factory
        self.clear()

    def clear(self) -> None:
        """Throw all cards away."""
        for key in list(self._cards):
            self._drop(key)

    def forget_missing(self, model: TranscriptModel) -> None:
        """Throw the cards of messages away that are not there any more."""
        alive = {model.key(index) for index in range(len(model))}
        for key in [key for key in self._cards if key[0] not in alive]:
            self._drop(key)

    def card(self, key: int, *, is_footer: bool) -> QWidget | None:
        """The widget if it is there."""
        return self._cards.get((key, is_footer))

    def cards(self) -> list[QWidget]:
        """All widgets that are there."""
        return list(self._cards.values())

    def by_key(self) -> dict[CardKey, QWidget]:
        """All widgets that are there, by their messages."""
        return dict(self._cards)

    def changes_in_use(self) -> bool:
        """True if the card that the pointer or the keyboard is in is to have another height."""
        focus = QApplication.focusWidget()
        used = (c for c in self.cards() if c.underMouse() or (focus is not None and c.isAncestorOf(focus)))
        return any(_wanted_height(card, card.width()) != card.height() for card in used)

    def ids(self) -> set[str]:
        """The messages that have a widget."""
        return {message.id for message in self._shown.values()}

    def height(self, model: TranscriptModel, message: int, width: int, *, is_footer: bool) -> int:
        """The height of a card in a column of `width`; makes it or brings it up to date if need be."""
        key = (model.key(message), is_footer)
        shown = model.message(message)
        if key in self._cards and type(self._shown[key].payload) is not type(shown.payload):
            self._drop(key)
        card = self._cards.get(key)
        if card is None:
            card = self._factory(shown, is_footer, self._viewport)
            card.setParent(self._viewport)
            card.move(0, _AWAY)
            card.show()
            self._cards[key] = card
        elif self._shown[key] != shown:
            cast(Card, card).show_message(shown)
        self._shown[key] = shown
        self._cards.move_to_end(key)
        return _wanted_height(card, width)

    def place(self, places: dict[CardKey, QRect]) -> None:
        """Move the cards that are in the view to their places and the others away."""
        for key, card in self._cards.items():
            place = places.get(key)
            if place is not None:
                if card.geometry() != place:
                    card.setGeometry(place)
            elif card.y() != _AWAY:
                card.move(card.x(), _AWAY)
        for card in self._kept:
            # Whoever scrolls the viewport moves those along that no message has asked for yet.
            if card.y() != _AWAY and card not in self._cards.values():
                card.move(card.x(), _AWAY)
        self._keep_few(places)

    def _keep_few(self, places: dict[CardKey, QRect]) -> None:
        spare = len(self._cards) - len(places) - _MOST_KEPT
        if spare <= 0:
            return
        focus = QApplication.focusWidget()
        for key in list(self._cards):
            if spare <= 0:
                break
            card = self._cards[key]
            has_focus = focus is not None and (focus is card or card.isAncestorOf(focus))
            if key in places or card in self._kept or has_focus:
                continue
            self._drop(key)
            spare -= 1

    def _drop(self, key: CardKey) -> None:
        card = self._cards.pop(key)
        self._shown.pop(key, None)
        card.move(card.x(), _AWAY)
        if card not in self._kept:
            card.deleteLater()


def _wanted_height(card: QWidget, width: int) -> int:
    height = card.heightForWidth(width) if card.hasHeightForWidth() else card.sizeHint().height()
    return max(0, height)
