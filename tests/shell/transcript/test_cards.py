"""Cards in a real view: what they show, how high they are, how they are used by key."""

import json

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.shell.transcript.cards.big_result import BigResultWindow
from sophos_desktop.shell.transcript.cards.error_card import ErrorCard, ErrorFacts
from sophos_desktop.shell.transcript.cards.facts import CallFacts, CallState
from sophos_desktop.shell.transcript.cards.meta_line import MetaLine
from sophos_desktop.shell.transcript.cards.notice_line import NoticeFacts, NoticeKind, NoticeLine
from sophos_desktop.shell.transcript.cards.parts import LinkButton
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts, ThinkingRow
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, MessageMeta, TranscriptMessage
from tests.shell.transcript.card_rig import CardRig, calls, card_of, cards_shown, mouse, wait_for
from tests.shell.transcript.viewing import settle, user

DONE = CallFacts("c1", "memory", "search_nodes", '{"query": "orders.csv"}', CallState.DONE, 9, result="{}")
LONG = "\n".join(f"0101 {number} 00;0" for number in range(61_204))


def tool_card(rig: CardRig, message: int = 0) -> ToolCard:
    card = rig.view.card(message)
    assert isinstance(card, ToolCard)
    return card


def links(card: QWidget) -> dict[str, LinkButton]:
    return {link.objectName(): link for link in card.findChildren(LinkButton)}


def test_a_closed_call_is_a_head_of_36_in_a_frame() -> None:
    with cards_shown([calls(DONE)]) as rig:
        card = tool_card(rig)
        assert (card.width(), card.height()) == (600, 38)
        head = card.heads[0]
        assert head.state_words == "Done 9 ms"
        assert head.argument == "orders.csv"
        assert head.accessibleName() == "memory search_nodes, orders.csv, Done, 9 ms"


def test_calls_of_one_turn_share_a_frame() -> None:
    second = CallFacts("c2", "memory", "open_nodes", state=CallState.RUNNING)
    with cards_shown([calls(DONE, second)]) as rig:
        card = tool_card(rig)
        assert card.height() == 1 + 36 + 1 + 36 + 1
        assert [head.state_words for head in card.heads] == ["Done 9 ms", "Running"]
        rig.model.replace(0, calls(DONE))
        settle()
        assert tool_card(rig).height() == 38


def test_a_head_opens_by_mouse_and_key_and_stays_open_when_the_card_is_made_anew() -> None:
    with cards_shown([calls(DONE)]) as rig:
        card = tool_card(rig)
        card.heads[0].setFocus()
        for key, is_open in (
            (Qt.Key.Key_Return, True),
            (Qt.Key.Key_Space, False),
            (Qt.Key.Key_Right, True),
            (Qt.Key.Key_Right, True),
            (Qt.Key.Key_Left, False),
        ):
            QTest.keyClick(card.heads[0], key)
            settle()
            assert bool(card.all_parts()) is is_open
        QTest.mouseClick(card.heads[0], Qt.MouseButton.LeftButton)
        settle()
        assert [part.lines.text for part in card.all_parts()] == ['{"query": "orders.csv"}', "{}"]
        # Head, line, arguments, line, result: a row of text is 18 with 7 above and below.
        assert card.height() == 1 + 36 + 1 + 32 + 1 + 32 + 1
        rig.view.cards.clear()
        rig.view.transcript_layout.rows.remeasure_all()
        rig.view.refresh()
        assert tool_card(rig) is not card
        assert len(tool_card(rig).all_parts()) == 2


def test_a_call_that_ends_keeps_its_head_and_the_keyboard() -> None:
    running = CallFacts("c1", "files", "read_file", state=CallState.RUNNING)
    with cards_shown([calls(running)]) as rig:
        head = tool_card(rig).heads[0]
        head.setFocus()
        done = CallFacts("c1", "files", "read_file", state=CallState.DONE, duration_ms=14)
        rig.model.replace(0, calls(done))
        settle()
        assert tool_card(rig).heads[0] is head
        assert head.hasFocus()
        assert head.state_words == "Done 14 ms"


def test_a_failed_call_is_open_by_itself_and_says_its_error_in_red() -> None:
    failed = CallFacts("c1", "fetch", "fetch", "{}", CallState.FAILED, 5_000, result="It did not answer.")
    with cards_shown([calls(failed)]) as rig:
        (part,) = tool_card(rig).all_parts()
        picture = part.grab().toImage()
        danger = QColor(rig.theme.tokens.danger).name()
        colours = {
            picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())
        }
        assert danger in colours


def test_a_call_that_asks_has_the_line_of_a_warning() -> None:
    asked = CallFacts("c1", "fetch", "fetch", state=CallState.ASKED)
    with cards_shown([calls(asked)]) as rig:
        card = tool_card(rig)
        assert card.line == "warning_line"
        assert card.heads[0].state_words == "Waiting for you"
        middle = card.grab().toImage().pixelColor(300, 0).name()
        assert middle == QColor(rig.theme.tokens.warning_line).name()


def test_a_huge_result_shows_twelve_rows_and_what_is_left_out() -> None:
    big = CallFacts("c1", "fetch", "fetch", "{}", CallState.DONE, 1_800, result=LONG)
    with cards_shown([calls(big)], height=900) as rig:
        card = tool_card(rig)
        card.heads[0].click()
        settle()
        (part,) = card.all_parts()
        assert part.lines.rows.count == 12
        assert part.note == "12 of 61,204 lines, 968.2 kB"
        assert card.height() < 330
        links(card)["openInWindow"].click()
        assert rig.windows == [("Result of fetch fetch", LONG)]
        links(card)["showAll"].click()
        settle()
        assert part.lines.rows.count == 61_204
        assert card.height() > 61_204 * 18
        assert links(card)["showAll"].text() == "Show less"
        links(card)["showAll"].click()
        settle()
        assert part.lines.rows.count == 12


def test_a_result_beyond_the_bound_is_shown_in_its_window_only() -> None:
    big = CallFacts("c1", "fetch", "fetch", "{}", CallState.DONE, 1, result="x" * 9_000_000)
    with cards_shown([calls(big)], height=900) as rig:
        card = tool_card(rig)
        card.heads[0].click()
        settle()
        assert links(card)["showAll"].isHidden()
        assert not links(card)["openInWindow"].isHidden()
        assert card.all_parts()[0].note == "1 of 1 line, 9.0 MB"


def test_json_is_folded_by_its_mark_and_by_key() -> None:
    value = {"many": list(range(60)), "rows": [{"id": number, "name": "x" * 40} for number in range(2)]}
    call = CallFacts("c1", "db", "read", "{}", CallState.DONE, 1, result=json.dumps(value))
    with cards_shown([calls(call)], height=900) as rig:
        card = tool_card(rig)
        card.heads[0].click()
        settle()
        (part,) = card.all_parts()
        lines = part.lines
        assert '"many": [ … 60 items ],' in lines.text
        mouse(lines, QEvent.Type.MouseButtonPress, QPoint(6, 18 + 9))
        settle()
        assert "items" not in lines.text
        lines.setFocus()
        for _ in range(10):
            QTest.keyClick(lines, Qt.Key.Key_Left)
        assert lines.text == "{ … 2 keys }"
        QTest.keyClick(lines, Qt.Key.Key_Right)
        assert lines.text.startswith("{\n")


def test_text_of_a_result_is_selected_by_mouse_and_copied() -> None:
    call = CallFacts("c1", "db", "read", "{}", CallState.DONE, 1, result="first line\nsecond line")
    with cards_shown([calls(call)], height=900) as rig:
        tool_card(rig).heads[0].click()
        settle()
        lines = tool_card(rig).all_parts()[0].lines
        start, end = lines.rectangle_of(6), lines.rectangle_of(11 + 6)
        mouse(lines, QEvent.Type.MouseButtonPress, start.center())
        mouse(lines, QEvent.Type.MouseMove, end.center())
        mouse(lines, QEvent.Type.MouseButtonRelease, end.center())
        assert lines.selected_text() == "line\nsecond"
        lines.setFocus()
        QTest.keyClick(lines, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().text() == "line\nsecond"
        mouse(lines, QEvent.Type.MouseButtonDblClick, lines.rectangle_of(14).center())
        assert lines.selected_text() == "second"


def test_the_thinking_is_one_line_until_it_is_opened() -> None:
    facts = ThinkingFacts("t", "The layout was noted before. " * 10, 2_600)
    with cards_shown([card_of("t", facts)]) as rig:
        row = rig.view.card(0)
        assert isinstance(row, ThinkingRow)
        assert row.height() == 24
        assert row.head.text() == "Thought for 2.6 s"
        QTest.keyClick(row.head, Qt.Key.Key_Return)
        settle()
        assert row.is_open
        assert row.height() == 24 + 4 + row.text.heightForWidth(600)
        assert (row.height() - 28) % 20 == 0
        rig.model.replace(0, card_of("t", ThinkingFacts("t", facts.text + "And more.", 2_700)))
        settle()
        assert row.text.text.endswith("And more.")
        QTest.mouseClick(row.head, Qt.MouseButton.LeftButton)
        settle()
        assert row.height() == 24


def test_an_error_card_says_title_remedy_and_code_and_acts() -> None:
    error = SophosError(ErrorCode.RECURSION_LIMIT, "The step limit was reached", "25 steps ran. Continue.")
    with cards_shown([card_of("e", ErrorFacts.of(error, "Continue", "continue"))]) as rig:
        card = rig.view.card(0)
        assert isinstance(card, ErrorCard)
        said = "Error: The step limit was reached. 25 steps ran. Continue. RECURSION_LIMIT"
        assert card.accessibleName() == said
        card.action_button.click()
        assert rig.acts == [("e", "continue")]
        picture = card.grab().toImage()
        assert picture.pixelColor(300, 3).name() == QColor(rig.theme.tokens.danger_soft).name()


@pytest.mark.parametrize("kind", NoticeKind)
def test_a_notice_is_a_small_line(kind: NoticeKind) -> None:
    with cards_shown([card_of("n", NoticeFacts("3 older messages were left out.", kind))]) as rig:
        line = rig.view.card(0)
        assert isinstance(line, NoticeLine)
        assert line.text == "3 older messages were left out."
        assert line.height() == 24


def answered(state: MessageState = MessageState.COMPLETE, *, is_open: bool = False) -> TranscriptMessage:
    meta = MessageMeta("qwen3:8b", None, 186 if is_open else 412, 46.2)
    return TranscriptMessage("a", MessageKind.ANSWER, "Text.", is_open, state, meta, has_footer=True)


def meta_line(rig: CardRig) -> MetaLine:
    line = rig.view.card(0, is_footer=True)
    assert isinstance(line, MetaLine)
    return line


def test_the_meta_line_keeps_its_place_while_the_answer_is_written() -> None:
    with cards_shown([answered(is_open=True)]) as rig:
        line = meta_line(rig)
        assert line.words == "Writing · 186 tokens · 46.2 tok/s"
        before = line.geometry()
        rig.model.replace(0, answered())
        settle()
        assert meta_line(rig) is line
        assert line.words == "qwen3:8b · 412 tokens · 46.2 tok/s"
        assert line.geometry() == before
        assert line.height() == 24


def test_the_buttons_of_an_answer_are_seen_under_the_pointer_and_with_the_keyboard() -> None:
    with cards_shown([answered()]) as rig:
        line = meta_line(rig)
        blank = line.grab().toImage()
        line.set_hovered(is_hovered=True)
        assert line.grab().toImage() != blank
        line.set_hovered(is_hovered=False)
        assert line.grab().toImage() == blank
        line.copy.setFocus()
        assert line.shows_buttons
        QTest.keyClick(line.copy, Qt.Key.Key_Space)
        assert rig.acts == [("a", "copy-markdown")]
        line.more.click()
        menu = line.findChild(QMenu, "answerMenu")
        assert isinstance(menu, QMenu)
        assert [action.text() for action in menu.actions()][:2] == ["Copy as Markdown", "Copy as Text"]
        menu.actions()[1].trigger()
        menu.close()
        settle()
        assert rig.acts[-1] == ("a", "copy-text")


def test_a_stopped_answer_says_so_and_can_be_continued() -> None:
    with cards_shown([answered(MessageState.STOPPED)]) as rig:
        line = meta_line(rig)
        assert line.words.startswith("Stopped by you · qwen3:8b")
        button = line.findChild(QPushButton, "continueAnswer")
        assert isinstance(button, QPushButton)
        button.click()
        assert rig.acts == [("a", "continue")]


def test_everything_that_can_be_pressed_is_reached_by_key_and_has_a_name() -> None:
    big = CallFacts("c1", "fetch", "fetch", '{"url": "https://x.example"}', CallState.FAILED, 1, result=LONG)
    messages = [
        calls(big),
        card_of("t", ThinkingFacts("t", "words", 1)),
        card_of("e", ErrorFacts("Title", "Remedy", "CODE", "Go", "go")),
        answered(),
    ]
    with cards_shown(messages, height=1_200) as rig:
        buttons = [
            button
            for kind in (QToolButton, QPushButton, LinkButton)
            for button in rig.view.viewport().findChildren(kind)
        ]
        heads = [*tool_card(rig).heads]
        assert len(buttons) >= 7
        for button in (*buttons, *heads):
            assert button.accessibleName(), button.objectName()
            assert button.objectName()
            if button.objectName() != "jumpToLatest":
                assert button.focusPolicy() & Qt.FocusPolicy.TabFocus, button.objectName()


def test_the_theme_changes_the_cards_with_a_repaint() -> None:
    with cards_shown([calls(DONE)]) as rig:
        card = tool_card(rig)
        assert card.grab().toImage().pixelColor(200, 10).name() == QColor("#FFFFFF").name()
        rig.theme.choose("dark")
        settle()
        assert tool_card(rig) is card
        assert card.grab().toImage().pixelColor(200, 5).name() == QColor("#292724").name()


def test_a_big_text_is_there_at_once_searched_and_read_to_its_end() -> None:
    text = "".join(f"line number {number}, with some words behind it\n" for number in range(400_000))
    with cards_shown([user("u", "x")]) as rig:
        window = BigResultWindow("Result", text, rig.theme, rig.view.window())
        window.show()
        settle()
        view = window.view
        assert view.lines.rows.count > 0
        assert not view.is_done
        wait_for(lambda: view.is_done)
        assert view.lines.rows.line_count == 400_000
        view.bar.setValue(view.bar.maximum())
        last = view.lines.rows.count - 1
        assert view.lines.rect().contains(view.lines.rectangle_of(view.lines.rows.row(last)[0]).center())
        window.field.setText("NUMBER 250000,")
        window.field.setFocus()
        QTest.keyClick(window.field, Qt.Key.Key_Return)
        place = text.index("number 250000,")
        assert view.lines.rect().contains(view.lines.rectangle_of(place).center())
        assert "400,000 lines" in window.note.text()
        window.field.setText("not there")
        assert not window.find_next()
        assert window.note.text() == "Not found"
        window.close()
        settle()


def test_a_place_that_is_not_found_yet_is_gone_to_as_soon_as_it_is() -> None:
    text = "word " * 2_000_000
    with cards_shown([user("u", "x")]) as rig:
        window = BigResultWindow("Result", text + "needle", rig.theme, rig.view.window())
        window.show()
        window.field.setText("needle")
        assert window.find_next()
        wait_for(lambda: window.view.is_done)
        lines = window.view.lines
        assert lines.rect().contains(lines.rectangle_of(len(text)).center())
        top, _ = lines.rows.row(window.view.bar.value())
        window.resize(500, 400)
        settle()
        wait_for(lambda: window.view.is_done)
        # Rows are broken anew, and what was at the top still is.
        assert lines.rows.row_at(top) == window.view.bar.value()
        window.close()
        settle()
