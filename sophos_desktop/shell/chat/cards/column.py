"""The cards of one conversation, one below the other, scrolled where they would take too much room.

Invariant: no card that is not decided goes away while its question is open, and none takes the focus.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from time import monotonic
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from sophos_desktop.shell.chat.cards.approval_card import ApprovalCard
from sophos_desktop.shell.chat.cards.card import Answer, Card
from sophos_desktop.shell.chat.cards.card_style import card_style
from sophos_desktop.shell.chat.cards.careful_button import Readiness
from sophos_desktop.shell.chat.cards.uncertain_card import UncertainCard
from sophos_desktop.shell.facade import PendingDecision
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.measures import MEASURES

_GAP = 8
_SHARE_OF_VIEW = 0.7
_LEAST = 160
SCROLL_BAR_ROOM = MEASURES.scroll_bar_width + 2 * MEASURES.scroll_bar_inset


class CardColumn(QScrollArea):
    """Lives as long as its window, on the GUI thread."""

    answered = Signal(object, object)  # PendingDecision, Answer
    check_wanted = Signal(object, object)  # PendingDecision, arguments

    def __init__(
        self, theme: Theme, tab_after: QWidget, parent: QWidget, now: Callable[[], float] = monotonic
    ) -> None:
        """Hidden while there is no question. `tab_after`: the Tab key goes from there to the first card;
        `now` gives seconds that only grow."""
        super().__init__(parent)
        self.setObjectName("cardColumn")
        self.setAccessibleName("Calls that wait for you")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._readiness = Readiness(now)
        self._cards: dict[tuple[str, int], Card] = {}
        self._tab_after = tab_after
        self._most = _LEAST
        self._rows = QWidget(self)
        self._rows.setObjectName("cardRows")
        self._column = QVBoxLayout(self._rows)
        self._column.setContentsMargins(0, 0, SCROLL_BAR_ROOM, 0)
        self._column.setSpacing(_GAP)
        self._column.addStretch(1)
        self.setWidget(self._rows)
        self._rows.installEventFilter(self)
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    @property
    def cards(self) -> list[Card]:
        """All cards, from the top."""
        return list(self._cards.values())

    @property
    def conversation_id(self) -> str | None:
        """Whose cards they are."""
        return next((card.question.conversation_id for card in self.cards), None)

    @property
    def undecided(self) -> int:
        """How many are not decided."""
        return sum(not card.settled for card in self.cards)

    def show_questions(self, questions: Sequence[PendingDecision]) -> None:
        """One card each. What was decided of the same conversation stays while another question is open."""
        wanted = {(question.tool_call_id, question.attempt): question for question in questions}
        conversation_id = questions[0].conversation_id if questions else None
        for key, card in tuple(self._cards.items()):
            is_answered = bool(wanted) and not card.is_open
            if card.question.conversation_id != conversation_id or (key not in wanted and not is_answered):
                self._drop(key)
        for place, (key, question) in enumerate(wanted.items(), start=1):
            if key not in self._cards:
                self._add(key, question, f"{place} of {len(wanted)}" if len(wanted) > 1 else "")
        self.setVisible(bool(self._cards))
        self._fit()

    def _add(self, key: tuple[str, int], question: PendingDecision, place: str) -> None:
        card: Card
        if question.why == "uncertain":
            card = UncertainCard(question, self._readiness, self._theme, self._rows)
        else:
            card = ApprovalCard(question, place, self._readiness, self._theme, self._rows)
            card.check_wanted.connect(lambda args: self.check_wanted.emit(question, args))
        card.answered.connect(lambda answer: self.answered.emit(question, answer))
        self._cards[key] = card
        self._column.insertWidget(self._column.count() - 1, card)
        self._order_tabs()
        card.show()
        QAccessible.updateAccessibility(QAccessibleEvent(card, QAccessible.Event.Alert))

    def _order_tabs(self) -> None:
        """From the composer through the cards, from the top."""
        order = [self._tab_after, *(part for card in self.cards for part in card.tab_order)]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self._rows.isAncestorOf(now):
            self.ensureWidgetVisible(now, 0, _GAP)

    def _drop(self, key: tuple[str, int]) -> None:
        card = self._cards.pop(key)
        card.answered.disconnect()
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()

    def _card(self, question: PendingDecision) -> Card | None:
        return self._cards.get((question.tool_call_id, question.attempt))

    def settle(self, question: PendingDecision, answer: Answer) -> None:
        """It is decided."""
        card = self._card(question)
        if card is not None:
            card.settle(answer)

    def unlock(self, question: PendingDecision) -> None:
        """The answer was not taken."""
        card = self._card(question)
        if card is not None:
            card.unlock()

    def show_verdict(
        self, question: PendingDecision, args: Mapping[str, Any], problem: str | None, *, is_known: bool
    ) -> None:
        """What the schema says of changed arguments."""
        card = self._card(question)
        if isinstance(card, ApprovalCard):
            card.show_verdict(args, problem, is_known=is_known)

    def say_began(self, question: PendingDecision, began: datetime | None) -> None:
        """When an uncertain call was sent."""
        card = self._card(question)
        if isinstance(card, UncertainCard):
            card.say_began(began)

    def check_again(self) -> None:
        """More may be known of the tools now."""
        for card in self.cards:
            if isinstance(card, ApprovalCard):
                card.check()

    # Its size

    def _on_range_changed(self, _lowest: int, highest: int) -> None:
        """The cards are as wide with a scroll bar as without: it stands in a margin of their own."""
        self._column.setContentsMargins(0, 0, 0 if highest > 0 else SCROLL_BAR_ROOM, 0)

    def set_room(self, height: int) -> None:
        """How high the view around is."""
        self._most = max(_LEAST, round(height * _SHARE_OF_VIEW))
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A card has another height."""
        if watched is self._rows and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: Any) -> None:
        """Another width wraps other words."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        """As high as the cards, within bounds."""
        return QSize(200, min(self._needed(), self._most))

    def _needed(self) -> int:
        return max(1, self._column.heightForWidth(self.width()))

    def _fit(self) -> None:
        needed = self._needed()
        # A layout's own least height is that of words wrapped as narrowly as can be.
        self._rows.setMinimumHeight(needed)
        wanted = min(needed, self._most)
        if (self.minimumHeight(), self.maximumHeight()) != (wanted, wanted):
            self.setFixedHeight(wanted)

    def _on_theme_changed(self) -> None:
        self.setStyleSheet(card_style(self._theme.tokens))
