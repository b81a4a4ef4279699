"""From message to message by keyboard, and what is told of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.transcript.cards.facts import CallFacts, CallState
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.selecting.selection import Selection
from sophos_desktop.shell.transcript.speaking.message_walk import MessageWalk
from sophos_desktop.shell.transcript.speaking.reader import Reader
from sophos_desktop.shell.transcript.speaking.spoken_text import SpokenTexts
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.card_rig import calls, cards_shown
from tests.shell.transcript.viewing import answer, conversation, settle, shown, user

CONTROL, PLAIN = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
TABLE = "Rows:\n\n| a | b |\n|---|---|\n| 1 | $x^2$ |\n\nThe end."


@contextmanager
def walking(
    messages: list[TranscriptMessage], *, is_spoken: bool = False
) -> Iterator[tuple[TranscriptView, MessageWalk, list[int]]]:
    with shown(messages) as view:
        walk = MessageWalk(view, Selection(view), lambda: is_spoken)
        told: list[int] = []
        walk.moved.connect(told.append)
        view.window().activateWindow()
        view.clearFocus()
        view.setFocus(Qt.FocusReason.TabFocusReason)
        settle()
        yield view, walk, told


@pytest.mark.parametrize(("is_spoken", "modifier"), [(True, PLAIN), (True, CONTROL), (False, CONTROL)])
def test_the_keys_lead_from_message_to_message_and_each_comes_into_the_view(
    modifier: Qt.KeyboardModifier, *, is_spoken: bool
) -> None:
    with walking(conversation(20), is_spoken=is_spoken) as (view, walk, told):
        walk.go_to(10)
        told.clear()
        for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down):
            QTest.keyClick(view, key, modifier)
        assert told == [9, 8, 9]
        assert walk.current == 9
        assert 9 in view.transcript_layout.visible_messages


def test_the_plain_keys_scroll_while_nobody_listens() -> None:
    with walking(conversation(20)) as (view, walk, told):
        bar, at = view.verticalScrollBar(), walk.current
        assert bar.value() == bar.maximum()
        told.clear()
        QTest.keyClick(view, Qt.Key.Key_Up)
        settle()
        assert bar.value() < bar.maximum()  # which grows: heights are measured that were guessed
        assert (walk.current, told) == (at, [])


def test_who_comes_by_tab_sees_where_the_keyboard_is_and_who_comes_by_mouse_does_not() -> None:
    with walking(conversation(20)) as (view, walk, _told):
        bar = view.viewport().findChild(QWidget, "currentMessageBar")
        assert bar is not None and bar.isVisible()
        assert walk.current == len(view.model) - 1
        view.clearFocus()
        assert not bar.isVisible()
        view.setFocus(Qt.FocusReason.MouseFocusReason)
        settle()
        assert not bar.isVisible()


def test_who_comes_by_keyboard_is_told_of_the_last_message_and_later_of_the_one_that_was_left() -> None:
    with walking(conversation(6), is_spoken=True) as (view, walk, told):
        assert told == [len(view.model) - 1]
        walk.go_to(2)
        view.clearFocus()
        view.setFocus(Qt.FocusReason.TabFocusReason)
        settle()
        assert told[1:] == [2, 2]


def test_a_bar_beside_the_message_shows_where_the_keyboard_is() -> None:
    with walking(conversation(20)) as (view, walk, _told):
        bar = view.findChild(QWidget, "currentMessageBar")
        assert bar is not None
        walk.go_to(10)
        settle()
        placed = [part for part in view.transcript_layout.placed if part.message == 10]
        assert bar.isVisible()
        assert bar.y() == max(0, placed[0].top)
        view.clearFocus()
        settle()
        assert not bar.isVisible()


def test_the_current_message_stays_the_same_when_others_come_before_it() -> None:
    with walking(conversation(6)) as (view, walk, _told):
        walk.go_to(3)
        key = view.model.key(3)
        view.model.insert(0, [user("new", "Earlier")])
        assert walk.current == 4
        assert view.model.key(4) == key


def test_enter_goes_into_a_card_and_asks_for_a_caret_in_a_text() -> None:
    call = CallFacts("c1", "memory", "search_nodes", "{}", CallState.DONE, 9)
    with cards_shown([user("u", "Ask"), calls(call)]) as rig:
        view = rig.view
        walk = MessageWalk(view, Selection(view))
        wanted: list[int] = []
        walk.read_wanted.connect(wanted.append)
        view.window().activateWindow()
        view.setFocus()
        walk.go_to(0)
        QTest.keyClick(view, Qt.Key.Key_Return)
        assert wanted == [0]
        walk.go_to(1)
        QTest.keyClick(view, Qt.Key.Key_Return)
        card, focus = view.card(1), view.window().focusWidget()
        assert card is not None
        assert focus is not None
        assert card.isAncestorOf(focus)
        assert wanted == [0]


def test_the_reader_writes_formulas_and_tables_in_words_and_leaves_the_caret_at_its_text() -> None:
    with shown([answer("a", TABLE)]) as view:
        selection = Selection(view)
        reader = Reader(view, selection, lambda: True)
        last = len(view.model.segments(0)) - 1
        selection.select(TextPosition(0, last, 4), TextPosition(0, last, 4))
        assert reader.open_reader(0)
        lines = reader.toPlainText().split("\n")
        assert [lines[0], lines[1], lines[-1]] == ["Rows:", "a; b", "The end."]
        assert lines[2] == "1; x squared"
        cursor = reader.textCursor()
        assert cursor.block().text()[cursor.positionInBlock() :] == "end."
        reader.close_reader()
        settle()


def test_a_row_of_a_table_is_one_line_of_the_spoken_text() -> None:
    with shown([answer("a", TABLE)]) as view:
        reader = Reader(view, Selection(view))
        text = SpokenTexts(view.model, reader._scratch).of(0).text(0, -1)
        assert "a\tb\n1\tx squared" in text
