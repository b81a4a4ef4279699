"""Makes the cards of a conversation from what its messages carry.

Invariant: which widget is made depends on the payload alone. What only the rest of the window can do is told
through `CardHooks`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.cards.call_part import OpenWindow
from sophos_desktop.shell.transcript.cards.card_states import CardStates
from sophos_desktop.shell.transcript.cards.error_card import ErrorCard, ErrorFacts
from sophos_desktop.shell.transcript.cards.meta_line import MetaLine
from sophos_desktop.shell.transcript.cards.notice_line import NoticeLine
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts, ThinkingRow
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard, ToolGroup
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage

OtherCard = Callable[[TranscriptMessage, bool, QWidget], QWidget | None]


def _no_other(_message: TranscriptMessage, _is_footer: bool, _parent: QWidget) -> None:  # noqa: FBT001
    return None


@dataclass(frozen=True, slots=True)
class CardHooks:
    """`open_window` gets a title and a text; `act` the message's id and the action's name; `other` makes
    cards that are not known here (questions), or gives None; `now` tells the time, aware."""

    open_window: OpenWindow
    act: Callable[[str, str], None]
    other: OtherCard = _no_other
    now: Callable[[], datetime] | None = None


class CardFactory:
    """Lives as long as its window; what it makes belongs to the view."""

    def __init__(self, states: CardStates, hooks: CardHooks, theme: Theme) -> None:
        """`states` is cleared by its owner when another conversation opens."""
        self._states, self._hooks, self._theme = states, hooks, theme

    def __call__(self, message: TranscriptMessage, is_footer: bool, parent: QWidget) -> QWidget:  # noqa: FBT001
        """The card of a message, or its footer; already filled."""
        other = self._hooks.other(message, is_footer, parent)
        if other is not None:
            return other
        if is_footer:
            line = MetaLine(self._theme, parent, self._hooks.now)
            line.acted.connect(lambda name, key=message.id: self._hooks.act(key, name))
            line.show_message(message)
            return line
        card: ToolCard | ThinkingRow | ErrorCard | NoticeLine
        if isinstance(message.payload, ToolGroup):
            card = ToolCard(self._states, self._hooks.open_window, self._theme, parent)
        elif isinstance(message.payload, ThinkingFacts):
            card = ThinkingRow(self._states, self._theme, parent)
        elif isinstance(message.payload, ErrorFacts):
            card = ErrorCard(self._theme, parent)
            card.acted.connect(lambda name, key=message.id: self._hooks.act(key, name))
        else:
            card = NoticeLine(self._theme, parent)
            card.acted.connect(lambda name, key=message.id: self._hooks.act(key, name))
        card.show_message(message)
        return card
