"""The transcript in the window: what it shows, what it leaves alone, what it tells."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QToolButton, QWidget

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.chat.chat_style import chat_style
from sophos_desktop.shell.chat.item_kinds import AnswerItem, Item, ToolItem, UserItem
from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.transcript.cards.big_result import BigResultWindow
from sophos_desktop.shell.transcript.cards.meta_line import MetaLine
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.shell.transcript.viewing import is_same_picture, on_screen, painted_anew, settle, until_idle
from tests.support.reading import transcript_text

CALL = ToolItem("m:0", "memory", "search_nodes", '{"query": "orders"}', "ok", "one\ntwo")
HOSTILE = "[local](file:///etc/passwd) [script](javascript:alert(1)) [good](https://example.org/page)"


@pytest.fixture
def host() -> Iterator[QWidget]:
    made = QWidget()
    made.setObjectName("chatView")
    made.resize(700, 500)
    yield made
    made.close()
    made.deleteLater()
    settle()


@pytest.fixture
def theme(host: QWidget) -> Theme:
    made = Theme(host, (chat_style,))
    made.choose("light")
    return made


@pytest.fixture
def transcript(host: QWidget, theme: Theme) -> Transcript:
    made = Transcript(theme, host)
    made.resize(700, 500)
    host.show()
    assert QTest.qWaitForWindowExposed(host)
    host.activateWindow()
    return made


def card(transcript: Transcript) -> ToolCard:
    found = [one for one in transcript.cards.cards() if isinstance(one, ToolCard)]
    assert len(found) == 1
    return found[0]


def questions(count: int) -> list[Item]:
    return [UserItem(str(number), "line\n" * 5) for number in range(count)]


def test_a_user_message_is_plain_text_and_an_answer_is_markdown(transcript: Transcript) -> None:
    transcript.open_items([UserItem("u", "**not bold** <b>x</b>\n# no head"), AnswerItem("a", "**bold**")])
    assert transcript_text(transcript).startswith("**not bold** <b>x</b>\n# no head\nbold\n")


def test_marks_say_what_is_missing(transcript: Transcript) -> None:
    transcript.open_items(
        [
            AnswerItem("a", "half", state=MessageState.INCOMPLETE),
            AnswerItem("b", "cut", state=MessageState.STOPPED),
            replace(CALL, status="interrupted"),
        ]
    )
    text = transcript_text(transcript)
    assert "Not all of it arrived" in text
    assert "Stopped by you" in text
    assert "search_nodes\tInterrupted" in text


def test_only_links_that_may_be_opened_are_told_of(transcript: Transcript) -> None:
    chosen: list[str] = []
    transcript.link_chosen.connect(chosen.append)
    transcript.open_items([AnswerItem("a", HOSTILE)])
    until_idle(transcript)
    seen = set()
    for x in range(0, 700, 3):
        found = transcript.pointer.hit_at(QPoint(x, 24).toPointF())
        if found is not None:
            seen.add(found.target)
            QTest.mouseClick(transcript.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 24))
    transcript.linkActivated.emit("file:///etc/passwd")
    assert seen == set(chosen) == {"https://example.org/page"}


def test_ten_thousand_messages_open_at_their_end(transcript: Transcript) -> None:
    items: list[Item] = []
    for turn in range(5_000):
        items += (UserItem(f"u{turn}", f"Question {turn}"), AnswerItem(f"a{turn}", f"Answer **{turn}**"))
    transcript.open_items(items)
    assert len(transcript.model) == 10_000
    assert transcript.visible_items[-1] is items[-1]
    assert len(transcript.visible_items) < 20
    bar = transcript.verticalScrollBar()
    assert bar.value() == bar.maximum() > 100_000


def test_who_reads_further_up_is_not_moved_by_what_arrives(transcript: Transcript) -> None:
    items = questions(20)
    transcript.open_items(items)
    transcript.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderPageStepSub)
    before = on_screen(transcript)
    growing = AnswerItem("a", "more\n\n" * 30, live=True)
    transcript.show_items([*items, growing])
    assert transcript.grow(replace(growing, text=growing.text + "more\n\n" * 10))
    transcript.show_items([*items, replace(growing, text="more\n\n" * 40, live=False)])
    until_idle(transcript)
    transcript.pill.hide()
    assert not transcript.is_at_end
    after = on_screen(transcript)
    lines = before.height() - 80  # the pill stood below
    assert before.copy(0, 0, 640, lines) == after.copy(0, 0, 640, lines)


def test_the_end_stays_in_view_while_an_answer_grows_and_the_window_changes_its_size(
    transcript: Transcript,
) -> None:
    items = questions(12)
    transcript.open_items(items)
    for count in (10, 20, 30):
        transcript.show_items([*items, AnswerItem("a", "more\n\n" * count, live=True)])
        until_idle(transcript)
        assert transcript.is_at_end
    for width, height in ((420, 500), (900, 300), (500, 700)):
        transcript.resize(width, height)
        until_idle(transcript)
        assert transcript.is_at_end


def test_what_is_painted_piece_by_piece_is_what_is_painted_at_once(transcript: Transcript) -> None:
    text = "# Head\n\n- a\n  1. b\n\n```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\nend"
    growing = AnswerItem("a", text[:1], live=True)
    transcript.show_items([growing])
    for length in range(2, len(text) + 1):
        growing = replace(growing, text=text[:length])
        assert transcript.grow(growing)
    transcript.show_items([replace(growing, live=False)])
    streamed = on_screen(transcript)
    transcript.open_items([AnswerItem("a", text)])
    until_idle(transcript)
    assert is_same_picture(streamed, painted_anew(transcript))


def test_a_failed_call_is_open_and_stays_as_the_reader_left_it(transcript: Transcript) -> None:
    failed = replace(CALL, status="error", result="no such node")
    transcript.open_items([failed])
    assert len(card(transcript).all_parts()) == 2
    QTest.mouseClick(card(transcript).heads[0], Qt.MouseButton.LeftButton)
    assert card(transcript).all_parts() == []
    transcript.show_items([replace(failed, result="no such node at all")])
    assert card(transcript).all_parts() == []
    transcript.open_items([failed])
    assert len(card(transcript).all_parts()) == 2


def test_a_call_opens_by_keyboard_and_that_is_told(transcript: Transcript) -> None:
    opened: list[str] = []
    transcript.opened.connect(opened.append)
    transcript.open_items([CALL])
    head = card(transcript).heads[0]
    head.setFocus()
    QTest.keyClick(head, Qt.Key.Key_Return)
    assert len(card(transcript).all_parts()) == 2
    assert opened == ["m:0"]


def test_a_big_result_opens_in_a_window_of_its_own(transcript: Transcript) -> None:
    transcript.open_items([replace(CALL, result="\n".join(f"line {n}" for n in range(100)))])
    card(transcript).open_call("m:0")
    settle()
    result = card(transcript).all_parts()[-1]
    button = result.findChild(QToolButton, "openInWindow") or result.findChild(QWidget, "openInWindow")
    assert isinstance(button, QWidget)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    window = transcript.window().findChild(BigResultWindow)
    assert window is not None
    assert window.windowTitle() == "Result of memory search_nodes"
    window.close()
    settle()


def test_an_answer_is_copied_from_its_line_exactly_as_it_came(transcript: Transcript) -> None:
    transcript.open_items([AnswerItem("a", "**exact**  \n")])
    settle()
    line = transcript.card(0, is_footer=True)
    assert isinstance(line, MetaLine)
    line.acted.emit("copy-markdown")
    assert QGuiApplication.clipboard().text() == "**exact**  \n"
    line.acted.emit("copy-text")
    assert QGuiApplication.clipboard().text() == "exact"
    line.acted.emit("read")
    assert transcript.reader.isVisible()
    transcript.reader.close_reader()


def test_a_stopped_answer_offers_to_go_on_only_if_that_is_possible(transcript: Transcript) -> None:
    wanted: list[bool] = []
    transcript.continue_wanted.connect(lambda: wanted.append(True))
    stopped = AnswerItem("a", "half", state=MessageState.STOPPED)
    transcript.open_items([stopped])
    line = transcript.card(0, is_footer=True)
    assert isinstance(line, MetaLine)
    assert line.resume is None
    transcript.show_items([replace(stopped, can_continue=True)])
    settle()
    line = transcript.card(0, is_footer=True)
    assert isinstance(line, MetaLine)
    assert line.resume is not None and not line.resume.isHidden()
    QTest.mouseClick(line.resume, Qt.MouseButton.LeftButton)
    assert wanted == [True]


def test_that_an_answer_is_finished_is_announced_once(transcript: Transcript) -> None:
    said: list[str] = []
    transcript.accessibility.announced.connect(said.append)
    growing = AnswerItem("a", "On", live=True)
    transcript.show_items([UserItem("u", "?"), growing])
    transcript.grow(replace(growing, text="One"))
    assert said == ["Message sent"]
    transcript.show_items([UserItem("u", "?"), AnswerItem("a", "One.")])
    assert said == ["Message sent", "Answer finished"]


def test_another_theme_is_painted_at_once(transcript: Transcript, theme: Theme) -> None:
    transcript.open_items([AnswerItem("a", "text " * 40)])
    transcript.select_all()
    theme.choose("dark")
    until_idle(transcript)
    picture = on_screen(transcript)
    assert picture.pixelColor(4, picture.height() - 4) == QColor(theme.tokens.paper)
    assert is_same_picture(picture, painted_anew(transcript))


def test_a_banner_above_does_not_move_what_is_read(transcript: Transcript) -> None:
    transcript.open_items(questions(30))
    transcript.verticalScrollBar().setValue(600)
    settle()
    before = {one.key: one.top for one in transcript.transcript_layout.placed}
    transcript.setGeometry(0, 48, 700, 452)
    settle()
    after = {one.key: one.top + 48 for one in transcript.transcript_layout.placed}
    both = before.keys() & after.keys()
    assert len(both) > 2
    assert {key: before[key] for key in both} == {key: after[key] for key in both}


def test_the_scroll_bar_shows_nothing_while_all_is_in_the_view(transcript: Transcript) -> None:
    transcript.open_items([UserItem("u", "short")])
    assert not transcript.verticalScrollBar().isEnabled()
    transcript.open_items(questions(30))
    assert transcript.verticalScrollBar().isEnabled()


def test_growing_costs_the_same_however_much_is_there(transcript: Transcript) -> None:
    items = questions(2_000)
    growing = AnswerItem("a", "x", live=True)
    transcript.open_items([*items, growing])
    touched: list[int] = []
    transcript.model.grew.connect(lambda index, _segments: touched.append(index))
    transcript.model.changed.connect(lambda index: touched.append(-1))
    for length in range(2, 40):
        growing = replace(growing, text="x" * length)
        assert transcript.grow(growing)
    assert touched == [2_000] * 38


def top_of_view(transcript: Transcript) -> list[tuple[str, int, int]]:
    model = transcript.model
    return [(model.message(one.message).id, one.part, one.top) for one in transcript.transcript_layout.placed]


def first_character(transcript: Transcript) -> int:
    """Of the first message's text, in its source: the words there are all plain."""
    geometry, top = transcript.geometry_of_text, transcript.transcript_layout.placed[0]
    part = geometry.text_part(top)
    assert part is not None
    return part.drawn.segment.start + geometry.first_visible(part).character


def test_a_conversation_that_is_opened_again_is_where_it_was_left(transcript: Transcript) -> None:
    first = questions(30)
    second: list[Item] = [UserItem("o", "Another"), AnswerItem("p", "text " * 4_000)]
    transcript.open_items(first, "one")
    transcript.verticalScrollBar().setValue(617)
    settle()
    before, picture = top_of_view(transcript), on_screen(transcript)
    transcript.open_items(second, "two")
    settle()
    assert transcript.transcript_layout.follows_end
    transcript.verticalScrollBar().setValue(333)
    settle()
    there = top_of_view(transcript)
    transcript.open_items([*first, UserItem("late", "came meanwhile")], "one")
    settle()
    assert top_of_view(transcript) == before
    assert is_same_picture(on_screen(transcript), picture)
    transcript.open_items([], None)
    transcript.open_items(second, "two")
    settle()
    assert top_of_view(transcript) == there


def test_who_was_at_the_end_of_a_conversation_comes_back_to_its_end(transcript: Transcript) -> None:
    transcript.open_items(questions(30), "one")
    transcript.open_items([UserItem("u", "short")], "two")
    transcript.open_items([*questions(30), UserItem("late", "came meanwhile")], "one")
    settle()
    assert transcript.transcript_layout.follows_end
    assert transcript.is_at_end


def test_the_place_is_the_same_text_if_the_window_has_another_width_by_then(transcript: Transcript) -> None:
    words = " ".join(f"word{number}" for number in range(4_000))
    transcript.open_items([AnswerItem("a", words)], "one")
    transcript.verticalScrollBar().setValue(2_000)
    settle()
    place = first_character(transcript)
    transcript.open_items([UserItem("u", "short")], "two")
    transcript.resize(480, transcript.height())
    transcript.open_items([AnswerItem("a", words)], "one")
    settle()
    back = first_character(transcript)
    assert place > 1_000
    assert abs(back - place) < 90, "a line"


def test_what_was_opened_in_a_card_is_open_again_when_its_conversation_is(transcript: Transcript) -> None:
    transcript.open_items([CALL], "one")
    settle()
    card = transcript.card(0)
    assert isinstance(card, ToolCard)
    card.heads[0].click()
    settle()
    assert card.parts(CALL.key)
    transcript.open_items([replace(CALL, key="other:0")], "two")
    settle()
    closed = transcript.card(0)
    assert isinstance(closed, ToolCard)
    assert not closed.parts("other:0")
    opened: list[str] = []
    transcript.opened.connect(opened.append)
    transcript.open_items([CALL], "one")
    settle()
    again = transcript.card(0)
    assert isinstance(again, ToolCard)
    assert again.parts(CALL.key)
    assert opened == [CALL.key], "what only the store knows of it is read"


def test_the_pill_does_not_count_what_came_in_another_conversation(
    transcript: Transcript,
) -> None:
    growing = AnswerItem("a", "word " * 2_000, live=True)
    transcript.open_items([*questions(30), growing], "one")
    transcript.verticalScrollBar().setValue(100)
    settle()
    transcript.grow(replace(growing, text="word " * 4_000))
    settle()
    assert "new line" in transcript.pill.accessibleName()
    transcript.open_items(questions(30), "two")
    settle()
    transcript.verticalScrollBar().setValue(100)
    settle()
    assert transcript.pill.is_wanted
    assert "new line" not in transcript.pill.accessibleName()
