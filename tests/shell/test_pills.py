"""The pills over the transcript: one at a time in a low view, and never on what can be pressed."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QPushButton

from sophos_desktop.shell.chat.cards.waiting_pill import WaitingPill
from tests.shell.question_rig import LONG, Rig, asked, call, opened, turns
from tests.shell.transcript.viewing import settle, until_idle


@pytest.fixture(name="low")
def _low() -> Iterator[Rig]:
    with opened(height=280) as made:
        made.transcript.resize(480, 280)
        until_idle(made.transcript)
        yield made


def waiting_pill(rig: Rig) -> WaitingPill:
    found = rig.transcript.viewport().findChild(WaitingPill)
    assert found is not None
    return found


def test_in_a_low_view_the_pill_of_what_waits_stands_alone(low: Rig) -> None:
    question = asked("m:0")
    low.open([*turns(10), call(question), *turns(0)], question)
    low.transcript.scroll_to_message(2)
    until_idle(low.transcript)
    assert low.is_seen(waiting_pill(low))
    assert not low.transcript.pill.isVisible()
    low.decide(question, "allowed")
    until_idle(low.transcript)
    assert not waiting_pill(low).isVisible()
    assert low.transcript.pill.isVisible()


def test_in_a_high_view_both_stand_and_do_not_touch() -> None:
    question = asked("m:0")
    with opened(height=600) as rig:
        rig.open([*turns(30), call(question)], question)
        rig.transcript.scroll_to_message(2)
        until_idle(rig.transcript)
        assert rig.is_seen(waiting_pill(rig))
        assert rig.transcript.pill.isVisible()
        assert not rig.transcript.pill.body.intersects(waiting_pill(rig).geometry())


def test_no_pill_lies_on_a_button_wherever_the_card_is_scrolled_to(low: Rig) -> None:
    question = asked("m:0", **LONG)
    low.open([*turns(5), call(question), *turns(1)], question)
    low.questions.go_to_first()
    viewport, pill = low.transcript.viewport(), low.transcript.pill
    hidden = 0
    for _ in range(30):
        low.transcript.scroll_by(24)
        settle()
        for button in low.card().findChildren(QPushButton):
            area = QRect(button.mapTo(viewport, QPoint(0, 0)), button.size())
            if button.isVisible() and low.is_seen(button):
                assert not (pill.isVisible() and pill.body.intersects(area))
                hidden += not pill.isVisible() and pill.is_wanted
    assert hidden
