"""What a person typed into a card outlives a look elsewhere, and a mnemonic decides only where they are."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QTextEdit

from sophos_desktop.shell.chat.cards.card import Answer
from tests.shell.question_rig import Rig, asked, call, opened, turns
from tests.shell.transcript.card_rig import wait_for
from tests.shell.transcript.viewing import settle
from tests.support.card_window import part, press
from tests.support.fake_core_questions import FakeQuestion

ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture(name="rig")
def _rig() -> Iterator[Rig]:
    with opened() as made:
        yield made


def show(rig: Rig, *questions: FakeQuestion) -> None:
    rig.open([*turns(1), *(call(one) for one in questions)], *questions)
    rig.seconds += 10


def look_elsewhere(rig: Rig) -> None:
    """At a conversation that asks something too, as a window does it: first there is nothing."""
    other = replace(asked("m:0"), conversation_id="other")
    rig.questions.show_questions(())
    show(rig, other)
    rig.questions.show_questions(())
    settle()


def text_of(rig: Rig) -> str:
    return part(rig.card(), QTextEdit, "approvalArguments").toPlainText()


def test_changed_arguments_and_a_reason_are_there_again_and_are_what_is_sent(rig: Rig) -> None:
    question = asked("m:0")
    show(rig, question)
    part(rig.card(), QTextEdit, "approvalArguments").setPlainText('{"path": "mine.txt"}')
    press(rig.card(), "denyButton")
    QTest.keyClicks(part(rig.card(), QLineEdit, "denyReason"), "Not today")
    look_elsewhere(rig)
    show(rig, question)
    assert part(rig.card(), QLineEdit, "denyReason").text() == "Not today"
    assert rig.is_seen(part(rig.card(), QLineEdit, "denyReason"))
    press(rig.card(), "denyBackButton")
    assert text_of(rig) == '{"path": "mine.txt"}'
    answers: list[Answer] = []
    rig.questions.answered.connect(lambda _question, given: answers.append(given))
    rig.seconds += 10
    press(rig.card(), "allowOnceButton")
    assert [given.args for given in answers] == [{"path": "mine.txt"}]


def test_a_result_that_is_being_entered_is_there_again(rig: Rig) -> None:
    question = asked("m:0", "uncertain")
    show(rig, question)
    press(rig.card(), "enterResultButton")
    part(rig.card(), QTextEdit, "resultField").setPlainText("It ran")
    look_elsewhere(rig)
    show(rig, question)
    assert part(rig.card(), QTextEdit, "resultField").toPlainText() == "It ran"
    assert rig.is_seen(part(rig.card(), QPushButton, "saveResultButton"))


def test_ctrl_and_enter_use_the_result_that_was_entered_and_no_empty_one(rig: Rig) -> None:
    answers: list[Answer] = []
    rig.questions.answered.connect(lambda _question, given: answers.append(given))
    show(rig, asked("m:0", "uncertain"))
    press(rig.card(), "enterResultButton")
    field = part(rig.card(), QTextEdit, "resultField")
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(field, Qt.Key.Key_Return, control)
    QTest.keyClicks(field, "It ran")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert answers == []
    QTest.keyClick(field, Qt.Key.Key_Return, control)
    assert [(given.kind, given.result) for given in answers] == [("result", "It ran\n")]


def test_what_was_typed_is_of_that_question_alone(rig: Rig) -> None:
    question = asked("m:0")
    show(rig, question)
    original = text_of(rig)
    part(rig.card(), QTextEdit, "approvalArguments").setPlainText('{"path": "mine.txt"}')
    show(rig, replace(question, conversation_id="other"))
    assert text_of(rig) == original
    show(rig, replace(question, attempt=1))
    assert text_of(rig) == original
    show(rig, question)
    assert text_of(rig) == original  # it was asked anew meanwhile: the question before is no more


def test_what_was_typed_goes_when_it_is_decided(rig: Rig) -> None:
    question = asked("m:0")
    show(rig, question)
    original = text_of(rig)
    part(rig.card(), QTextEdit, "approvalArguments").setPlainText('{"path": "mine.txt"}')
    press(rig.card(), "allowOnceButton")
    look_elsewhere(rig)
    show(rig, question)
    assert text_of(rig) == original


# Mnemonics


def shortcuts(rig: Rig) -> list[bool]:
    """Which cards have mnemonics."""
    empty = QKeySequence()
    return [part(card, QPushButton, "allowOnceButton").shortcut() != empty for card in rig.questions.cards]


def test_with_several_cards_a_mnemonic_leads_to_the_first_and_decides_there(rig: Rig) -> None:
    show(rig, asked("m:0"), asked("m:1"))
    rig.before.setFocus()
    assert shortcuts(rig) == [True, False]
    QTest.keyClick(rig.before, Qt.Key.Key_O, ALT)
    assert rig.questions.undecided == 2
    assert rig.window.focusWidget() is part(rig.card(0), QPushButton, "allowOnceButton")
    QTest.keyClick(rig.window.focusWidget(), Qt.Key.Key_O, ALT)
    wait_for(lambda: rig.questions.undecided == 1)
    assert [one.tool_call_id for one in rig.questions.open] == ["m:1"]


def test_mnemonics_are_those_of_the_card_that_the_keyboard_is_in(rig: Rig) -> None:
    show(rig, asked("m:0"), asked("m:1"))
    part(rig.card(1), QTextEdit, "approvalArguments").setFocus(Qt.FocusReason.TabFocusReason)
    settle()
    assert shortcuts(rig) == [False, True]
    rig.seconds += 10
    QTest.keyClick(rig.window.focusWidget(), Qt.Key.Key_O, ALT)
    wait_for(lambda: rig.questions.undecided == 1)
    assert [one.tool_call_id for one in rig.questions.open] == ["m:0"]
    assert shortcuts(rig) == [True]


def test_the_only_card_is_decided_by_its_mnemonic_from_anywhere(rig: Rig) -> None:
    show(rig, asked("m:0"))
    rig.before.setFocus()
    QTest.keyClick(rig.before, Qt.Key.Key_O, ALT)
    wait_for(lambda: rig.questions.undecided == 0)
