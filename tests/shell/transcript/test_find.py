"""Find in conversation: over everything, in texts and in cards."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from sophos_desktop.shell.transcript.cards.facts import CallFacts, CallState
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts, ThinkingRow
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from sophos_desktop.shell.transcript.finding.find_bar import FindBar
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from tests.shell.transcript.card_rig import CardRig, calls, card_of, cards_shown, wait_for
from tests.shell.transcript.viewing import PROSE, answer, on_screen, settle, user

SHIFT = Qt.KeyboardModifier.ShiftModifier


@contextmanager
def finding(
    messages: list[TranscriptMessage], height: int = 500, theme: str = "light"
) -> Iterator[tuple[CardRig, FindBar]]:
    with cards_shown(messages, height=height, theme=theme) as rig:
        yield rig, FindBar(rig.view, rig.theme)


def search(bar: FindBar, words: str) -> None:
    bar.field.setText(words)
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    wait_for(lambda: bar.finder.is_done and bar.finder.needle == words)
    settle()


def long_conversation(turns: int = 200) -> list[TranscriptMessage]:
    messages = []
    for turn in range(turns):
        messages.append(user(f"u{turn}", f"Question {turn}"))
        messages.append(answer(f"a{turn}", f"Item *number* {turn}. {PROSE}"))
    return messages


def test_the_bar_is_at_the_upper_right_and_goes_with_escape() -> None:
    with finding([user("u", "words")]) as (rig, bar):
        assert bar.isHidden()
        bar.open_bar()
        settle()
        viewport = rig.view.viewport()
        assert (bar.width(), bar.height()) == (360, 40)
        assert bar.pos() == QPoint(viewport.width() - 368, 8)
        assert bar.field.hasFocus()
        QTest.keyClick(bar.field, Qt.Key.Key_Escape)
        assert bar.isHidden()
        assert rig.view.hasFocus()


def test_hits_are_counted_over_the_whole_conversation_and_gone_through_in_order() -> None:
    with finding(long_conversation()) as (rig, bar):
        rig.view.scroll_to_message(0)
        bar.open_bar()
        search(bar, "NUMBER 1")
        # Markup between the words does not matter: 1, 10-19, 100-199.
        assert bar.finder.count == 111
        assert bar.counter.text() == "1 of 111"
        assert bar.current is not None
        assert bar.current.message == 3
        QTest.keyClick(bar.field, Qt.Key.Key_F3)
        assert bar.current.message == 21
        settle()
        assert bar.current.message in rig.view.transcript_layout.visible_messages
        QTest.keyClick(bar.field, Qt.Key.Key_Return, SHIFT)
        assert bar.current.message == 3
        bar.up.click()
        assert bar.current.message == 399
        assert bar.counter.text() == "111 of 111"
        bar.down.click()
        assert bar.counter.text() == "1 of 111"


def test_hits_in_the_view_have_a_ground_and_the_current_one_a_frame() -> None:
    messages = [answer("a", f"a **needle** and more\n\n{PROSE}"), user("u", "needle")]
    with finding(messages) as (rig, bar):
        blank = on_screen(rig.view)
        bar.open_bar()
        search(bar, "needle")
        assert bar.counter.text() == "1 of 2"
        picture = on_screen(rig.view)
        tokens = rig.theme.tokens
        places = []
        for hit in bar.finder.hits:
            end = TextPosition(hit.message, hit.segment, hit.end)
            place = rig.view.geometry_of_text.rectangles(hit.position, end)[0].toAlignedRect()
            colours = {
                picture.pixelColor(x, y).name()
                for x in range(place.left(), place.right())
                for y in range(place.top(), place.bottom())
            }
            assert QColor(tokens.match).name() in colours
            places.append(place)
        bar.next()
        moved = on_screen(rig.view)
        assert all(moved.copy(place) != picture.copy(place) for place in places)
        bar.next()
        assert on_screen(rig.view).copy(places[0]) == picture.copy(places[0])
        bar.close_bar()
        assert on_screen(rig.view) == blank


def test_a_hit_comes_out_from_under_the_bar() -> None:
    messages = [user(f"u{turn}", f"needle {turn}") for turn in range(30)]
    with finding(messages) as (rig, bar):
        bar.open_bar()
        search(bar, "needle")
        for _ in range(12):
            bar.previous()
            settle()
            hit = bar.current
            assert hit is not None
            end = TextPosition(hit.message, hit.segment, hit.end)
            (place,) = rig.view.geometry_of_text.rectangles(hit.position, end)
            assert not place.intersects(bar.geometry().toRectF())
            assert rig.view.viewport().rect().contains(place.toRect())


def test_what_only_the_source_says_is_no_hit() -> None:
    source = "[words](https://hidden.example) **bold**\n\n```python\ncode\n```"
    with finding([answer("a", source)]) as (_rig, bar):
        bar.open_bar()
        for words, count in (("hidden", 0), ("**", 0), ("bold", 1), ("words bold", 1), ("code", 1)):
            search(bar, words)
            assert bar.finder.count == count, words
        search(bar, "nothing of it")
        assert bar.counter.text() == "No hit"
        assert not bar.down.isEnabled()


def test_a_hit_in_a_tool_result_opens_its_card() -> None:
    result = "\n".join(f"row {number}" for number in range(300)) + "\nneedle\n"
    call = CallFacts("c1", "files", "read", '{"path": "x"}', CallState.DONE, 4, result=result)
    messages = [calls(call), *long_conversation(30)]
    with finding(messages) as (rig, bar):
        bar.open_bar()
        search(bar, "needle")
        assert bar.counter.text() == "1 of 1"
        card = rig.view.card(0)
        assert isinstance(card, ToolCard)
        part = card.all_parts()[-1]
        place = part.lines.rectangle_of(part.lines.text.index("needle"))
        seen = part.lines.mapTo(rig.view.viewport(), place.center())
        assert rig.view.viewport().rect().contains(seen)
        picture = on_screen(rig.view)
        around = [(seen.x() + dx, seen.y() + dy) for dx in range(4) for dy in range(-9, 9)]
        near = {picture.pixelColor(x, y).name() for x, y in around}
        assert QColor(rig.theme.tokens.match).name() in near
        bar.close_bar()


def test_a_hit_in_the_thinking_opens_it() -> None:
    with finding([card_of("t", ThinkingFacts("t", "I wonder. " * 30 + "A needle.", 100))]) as (rig, bar):
        bar.open_bar()
        search(bar, "needle")
        row = rig.view.card(0)
        assert isinstance(row, ThinkingRow)
        assert row.is_open
        bar.close_bar()


def test_what_streams_in_is_found_too() -> None:
    with finding([answer("a", "needle. ", is_open=True)]) as (rig, bar):
        bar.open_bar()
        search(bar, "needle")
        assert bar.finder.count == 1
        rig.model.append(0, "Another needle.")
        wait_for(lambda: bar.finder.count == 2)
        rig.model.insert(1, [user("u", "one more needle")])
        wait_for(lambda: bar.finder.count == 3)
        rig.model.remove(0, 0)
        wait_for(lambda: bar.finder.is_done and bar.finder.count == 1)


def test_typing_searches_by_itself_from_what_is_seen() -> None:
    with finding(long_conversation(50)) as (rig, bar):
        rig.view.scroll_to_message(40)
        settle()
        bar.open_bar("Question")
        wait_for(lambda: bar.current is not None and bar.finder.is_done)
        assert bar.current is not None
        assert bar.current.message == 40
        assert bar.counter.text() == "21 of 50"
        QTest.keyClicks(bar.field, "Question 3")
        wait_for(lambda: bar.finder.needle == "Question 3" and bar.finder.is_done)
        assert bar.finder.count == 11


def test_places_are_right_behind_characters_of_two_units() -> None:
    with finding([answer("a", "😀😀 needle")]) as (_rig, bar):
        bar.open_bar()
        search(bar, "needle")
        (hit,) = bar.finder.hits
        assert (hit.start, hit.end) == (5, 11)


def counted(messages: list[TranscriptMessage], *needles: str) -> list[int]:
    """How often each is found."""
    counts = []
    with finding(messages) as (_rig, bar):
        bar.open_bar()
        for needle in needles:
            search(bar, needle)
            counts.append(bar.finder.count)
    return counts


def test_marks_that_touch_other_characters_do_not_hide_a_word() -> None:
    table = "| **Total**: | 5 |\n|--|--|\n| a | b |\n\n1. **Step one**, then\n\nfoot[^1]. end\n\n[^1]: n\n"
    source = "**Note**: call `foo`() or [link](http://x.org). (*emph*) he**ll**o H~~2~~O\n\n" + table
    needles = ("Note:", "foo()", "link.", "(emph)", "hello", "H2O", "Total:", "one, then", "foot1.")
    assert counted([answer("a", source)], *needles) == [1] * len(needles)


def test_an_accent_is_found_however_it_is_written() -> None:
    messages = [answer("a", "Café CAFE\u0301 e\u0301"), user("u", "cafe\u0301")]
    assert counted(messages, "café", "cafe\u0301", "cafe", "é") == [3, 3, 0, 4]


def test_places_are_right_behind_letters_that_were_put_together() -> None:
    with finding([answer("a", "e\u0301e\u0301 cafe\u0301 needle")]) as (_rig, bar):
        bar.open_bar()
        search(bar, "needle")
        (hit,) = bar.finder.hits
        assert (hit.start, hit.end) == (11, 17)
        search(bar, "café")
        (hit,) = bar.finder.hits
        assert (hit.start, hit.end) == (5, 10)


def test_a_hit_goes_on_where_a_block_is_cut() -> None:
    paragraph = "word " * 598 + "split 😀 across the cut here and more " + "tail " * 500
    code = "```\n" + "".join(f"line{number}\n" for number in range(200)) + "```"
    unbroken = "x" * 2_995 + "needle" + "y" * 3_000
    messages = [answer("a", paragraph), answer("b", code), answer("c", unbroken), user("u", unbroken)]
    with finding(messages) as (rig, bar):
        bar.open_bar()
        for needle, count in (("split 😀 across the cut here", 1), ("line79 line80", 1), ("needle", 2)):
            search(bar, needle)
            assert bar.finder.count == count, needle
        search(bar, "line79 line80")
        hit = bar.current
        assert hit is not None
        assert hit.end_position.segment == hit.segment + 1
        settle()
        areas = rig.view.geometry_of_text.rectangles(hit.position, hit.end_position)
        assert len(areas) == 2
        picture = on_screen(rig.view)
        match = QColor(rig.theme.tokens.match).rgb()
        for area in areas:
            place = area.toAlignedRect()
            row = [picture.pixel(x, place.center().y()) for x in range(place.left(), place.right())]
            assert match in row


def test_all_of_a_huge_answer_that_nobody_read_is_searched() -> None:
    huge = "needlebegin\n\n" + "some **words** here\n\n" * 3_000 + "needleend"
    with finding([answer("a", huge), *long_conversation(30)]) as (rig, bar):
        bar.open_bar()
        for needle, count in (("needlebegin", 1), ("needleend", 1), ("words here", 3_000)):
            search(bar, needle)
            assert bar.finder.count == count
        assert not rig.model.is_raw(0)


def test_a_huge_answer_that_cannot_hold_the_words_stays_unread() -> None:
    with finding([answer("a", "some words\n\n" * 4_000), *long_conversation(30)]) as (rig, bar):
        bar.open_bar()
        search(bar, "nothing of it")
        assert bar.finder.count == 0
        rig.model.segments(0)  # begins to read
        assert rig.model.is_raw(0)
