"""Cards of a transcript on the (offscreen) screen."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication, QDeadlineTimer, QEventLoop, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.chat.chat_style import chat_style
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import Tokens
from sophos_desktop.shell.transcript.cards.card_states import CardStates
from sophos_desktop.shell.transcript.cards.factory import CardFactory, CardHooks
from sophos_desktop.shell.transcript.cards.facts import CallFacts
from sophos_desktop.shell.transcript.cards.tool_card import ToolGroup
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.viewing import settle

COLUMN = 600


def card_of(name: str, payload: object) -> TranscriptMessage:
    """A message that is a card."""
    return TranscriptMessage(name, MessageKind.CARD, payload=payload)


def calls(*facts: CallFacts, name: str = "calls") -> TranscriptMessage:
    """A card of tool calls."""
    return card_of(name, ToolGroup(facts))


@dataclass
class CardRig:
    """A view with cards, and what they asked for."""

    view: TranscriptView
    states: CardStates
    theme: Theme
    windows: list[tuple[str, str]] = field(default_factory=list)
    acts: list[tuple[str, str]] = field(default_factory=list)

    @property
    def model(self) -> TranscriptModel:
        """The conversation."""
        return self.view.model


@contextmanager
def cards_shown(
    messages: Sequence[TranscriptMessage], width: int = 700, height: int = 500, theme: str = "light"
) -> Iterator[CardRig]:
    """A view with the real factory in a window of its own."""
    host = QWidget()
    host.setObjectName("chatView")
    host.resize(width, height)
    following = Theme(host, (chat_style,))
    following.choose(theme)
    view = TranscriptView(Looks.of(following.tokens), host)
    view.resize(width, height)
    states = CardStates()
    rig = CardRig(view, states, following)
    hooks = CardHooks(
        open_window=lambda title, text: rig.windows.append((title, text)),
        act=lambda message, name: rig.acts.append((message, name)),
    )
    view.set_card_factory(CardFactory(states, hooks, following))
    model = TranscriptModel(view)
    model.reset(messages)
    view.set_model(model)
    host.show()
    assert QTest.qWaitForWindowExposed(host)
    host.activateWindow()
    settle()
    try:
        yield rig
    finally:
        host.close()
        host.deleteLater()
        settle()


def wait_for(condition: Callable[[], bool], milliseconds: int = 30_000) -> None:
    """Let events happen until `condition()` holds."""
    deadline = QDeadlineTimer(milliseconds)
    while not condition():
        assert not deadline.hasExpired(), "it did not happen in time"
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)


def mouse(
    widget: QWidget,
    kind: QMouseEvent.Type,
    point: QPoint,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """One event of the left button; of a move the button is held."""
    place = QPointF(point)
    is_move = kind == QMouseEvent.Type.MouseMove
    is_up = kind == QMouseEvent.Type.MouseButtonRelease
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    button, held = none if is_move else left, none if is_up else left
    event = QMouseEvent(kind, place, QPointF(widget.mapToGlobal(point)), button, held, modifiers)
    QApplication.sendEvent(widget, event)


def colours_of(tokens: Tokens, *names: str) -> set[str]:
    """Tokens as pixels are written."""
    return {str(getattr(tokens, name)).upper() for name in names}
