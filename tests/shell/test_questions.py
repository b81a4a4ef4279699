"""Questions in the transcript: where their cards stand, what keeps them, and what keys do."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QTextEdit

from sophos_desktop.shell.chat.item_kinds import AnswerItem, UserItem
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.shell.question_rig import Rig, asked, call, kinds, opened, turns
from tests.shell.transcript.viewing import settle
from tests.support.card_window import part, press


@pytest.fixture(name="rig")
def _rig() -> Iterator[Rig]:
    with opened() as made:
        yield made


# Where they stand


def test_a_question_stands_at_its_call_and_the_others_share_their_frame(rig: Rig) -> None:
    first, second = asked("m:2"), asked("m:3", "uncertain")
    calls = [call(asked("m:0"), "ok"), call(asked("m:1"), "error"), call(first), call(second)]
    rig.open([UserItem("u", "Go"), *calls, call(asked("m:4"), "denied")], first, second)
    rig.transcript.scroll_to_message(0)
    settle()
    assert kinds(rig)[:3] == ["toolCard 2", "approvalCard", "uncertainCard"]
    tops = [card.y() for card in rig.questions.cards]
    assert tops == sorted(tops)
    assert {card.x() for card in rig.questions.cards} == {rig.transcript.geometry_of_text.column_left}


def test_a_decided_call_is_an_ordinary_card_in_the_same_place(rig: Rig) -> None:
    question = asked("m:0")
    rig.open([UserItem("u", "Go"), call(question)], question)
    top = rig.card().y()
    press(rig.card(), "allowOnceButton")
    settle()
    assert kinds(rig) == ["toolCard 1"]
    card = next(card for card in rig.transcript.cards.cards() if isinstance(card, ToolCard))
    assert (card.y(), card.heads[0].state_words) == (top, "Allowed by you")
    for status, words in (("running", "Running"), ("ok", "Done"), ("denied", "Denied by you")):
        rig.set_status("m:0", status)
        assert card.heads[0].state_words == words
        assert card.y() == top


def test_a_question_that_is_asked_again_has_a_new_card(rig: Rig) -> None:
    question = asked("m:0", "uncertain")
    rig.open([UserItem("u", "Go"), call(question)], question)
    before = rig.card()
    again = replace(question, attempt=1)
    rig.show(rig.items, again)
    assert rig.card() is not before
    assert kinds(rig) == ["uncertainCard"]
    assert rig.card().question.attempt == 1


def test_what_was_decided_is_not_asked_again_by_a_reading_that_began_before(rig: Rig) -> None:
    first, second = asked("m:0"), asked("m:1")
    rig.open([UserItem("u", "Go"), call(first), call(second)], first, second)
    press(rig.card(0), "allowOnceButton")
    rig.questions.show_questions((first, second))
    assert [question.tool_call_id for question in rig.questions.open] == ["m:1"]
    rig.questions.show_questions(())


# What keeps them


def test_what_was_typed_survives_scrolling_theme_and_reading_again(rig: Rig) -> None:
    question = asked("m:0")
    items = [UserItem("u", "Go"), call(question), *turns(150)]
    rig.open(items, question)
    rig.questions.go_to_first()
    card = rig.card()
    field = part(card, QTextEdit, "approvalArguments")
    field.setFocus(Qt.FocusReason.TabFocusReason)
    field.setPlainText('{"path": "mine.txt"}')
    rig.transcript.jump_to_latest()
    for index in range(0, len(rig.transcript.model), 3):
        rig.transcript.scroll_to_message(index)
        settle()
    rig.theme.choose("dark")
    rig.show([*items, AnswerItem("new", "More")], question)
    rig.questions.check_again()
    rig.transcript.jump_to_latest()
    assert not rig.is_seen(card)
    assert rig.window.focusWidget() is field
    rig.questions.go_to_first()
    settle()
    assert rig.card() is card
    assert rig.is_seen(field)
    assert field.toPlainText() == '{"path": "mine.txt"}'


def test_a_reason_that_is_being_typed_survives_a_reading_of_the_conversation(rig: Rig) -> None:
    question = asked("m:0")
    rig.open([*turns(3), call(question)], question)
    press(rig.card(), "denyButton")
    reason = part(rig.card(), QLineEdit, "denyReason")
    QTest.keyClicks(reason, "Not to")
    rig.show([*turns(3), call(question)], question)
    QTest.keyClicks(reason, "day")
    assert (rig.window.focusWidget(), reason.text()) == (reason, "Not today")


def test_cards_of_another_conversation_are_gone_with_it(rig: Rig) -> None:
    question = asked("m:0")
    rig.open([*turns(1), call(question)], question)
    card = rig.card()
    gone: list[bool] = []
    card.destroyed.connect(lambda *_what: gone.append(True))
    rig.questions.show_questions(())
    assert not card.body.isEnabled()
    rig.open(turns(2))
    settle()
    assert gone
    assert rig.questions.undecided == 0


def test_a_card_far_away_is_gone_when_its_question_is(rig: Rig) -> None:
    question = asked("m:0")
    rig.open([call(question), *turns(100)], question)
    gone: list[bool] = []
    rig.card().destroyed.connect(lambda *_what: gone.append(True))
    rig.show([call(question, "ok"), *turns(100)])
    settle()
    assert gone


# The keyboard


def test_tab_goes_through_the_cards_from_the_first_and_what_it_reaches_is_in_view(rig: Rig) -> None:
    questions = [asked("m:0"), asked("m:1", "uncertain"), asked("m:2")]
    rig.open([*(call(one) for one in questions), *turns(60)], *questions)
    rig.transcript.jump_to_latest()
    rig.before.setFocus()
    reached: list[str] = []
    for _ in range(11):
        focus = rig.window.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        settle()
        now = rig.window.focusWidget()
        assert now is not None
        assert rig.is_seen(now), now.objectName()
        reached.append(now.objectName())
    assert reached[0] == "approvalCardFold"
    assert reached[5] == "uncertainCardFold"
    assert reached[10] == "approvalCardFold"


def test_the_keyboard_goes_on_from_a_decided_question_to_the_next_and_then_home(rig: Rig) -> None:
    home: list[None] = []
    rig.questions.left.connect(lambda: home.append(None))
    questions = [asked("m:0", "uncertain"), asked("m:1", "uncertain")]
    rig.open([*turns(3), *(call(one) for one in questions)], *questions)
    for left in (1, 0):
        rig.seconds += 10
        button = part(rig.card(), QPushButton, "skipButton")
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, Qt.Key.Key_Return)
        assert rig.questions.undecided == left
        if left:
            focus = rig.window.focusWidget()
            assert focus is not None
            assert rig.card().isAncestorOf(focus)
            assert focus.objectName() == "uncertainCardFold"
    assert home == [None]


def test_who_decides_with_the_mouse_gets_the_keyboard_back_at_once(rig: Rig) -> None:
    home: list[None] = []
    rig.questions.left.connect(lambda: home.append(None))
    questions = [asked("m:0"), asked("m:1")]
    rig.open([*turns(3), *(call(one) for one in questions)], *questions)
    press(rig.card(1), "allowOnceButton")
    assert home == [None]


def test_a_mnemonic_decides_nothing_that_is_out_of_the_view(rig: Rig) -> None:
    question = asked("m:0", "uncertain")
    rig.open([call(question), *turns(60)], question)
    rig.transcript.jump_to_latest()
    rig.seconds += 10
    settle()
    QTest.keyClick(rig.before, Qt.Key.Key_S, Qt.KeyboardModifier.AltModifier)
    settle()
    assert rig.questions.undecided == 1
    assert rig.is_seen(rig.card())


# Assistive technology


def test_a_question_is_announced_and_is_a_child_of_its_call(rig: Rig) -> None:
    question = asked("m:0")
    rig.open([*turns(1), call(question)], question)
    place = rig.questions.messages[0]
    item = rig.transcript.accessibility.item(place)
    assert item.text(QAccessible.Text.Name) == "files · append wants to run"
    assert item.childCount() == 1
    assert item.child(0).object() is rig.card()
