"""Heights, distances, colours and type of the cards that ask are those of the look (§2-6)."""

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFontInfo, QImage, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QTextEdit, QToolButton, QWidget

from sophos_desktop.shell.chat.cards.card import Card
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from sophos_desktop.shell.transcript.cards.parts import MarkView
from tests.shell.question_rig import Rig, asked, call, opened
from tests.shell.transcript.viewing import settle, until_idle
from tests.support.card_window import part, press
from tests.support.fake_core_questions import FakeQuestion

BOTH = pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
URL = (
    "https://data.example.org/exports/2026/tariffs.csv?region=eu&columns=code,rate,valid_from&encoding=utf-8"
)
FETCH = FakeQuestion("c", "r", "m1:0", "fetch", "fetch", {"url": URL}, "approval", scope="data.example.org")


def show(rig: Rig, question: FakeQuestion, tokens: Tokens = LIGHT) -> Card:
    rig.theme.choose(tokens.name)
    rig.show([call(question)], question)
    card = rig.card()
    card_verdict(card)
    until_idle(rig.transcript)
    return card


def card_verdict(card: Card) -> None:
    """As the schema would say it."""
    tell = getattr(card, "show_verdict", None)
    if tell is not None:
        tell(card.question.args, None, is_known=True)


def place(card: Card, widget: QWidget) -> QRect:
    """Where a part is in its card."""
    return QRect(widget.mapTo(card, QPoint(0, 0)), widget.size())


def colour(picture: QImage, x: int, y: int) -> str:
    return QColor(picture.pixelColor(QPoint(x, y))).name().upper()


def label(card: Card, text: str) -> QLabel:
    return next(one for one in card.findChildren(QLabel) if one.text() == text)


def marks(card: Card) -> list[MarkView]:
    """The icons of its head."""
    return sorted(
        (one for one in card.findChildren(MarkView) if not card.body.isAncestorOf(one)),
        key=lambda one: one.x(),
    )


def type_of(widget: QWidget) -> tuple[str, int, int]:
    widget.ensurePolished()
    font = QFontInfo(widget.font())
    return font.family(), font.pixelSize(), font.weight()


def line_places(field: QTextEdit) -> list[int]:
    """Where each line on the screen has its caret, from the top."""
    cursor = QTextCursor(field.document())
    tops = []
    while True:
        tops.append(field.cursorRect(cursor).top())
        cursor.movePosition(QTextCursor.MoveOperation.EndOfLine)
        if not cursor.movePosition(QTextCursor.MoveOperation.NextCharacter):
            return tops


@BOTH
@pytest.mark.parametrize("why", ["approval", "uncertain"])
def test_a_card_that_asks_has_a_head_of_36_on_a_tint(tokens: Tokens, why: str) -> None:
    with opened(700) as rig:
        card = show(rig, asked("m1:0", why), tokens)
        picture = card.grab().toImage()
        x = 250
        assert [colour(picture, x, y) for y in (0, 1, 34, 35, 36, 37, 38)] == [
            tokens.warning_line,
            tokens.warning_soft,
            tokens.warning_soft,
            tokens.warning_soft,
            tokens.warning_line,
            tokens.raised,
            tokens.raised,
        ]
        assert colour(picture, x, card.height() - 1) == tokens.warning_line
        assert colour(picture, x, card.height() - 2) == tokens.raised
        tool, server = label(card, "append"), label(card, "files")
        assert (type_of(tool), type_of(server)) == (("JetBrains Mono", 12, 500), ("Inter", 13, 400))
        state = label(card, "Uncertain" if why == "uncertain" else "Waiting for you")
        assert type_of(state) == ("Inter", 12, 400)
        assert place(card, state).right() + 1 == card.width() - 1 - 12
        wrench, state_mark = marks(card)[:2]
        assert (place(card, wrench).left(), wrench.width(), state_mark.width()) == (1 + 30, 16, 14)


@BOTH
def test_an_approval_is_set_as_the_look_says(tokens: Tokens) -> None:
    with opened(700) as rig:
        card = show(rig, FETCH, tokens)
        question = label(card, "Allow this tool to open a web address?")
        address = part(card, QLabel, "approvalAddress")
        arguments, field = label(card, "Arguments"), part(card, QTextEdit, "approvalArguments")
        once, deny = part(card, QPushButton, "allowOnceButton"), part(card, QPushButton, "denyButton")
        parts = (question, address, arguments, field, once)
        places = [place(card, each) for each in parts]
        assert {each.left() for each in places} == {31, 31 + 14 + 8}
        assert places[0].top() == 37 + 10
        assert [after.top() - (before.bottom() + 1) for before, after in pairwise(places)] == [4, 8, 4, 12]
        assert [each.height() for each in places] == [20, 36, 16, 4 * 18 + 14, 28]
        assert card.height() - (places[-1].bottom() + 1) == 12 + 1
        assert card.width() - (places[3].right() + 1) == 12 + 1
        assert place(card, deny).top() == places[-1].top()
        assert type_of(question) == ("Inter", 13, 600)
        assert type_of(address) == ("Inter", 12, 400)
        assert f"font-weight: 600; color: {tokens.text}" in address.text()
        picture = card.grab().toImage()
        assert colour(picture, places[3].left() + 100, places[3].top()) == tokens.border_control
        assert colour(picture, places[4].left() + 5, places[4].top() + 5) == tokens.accent, (
            "it is the primary"
        )
        assert colour(picture, place(card, deny).left() + 5, places[4].top() + 5) == tokens.raised


def test_arguments_stand_in_lines_of_18_and_those_that_are_typed_too() -> None:
    with opened(700) as rig:
        card = show(rig, FETCH)
        field = part(card, QTextEdit, "approvalArguments")
        assert type_of(field) == ("JetBrains Mono", 12, 400)
        assert {below - above for above, below in pairwise(line_places(field))} == {18}
        before = field.height()
        field.setFocus()
        field.moveCursor(QTextCursor.MoveOperation.End)
        for _ in range(2):
            QTest.keyClick(field, Qt.Key.Key_Return)
        assert field.document().size().height() == before - 14 + 2 * 18 + 4
        assert field.height() == before + 2 * 18
        field.undo()
        field.undo()
        assert field.height() == before, "the lines are no step of their own"
        field.selectAll()
        QTest.keyClicks(field, "{}")
        field.setPlainText('{\n"a":\n1\n}')
        assert {below - above for above, below in pairwise(line_places(field))} == {18}
        assert not field.document().isUndoAvailable()


def test_a_field_takes_no_formats_from_what_is_pasted() -> None:
    with opened(700) as rig:
        card = show(rig, FETCH)
        assert not part(card, QTextEdit, "approvalArguments").acceptRichText()


@pytest.mark.parametrize(("percent", "line"), [(100, 18), (150, 28), (200, 36)])
def test_the_lines_and_icons_of_a_question_grow_with_the_zoom(percent: int, line: int) -> None:
    with opened(700) as rig:
        card = show(rig, FETCH)
        rig.theme.choose_zoom(percent)
        until_idle(rig.transcript)
        field = part(card, QTextEdit, "approvalArguments")
        assert {below - above for above, below in pairwise(line_places(field))} == {line}
        scale = rig.theme.tokens.type.interface.size / 13
        chevron = part(card, QToolButton, "approvalCardFold")
        assert chevron.iconSize().width() == round(14 * scale)
        sides = sorted({mark.width() for mark in card.findChildren(MarkView)})
        assert sides == [round(14 * scale), round(16 * scale)]
        wrench = marks(card)[0]
        assert place(card, wrench).left() == place(card, field).left()
        rig.theme.choose_zoom(100)
        until_idle(rig.transcript)
        assert field.sizeHint().height() == 4 * 18 + 14


def test_an_uncertain_call_is_set_closer_and_has_no_primary_button() -> None:
    with opened(700) as rig:
        card = show(rig, asked("m1:0", "uncertain"))
        assert card.height() == 1 + 35 + 1 + 10 + 20 + 4 + 18 + 8 + 28 + 12 + 1
        buttons = [one for one in card.findChildren(QPushButton) if one.isVisible()]
        assert {button.height() for button in buttons} == {28}
        assert not any(button.property("primary") == "true" for button in buttons)
        rig.seconds += 10
        press(card, "enterResultButton")
        settle()
        field, save = part(card, QTextEdit, "resultField"), part(card, QPushButton, "saveResultButton")
        assert place(card, save).top() - (place(card, field).bottom() + 1) == 12
        first = next(one for one in card.body.findChildren(QLabel) if one.isVisible())
        assert place(card, first).top() == 37 + 10
        assert field.height() == 2 * 18 + 14


@BOTH
def test_a_field_with_the_focus_or_a_fault_has_a_line_of_2_and_moves_nothing(tokens: Tokens) -> None:
    with opened(700) as rig:
        card = show(rig, FETCH, tokens)
        field = part(card, QTextEdit, "approvalArguments")
        spot, first = place(card, field), line_places(field)[0]
        rig.before.setFocus()
        field.setFocus()
        settle()
        picture = card.grab().toImage()
        x = spot.left() + 100
        assert [colour(picture, x, spot.top() + y) for y in range(3)] == [
            tokens.accent,
            tokens.accent,
            tokens.raised,
        ]
        assert (place(card, field), line_places(field)[0]) == (spot, first)
        rig.before.setFocus()
        field.setPlainText("{")
        settle()
        picture = card.grab().toImage()
        spot = place(card, field)
        assert [colour(picture, x, spot.top() + y) for y in range(3)] == [
            tokens.danger,
            tokens.danger,
            tokens.raised,
        ]
        assert colour(picture, spot.left() + 100, spot.bottom()) == tokens.danger


def test_the_reason_for_no_is_a_field_of_32() -> None:
    with opened(700) as rig:
        card = show(rig, asked("m1:0"))
        rig.seconds += 10
        press(card, "denyButton")
        settle()
        reason, deny = part(card, QLineEdit, "denyReason"), part(card, QPushButton, "denyButton")
        assert reason.height() == 32
        assert place(card, deny).top() - (place(card, reason).bottom() + 1) == 12
