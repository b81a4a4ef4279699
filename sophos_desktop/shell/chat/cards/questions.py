"""The open questions of one conversation and their cards, which stand in the transcript at their calls.

Invariant: a card is made when its question is asked and is the same widget until it is decided, wherever in
the conversation the reader is meanwhile; what was typed into it outlives a look at another conversation. No
card takes the focus by itself. What was decided here is not asked again, though a reading that began before
says so.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.chat.cards.approval_card import ApprovalCard
from sophos_desktop.shell.chat.cards.card import Card, Typed
from sophos_desktop.shell.chat.cards.careful_button import Readiness
from sophos_desktop.shell.chat.cards.uncertain_card import UncertainCard
from sophos_desktop.shell.facade import PendingDecision
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.cards.tool_card import AskedCall, card_id
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from sophos_desktop.shell.widgets.announcing import announce

_WAITING = "It waits for you: Shift+Tab from the message field"
_MARGIN = 12  # between what has the keyboard and the edge of the view
_Key = tuple[str, int]  # the call's id, how often it was attempted


class Questions(QObject):
    """Lives as long as its view, on the GUI thread."""

    answered = Signal(object, object)  # PendingDecision, Answer
    check_wanted = Signal(object, object)  # PendingDecision, arguments
    reshaping = Signal()  # a card is about to have another height
    changed = Signal()  # what is open
    left = Signal()  # the keyboard was in a card that was decided, and there is no other for it to go to

    def __init__(self, theme: Theme, view: TranscriptView, now: Callable[[], float] = monotonic) -> None:
        """Nothing is asked. `now` gives seconds that only grow."""
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._readiness = Readiness(now)
        self._cards: dict[_Key, Card] = {}
        self._decided: set[_Key] = set()
        self._typed: dict[tuple[str, _Key], Typed] = {}  # by conversation: what was not sent
        self._conversation_id: str | None = None
        self._tab_after: QWidget = view
        self._is_new = False
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)

    def set_tab_after(self, widget: QWidget) -> None:
        """The Tab key goes from there to the first card."""
        self._tab_after = widget

    @property
    def cards(self) -> list[Card]:
        """Those of the open questions, in the order they are read."""
        return list(self._cards.values())

    @property
    def open(self) -> list[PendingDecision]:
        """The open questions."""
        return [card.question for card in self.cards]

    @property
    def conversation_id(self) -> str | None:
        """Whose questions they are, or were."""
        return self._conversation_id

    @property
    def undecided(self) -> int:
        """How many are open."""
        return len(self._cards)

    # What is open

    def show_questions(self, questions: Sequence[PendingDecision]) -> None:
        """These are open now; a question that was open before keeps its card."""
        conversation_id = questions[0].conversation_id if questions else None
        if conversation_id != self._conversation_id:
            self._decided.clear()
        self._conversation_id = conversation_id
        wanted = {_key(question): question for question in questions}
        wanted = {key: question for key, question in wanted.items() if key not in self._decided}
        before = self._cards
        is_same = all(card.question.conversation_id == conversation_id for card in before.values())
        self._cards = {key: before.pop(key) for key in wanted if is_same and key in before}
        for card in before.values():
            self._drop(card)
        for place, (key, question) in enumerate(wanted.items(), start=1):
            if key not in self._cards:
                self._add(key, question, f"{place} of {len(wanted)}" if len(wanted) > 1 else "")
        self._cards = {key: self._cards[key] for key in wanted}
        for whose, key in tuple(self._typed):
            if whose == conversation_id and key not in self._cards:
                del self._typed[whose, key]  # it was decided elsewhere
        self._order_tabs()
        self._give_mnemonics(self._view.window().focusWidget())
        self.changed.emit()

    def _add(self, key: _Key, question: PendingDecision, place: str) -> None:
        card: Card
        parent = self._view.viewport()
        if question.why == "uncertain":
            card = UncertainCard(question, self._readiness, self._theme, parent)
        else:
            card = ApprovalCard(question, place, self._readiness, self._theme, parent)
            card.check_wanted.connect(lambda args: self.check_wanted.emit(question, args))
        card.answered.connect(lambda answer: self.answered.emit(question, answer))
        card.reshaping.connect(self.reshaping)
        card.reveal_wanted.connect(lambda part: self._bring_into_view(card, part))
        self._cards[key] = card
        typed = self._typed.get((question.conversation_id, key))
        if typed is not None:
            card.put_back(typed)
        self._is_new = True
        self._view.cards.keep(card)
        self._replace_told(question)
        announce(card, f"{place + ': ' if place else ''}{card.accessibleName()}. {_WAITING}")

    def _replace_told(self, question: PendingDecision) -> None:
        """Whatever card the call has in the view, it is not this one."""
        message = self._view.model.index_of(card_id(question.tool_call_id))
        told = None if message is None else self._view.card(message)
        if message is not None and told is not None:
            self._view.cards.make_again(told)
            self._view.transcript_layout.rows.remeasure_widgets(message)
            self._view.schedule()

    def _drop(self, card: Card) -> None:
        question = card.question
        if card.typed != Typed() and _key(question) not in self._decided:
            self._typed[question.conversation_id, _key(question)] = card.typed
        card.withdraw()
        card.answered.disconnect()
        self._view.cards.let_go(card)
        if any(card.question.tool_call_id == key[0] for key in self._cards):
            self._view.cards.make_again(card)

    def card_of(self, message: TranscriptMessage) -> QWidget | None:
        """The card of the call that a message is of, if it is asked about."""
        if not isinstance(message.payload, AskedCall):
            return None
        call_key = message.payload.calls[0].key
        return next((card for (name, _), card in self._cards.items() if name == call_key), None)

    def settle(self, question: PendingDecision) -> None:
        """It is decided: the card goes, and the keyboard that was in it goes on to the next."""
        self._decided.add(_key(question))
        self._typed.pop((question.conversation_id, _key(question)), None)
        card = self._cards.pop(_key(question), None)
        if card is None:
            return
        focus = self._view.window().focusWidget()
        is_ours = focus is None or focus is self._view or self._view.isAncestorOf(focus)
        self._drop(card)
        self._give_mnemonics(focus)
        self.changed.emit()
        if card.had_focus and is_ours:
            if self._cards and not self._readiness.is_by_mouse:
                next(iter(self._cards.values())).take_focus()
            else:
                self.left.emit()

    # One question

    def unlock(self, question: PendingDecision) -> None:
        """The answer was not taken."""
        card = self._cards.get(_key(question))
        if card is not None:
            card.unlock()

    def show_verdict(
        self, question: PendingDecision, args: Mapping[str, Any], problem: str | None, *, is_known: bool
    ) -> None:
        """What the schema says of changed arguments."""
        card = self._cards.get(_key(question))
        if isinstance(card, ApprovalCard):
            card.show_verdict(args, problem, is_known=is_known)

    def say_began(self, question: PendingDecision, began: datetime | None) -> None:
        """When an uncertain call was sent."""
        card = self._cards.get(_key(question))
        if isinstance(card, UncertainCard):
            card.say_began(began)

    def say_places(self, asked: Sequence[str]) -> None:
        """The calls that were asked about together, decided ones too, by their ids, in their order."""
        for card in self.cards:
            call_key = card.question.tool_call_id
            if call_key in asked and len(asked) > 1:
                card.say_place(f"{asked.index(call_key) + 1} of {len(asked)}")

    def check_again(self) -> None:
        """More may be known of the tools now."""
        for card in self.cards:
            if isinstance(card, ApprovalCard):
                card.check()

    # Where they are

    @property
    def messages(self) -> list[int]:
        """The messages that are questions, as far as they are in the model already."""
        model = self._view.model
        found = (model.index_of(card_id(card.question.tool_call_id)) for card in self.cards)
        shown = [index for index in found if index is not None]
        return sorted(index for index in shown if isinstance(model.message(index).payload, AskedCall))

    def bring_first(self) -> bool:
        """Called after each layout: while the end is followed, the first question that is new is in the view
        from its top. True if that moved the anchor."""
        layout = self._view.transcript_layout
        if not self._is_new or not self._view.isVisible():  # hidden, it has not its size yet
            return False
        if not layout.follows_end:
            self._is_new = False
            return False
        first = next(iter(self.messages), None)
        if first is None:
            return False
        placed = layout.place(first, 0)
        if placed is not None and placed.top >= 0:
            return False  # the cards may still grow
        self._is_new = False
        layout.go_to(first, 0, 0)
        return True

    def go_to_first(self) -> None:
        """Show the first question."""
        first = next(iter(self.messages), None)
        if first is not None:
            self._view.scroll_to_message(first)

    def _order_tabs(self) -> None:
        """From the composer through the cards, from the top."""
        order = [self._tab_after, *(part for card in self.cards for part in card.tab_order)]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _give_mnemonics(self, focus: QWidget | None) -> None:
        """To the card that the keyboard is in, else to the first."""
        cards = self.cards
        inside = (card for card in cards if focus is not None and card.isAncestorOf(focus))
        chosen = next(inside, cards[0] if cards else None)
        for card in cards:
            card.give_mnemonics(are_given=card is chosen, decide_from_outside=len(cards) == 1)

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        if now is not None:
            self._give_mnemonics(now)
        if now is None or QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # what is pressed must not move away from under the pointer
        for card in self.cards:
            if card.isAncestorOf(now):
                self._bring_into_view(card, now)

    def _bring_into_view(self, card: Card, part: QWidget) -> None:
        view = self._view
        message = view.model.index_of(card_id(card.question.tool_call_id))
        if message is None:
            return
        if message not in view.transcript_layout.visible_messages:
            view.scroll_to_message(message)
        top = part.mapTo(view.viewport(), QPoint(0, 0)).y()
        below = top + part.height() + _MARGIN - view.viewport().height()
        view.scroll_by(min(max(0, below), top - _MARGIN) if below > 0 else min(0, top - _MARGIN))


def _key(question: PendingDecision) -> _Key:
    return question.tool_call_id, question.attempt
