"""Questions in the transcript: what the reader sees of them, and what stays still around them."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QTextEdit

from sophos_desktop.shell.chat.cards.waiting_pill import WaitingPill
from sophos_desktop.shell.chat.item_kinds import AnswerItem, UserItem
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.shell.question_rig import LONG, Rig, asked, call, kinds, opened, turns
from tests.shell.transcript.viewing import is_same_picture, on_screen, painted_anew, settle, until_idle
from tests.support.card_window import part, press


@pytest.fixture(name="rig")
def _rig() -> Iterator[Rig]:
    with opened() as made:
        yield made


@pytest.fixture(name="low")
def _low() -> Iterator[Rig]:
    with opened(height=220) as made:
        yield made


# What the reader sees


def test_the_first_question_is_in_view_when_a_conversation_opens(rig: Rig) -> None:
    questions = [asked(f"m:{number}", **LONG) for number in range(3)]
    rig.open([*turns(20), *(call(one) for one in questions)], *questions)
    assert rig.card(0).y() >= 0
    assert rig.is_seen(rig.card(0))
    assert not rig.is_seen(rig.card(2))
    rig.transcript.jump_to_latest()
    settle()
    assert rig.is_seen(part(rig.card(2), QPushButton, "allowOnceButton"))


def test_a_question_that_comes_while_the_end_is_followed_is_in_view(rig: Rig) -> None:
    questions = [asked(f"m:{number}", **LONG) for number in range(2)]
    rig.open([*turns(20), *(call(one, "running") for one in questions)])
    rig.show([*turns(20), *(call(one) for one in questions)], *questions)
    assert rig.card(0).y() >= 0
    assert rig.is_seen(rig.card(0))


def test_nothing_moves_for_who_reads_further_up_and_a_pill_says_that_something_waits(rig: Rig) -> None:
    question = asked("m:0", **LONG)
    items = turns(20)
    rig.open([*items, call(question, "running")])
    pill = rig.transcript.viewport().findChild(WaitingPill)
    assert pill is not None
    rig.transcript.scroll_by(-700)
    before = rig.picture(300)
    rig.show([*items, call(question)], question)
    assert is_same_picture(before, rig.picture(300))
    assert rig.is_seen(pill)
    assert not rig.is_seen(rig.card())
    QTest.mouseClick(pill, Qt.MouseButton.LeftButton)
    settle()
    assert rig.is_seen(rig.card())
    assert not pill.isVisible()


def test_nothing_above_moves_when_the_last_call_is_decided_and_goes_on(rig: Rig) -> None:
    question = asked("m:0", **LONG)
    rig.open([*turns(20), call(question)], question)
    top = rig.card().y()
    assert top > 80
    before = rig.picture(top - 8)
    press(rig.card(), "allowOnceButton")
    assert is_same_picture(before, rig.picture(top - 8))
    rig.set_status("m:0", "running")
    rig.set_status("m:0", "ok")
    assert is_same_picture(before, rig.picture(top - 8))
    rig.items = [*rig.items, AnswerItem("end", "Short.")]
    rig.transcript.show_items(rig.items)
    assert is_same_picture(before, rig.picture(top - 8))
    assert is_same_picture(on_screen(rig.transcript), painted_anew(rig.transcript))
    # What fills the room up again moves the view as ever, and leaves none behind.
    rig.items = [*rig.items[:-1], AnswerItem("end", "Long.\n\n" * 60)]
    rig.transcript.show_items(rig.items)
    until_idle(rig.transcript)
    assert rig.transcript.is_at_end
    assert rig.transcript.card(len(rig.transcript.model) - 1) is None
    assert len(rig.transcript.model) == 42


def test_a_decided_call_at_the_upper_edge_stays_there_when_it_joins_the_card_before_it(rig: Rig) -> None:
    first, second = asked("m:1", **LONG), asked("m:2", **LONG)
    done = call(asked("m:0"), "ok")
    rig.open([*turns(20), done, call(first), call(second)], first, second)
    assert 0 <= rig.card(0).y() < 12
    press(rig.card(0), "allowOnceButton")
    until_idle(rig.transcript)
    group = next(card for card in rig.transcript.cards.cards() if isinstance(card, ToolCard))
    assert [head.state_words for head in group.heads] == ["Done", "Allowed by you"]
    joined = group.heads[1].mapTo(rig.transcript.viewport(), QPoint(0, 0)).y()
    assert 0 <= joined < 12
    assert rig.card(0).y() == joined + group.heads[1].height() + 1 + 8


def test_nothing_above_moves_when_the_card_shows_other_buttons_or_is_folded(rig: Rig) -> None:
    question = asked("m:0", **LONG)
    rig.open([*turns(20), call(question)], question)
    top = rig.card().y()
    before = rig.picture(top - 8)
    for name in ("denyButton", "denyBackButton"):
        press(rig.card(), name)
        until_idle(rig.transcript)
        assert rig.card().y() == top
    fold = rig.card().tab_order[0]
    QTest.mouseClick(fold, Qt.MouseButton.LeftButton)
    until_idle(rig.transcript)
    assert (rig.card().y(), rig.card().height()) == (top, 38)
    assert is_same_picture(before, rig.picture(top - 8))


def test_a_card_taller_than_the_view_can_be_read_from_its_top_to_its_buttons(low: Rig) -> None:
    question = asked("m:0", **LONG)
    low.open([*turns(20), call(question)], question)
    card, allow = low.card(), part(low.card(), QPushButton, "allowOnceButton")
    assert card.height() > low.transcript.height()
    assert 0 <= card.y() < 20
    assert not low.is_seen(allow)
    low.transcript.jump_to_latest()
    settle()
    assert card.y() < 0
    assert low.is_seen(allow)
    assert allow.visibleRegion().boundingRect().size() == allow.size()
    press(card, "allowOnceButton")
    until_idle(low.transcript)
    assert kinds(low)[0] == "toolCard 1"
    assert 0 <= low.transcript.transcript_layout.placed[0].top < 20


def test_a_card_is_as_high_as_what_stands_in_it(rig: Rig) -> None:
    question = asked("m:0")
    rig.open([*turns(2), call(question)], question)
    card, field = rig.card(), part(rig.card(), QTextEdit, "approvalArguments")
    before = card.height()
    field.setPlainText('{"path":\n\n\n\n "notes.txt"}')
    until_idle(rig.transcript)
    assert card.height() >= before + 2 * field.fontMetrics().lineSpacing()
    assert part(card, QPushButton, "allowOnceButton").geometry().bottom() < card.height()
    rig.transcript.resize(420, 500)
    until_idle(rig.transcript)
    assert card.width() == rig.transcript.transcript_layout.documents.column
    assert card.height() == card.heightForWidth(card.width())


def test_a_card_that_moves_under_the_pointer_is_not_decided_by_a_double_click(rig: Rig) -> None:
    questions = [asked(f"m:{number}") for number in range(3)]
    rig.open([UserItem("u", "Go"), *(call(one) for one in questions)], *questions)
    press(rig.card(0), "allowOnceButton")
    until_idle(rig.transcript)
    press(rig.card(0), "allowOnceButton")
    assert rig.questions.undecided == 2
    rig.seconds += 5
    press(rig.card(0), "allowOnceButton")
    assert rig.questions.undecided == 1


def test_cards_that_stay_where_they_are_are_decided_as_fast_as_one_can_click(rig: Rig) -> None:
    questions = [asked(f"m:{number}") for number in range(2)]
    rig.open([*turns(20), *(call(one) for one in questions)], *questions)
    rig.seconds += 1
    for _ in questions:
        press(rig.card(-1), "denyButton")
        until_idle(rig.transcript)
        press(rig.card(-1), "denyButton")
        until_idle(rig.transcript)
    assert rig.questions.undecided == 0
