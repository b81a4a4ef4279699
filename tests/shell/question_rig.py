"""A transcript with questions on the (offscreen) screen, and what a person and the flow do with them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from sophos_desktop.shell.chat.cards.card import Card
from sophos_desktop.shell.chat.cards.card_words import decided_status
from sophos_desktop.shell.chat.chat_style import chat_style
from sophos_desktop.shell.chat.item_kinds import AnswerItem, Item, ToolItem, UserItem
from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.shell.transcript.viewing import on_screen, settle, until_idle
from tests.support.fake_core_questions import FakeQuestion

LONG = {"path": "notes.txt", "text": "\n".join(f"line {number}" for number in range(40)), "more": ["x"] * 40}


def asked(name: str, why: Any = "approval", **args: Any) -> FakeQuestion:
    return FakeQuestion("c", "r", name, "files", "append", args or {"path": "notes.txt"}, why)


def call(question: FakeQuestion, status: str | None = None) -> ToolItem:
    status = status or ("uncertain" if question.why == "uncertain" else "asked")
    return ToolItem(question.tool_call_id, question.server, question.tool, '{"path": "notes.txt"}', status)


def turns(count: int) -> list[Item]:
    found: list[Item] = []
    for turn in range(count):
        found += (UserItem(f"u{turn}", f"Question {turn}"), AnswerItem(f"a{turn}", f"Answer {turn}.\n\n" * 4))
    return found


class Rig:
    """A transcript in a window, and the questions that are asked in it."""

    def __init__(self, width: int = 700, height: int = 500) -> None:
        self.seconds = 100.0
        self.window = QWidget()
        self.window.setObjectName("chatView")
        self.window.resize(width, height + 40)
        self.theme = Theme(self.window, (chat_style,))
        self.theme.choose("light")
        self.before = QPushButton("before", self.window)
        self.transcript = Transcript(self.theme, self.window, lambda: self.seconds)
        self.transcript.setGeometry(0, 40, width, height)
        self.questions = self.transcript.questions
        self.questions.set_tab_after(self.before)
        self.items: list[Item] = []
        self.questions.answered.connect(self._on_answered)
        self.window.show()
        assert QTest.qWaitForWindowExposed(self.window)
        self.window.activateWindow()

    def _on_answered(self, question: FakeQuestion, answer: Any) -> None:
        self.decide(question, decided_status(answer.kind))

    def open(self, items: Sequence[Item], *questions: FakeQuestion) -> None:
        """Another conversation."""
        self.questions.show_questions(questions)
        self.items = [*items]
        self.transcript.open_items(self.items)
        until_idle(self.transcript)

    def show(self, items: Sequence[Item], *questions: FakeQuestion) -> None:
        """The same conversation, read again."""
        self.questions.show_questions(questions)
        self.items = [*items]
        self.transcript.show_items(self.items)
        until_idle(self.transcript)

    def decide(self, question: FakeQuestion, status: str) -> None:
        """As the flow does it."""
        self.transcript.hold_still(question.tool_call_id)
        self.questions.settle(question)
        self.set_status(question.tool_call_id, status)

    def set_status(self, key: str, status: str) -> None:
        self.items = [
            replace(item, status=status) if isinstance(item, ToolItem) and item.key == key else item
            for item in self.items
        ]
        self.transcript.show_items(self.items)

    def card(self, number: int = 0) -> Card:
        return self.questions.cards[number]

    def is_seen(self, widget: QWidget) -> bool:
        return not widget.visibleRegion().isEmpty()

    def picture(self, rows: int) -> QImage:
        """The first rows of pixels of the view."""
        picture = on_screen(self.transcript)
        return picture.copy(0, 0, picture.width(), rows)


@contextmanager
def opened(height: int = 500) -> Iterator[Rig]:
    made = Rig(height=height)
    try:
        yield made
    finally:
        made.window.close()
        made.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        settle()


def kinds(rig: Rig) -> list[str]:
    """The cards of the view from the top, by object name; a group with its number of calls."""
    placed = sorted(
        (card for card in rig.transcript.cards.cards() if rig.is_seen(card)), key=lambda card: card.y()
    )
    return [
        f"{card.objectName()} {len(card.heads)}" if isinstance(card, ToolCard) else card.objectName()
        for card in placed
    ]
