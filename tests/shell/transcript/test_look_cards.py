"""The cards of calls, thoughts and errors, and the meta line, have the measures of the look (§2-6)."""

from itertools import groupby, pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect
from PySide6.QtGui import QColor, QFontInfo, QHelpEvent, QImage
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QToolButton, QToolTip, QWidget

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.shell.theme.icons import mark_size
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from sophos_desktop.shell.transcript.cards.call_part import CallPart
from sophos_desktop.shell.transcript.cards.error_card import ErrorCard, ErrorFacts
from sophos_desktop.shell.transcript.cards.facts import CallFacts, CallState
from sophos_desktop.shell.transcript.cards.meta_line import MetaLine
from sophos_desktop.shell.transcript.cards.notice_line import NoticeFacts
from sophos_desktop.shell.transcript.cards.parts import MarkView
from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts, ThinkingRow
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, MessageMeta, TranscriptMessage
from sophos_desktop.shell.transcript.view.attached_files import AttachedFiles
from tests.shell.transcript.card_rig import CardRig, calls, card_of, cards_shown, colours_of
from tests.shell.transcript.viewing import settle

BOTH = pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
DONE = CallFacts("c1", "memory", "search_nodes", '{"query": "orders.csv"}', CallState.DONE, 9, result="{}")
FAILED = CallFacts(
    "c2", "files", "read_file", '{"path": "a.csv"}', CallState.FAILED, 40, result="No such file"
)


def pixels(widget: QWidget) -> QImage:
    """What a widget looks like where it stands."""
    window = widget.window()
    return window.grab(QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())).toImage()


def colour(picture: QImage, x: float, y: float) -> str:
    return QColor(picture.pixelColor(QPoint(round(x), round(y)))).name().upper()


def runs(picture: QImage, x: int) -> list[tuple[str, int]]:
    """Colours down a column of pixels, and how many of each."""
    column = (colour(picture, x, y) for y in range(picture.height()))
    return [(name, len(list(same))) for name, same in groupby(column)]


def colours(picture: QImage, area: QRect) -> set[str]:
    return {
        colour(picture, x, y)
        for x in range(area.left(), area.right() + 1)
        for y in range(area.top(), area.bottom() + 1)
    }


def ink(picture: QImage, area: QRect, ground: str) -> QRect:
    """The smallest rectangle that holds what is not the ground."""
    found = [
        (x, y)
        for x in range(area.left(), area.right() + 1)
        for y in range(area.top(), area.bottom() + 1)
        if colour(picture, x, y) != ground
    ]
    assert found
    columns, rows = [x for x, _ in found], [y for _, y in found]
    return QRect(QPoint(min(columns), min(rows)), QPoint(max(columns), max(rows)))


def type_of(part: QWidget) -> tuple[str, int, int]:
    part.ensurePolished()
    font = QFontInfo(part.font())
    return font.family(), font.pixelSize(), font.weight()


def tool_card(rig: CardRig) -> ToolCard:
    card = rig.view.card(0)
    assert isinstance(card, ToolCard)
    return card


@BOTH
def test_a_card_of_calls_has_heads_of_36_between_lines(tokens: Tokens) -> None:
    with cards_shown([calls(DONE, DONE)], theme=tokens.name) as rig:
        picture = pixels(tool_card(rig))
        assert runs(picture, 330) == [
            (tokens.border_strong, 1),
            (tokens.raised, 36),
            (tokens.border, 1),
            (tokens.raised, 36),
            (tokens.border_strong, 1),
        ]
        assert colour(picture, 0, 0) == tokens.paper, "its corners are round"
        assert [colour(picture, x, 18) for x in (0, 1, 599)] == [
            tokens.border_strong,
            tokens.raised,
            tokens.border_strong,
        ]


@BOTH
def test_a_head_has_chevron_wrench_names_and_state_where_the_look_has_them(tokens: Tokens) -> None:
    with cards_shown([calls(DONE)], theme=tokens.name) as rig:
        picture = pixels(tool_card(rig))
        row = QRect(20, 2, 570, 34)
        chevron = ink(picture, QRect(9, 2, 14, 34), tokens.raised)
        assert abs(chevron.center().x() - 16) <= 1, "in the middle of 14 pixels that begin 8 from the line"
        wrench = ink(picture, QRect(24, 2, 30, 34), tokens.raised)
        assert (wrench.left(), wrench.right()) in [(32, 45), (31, 46), (32, 46), (31, 45)]
        assert abs(wrench.center().y() - 18) <= 1
        shown = colours(picture, row)
        assert colours_of(tokens, "text_2", "text", "success") <= shown
        assert ink(picture, row, tokens.raised).right() in (585, 586, 587), "12 from the line"
        duration = QRect(560, 2, 30, 34)
        assert tokens.text_3 in colours(picture, duration)
        assert tokens.success not in colours(picture, duration)


@BOTH
def test_a_long_servers_name_leaves_the_larger_part_of_a_head_to_the_tools(tokens: Tokens) -> None:
    server, tool = "a_server_with_a_very_long_name_indeed_really", "a_tool_of_sixty_letters_" * 2
    facts = CallFacts("c1", server, tool, '{"a": "orders.csv"}', CallState.DONE, 9, result="{}")
    with cards_shown([calls(facts)], theme=tokens.name) as rig:
        head = tool_card(rig).heads[0]
        picture = pixels(head)
        columns = [x for x in range(56, head.width() - 90) if tokens.text in column(picture, x)]
        room = head.width() - 90 - 56
        assert 0.35 * room < columns[0] - 56 < 0.5 * room
        tip = QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), head.mapToGlobal(QPoint(5, 5)))
        head.event(tip)
        QToolTip.hideText()
        for words in (server, tool, "orders.csv"):
            assert words in head.toolTip().replace("\u200b", "")


def column(picture: QImage, x: int) -> set[str]:
    """The colours of a column of pixels."""
    return {colour(picture, x, y) for y in range(picture.height())}


@BOTH
def test_an_open_call_has_a_column_of_80_for_labels_and_rows_of_18(tokens: Tokens) -> None:
    with cards_shown([calls(FAILED)], theme=tokens.name) as rig:
        card = tool_card(rig)
        assert runs(pixels(card), 580) == [
            (tokens.border_strong, 1),
            (tokens.raised, 36),
            (tokens.border, 1),
            (tokens.raised, 7 + 18 + 7),
            (tokens.border, 1),
            (tokens.raised, 7 + 18 + 7),
            (tokens.border_strong, 1),
        ]
        first, second = card.findChildren(CallPart)
        assert type_of(first.findChildren(QLabel)[0]) == ("Inter", 12, 400)
        picture = pixels(second)
        words = ink(picture, QRect(100, 0, 300, second.height()), tokens.raised)
        label = ink(picture, QRect(10, 0, 80, second.height() - 8), tokens.raised)
        assert colours_of(tokens, "text_2") <= colours(picture, label)
        assert not colours_of(tokens, "text") & colours(picture, label)
        assert (label.left() - 30, words.left() - (30 + 80 + 8)) in [(0, 0), (1, 0), (0, 1), (1, 1)]
        assert abs(label.center().y() - words.center().y()) <= 1
        assert tokens.danger in colours(picture, QRect(100, 0, 300, second.height()))


@BOTH
def test_a_thought_is_24_high_and_opens_beside_a_rule_of_2(tokens: Tokens) -> None:
    thought = card_of("t", ThinkingFacts("t", "Only one line.", 2600))
    with cards_shown([thought], theme=tokens.name) as rig:
        row = rig.view.card(0)
        assert isinstance(row, ThinkingRow)
        assert row.height() == 24
        row.head.click()
        settle()
        assert row.height() == 24 + 4 + 20
        picture = pixels(row)
        assert [colour(picture, x, 40) for x in (14, 15, 16, 17)] == [
            tokens.paper,
            tokens.border_strong,
            tokens.border_strong,
            tokens.paper,
        ]
        chevron = ink(picture, QRect(0, 0, 24, 24), tokens.paper)
        assert abs(chevron.center().x() - 15) <= 1, "the rule stands at its axis"
        words = ink(picture, QRect(20, 28, 300, 20), tokens.paper)
        assert words.left() - (15 + 2 + 20) in (0, 1)
        assert tokens.text_2 in colours(picture, QRect(20, 28, 300, 20))


@BOTH
def test_an_error_is_a_tinted_card_with_lines_of_20(tokens: Tokens) -> None:
    facts = ErrorFacts(
        "The step limit was reached", "25 steps ran.", "RECURSION_LIMIT", "Continue", "continue"
    )
    with cards_shown([card_of("e", facts)], theme=tokens.name) as rig:
        card = rig.view.card(0)
        assert isinstance(card, ErrorCard)
        assert card.height() == 1 + 12 + 20 + 20 + 12 + 1
        picture = pixels(card)
        assert runs(picture, 590) == [
            (tokens.danger_line, 1),
            (tokens.danger_soft, 64),
            (tokens.danger_line, 1),
        ]
        icon = ink(picture, QRect(4, 4, 34, 40), tokens.danger_soft)
        assert tokens.danger in colours(picture, icon)
        assert 14 <= icon.width() <= 18 and abs(icon.center().y() - 23) <= 1
        title, code, remedy = card.findChildren(QLabel)
        assert [type_of(part) for part in (title, code, remedy)] == [
            ("Inter", 13, 600),
            ("JetBrains Mono", 11, 400),
            ("Inter", 13, 400),
        ]
        below = colours(picture, QRect(48, 35, 200, 16))
        assert (tokens.text_2 in below, tokens.text in below) == (True, False)
        assert (card.action_button.height(), card.width() - card.action_button.geometry().right() - 1) == (
            28,
            13,
        )


def test_words_that_wrap_have_the_lines_of_their_role_and_are_still_plain() -> None:
    remedy = "Nothing listens at <b>127.0.0.1</b>. " * 6
    with cards_shown([card_of("e", ErrorFacts("Ollama does not answer", remedy))]) as rig:
        card = rig.view.card(0)
        assert card is not None
        words = card.findChildren(QLabel)[2]
        assert words.text().replace("\u200b", "") == remedy
        assert words.height() >= 60
        assert words.height() % 20 == 0
        assert "<b>127.0.0.1</b>" in card.accessibleName()


@pytest.mark.parametrize(
    ("words", "height"), [("Cut at 4,096 tokens.", 24), ("Left out of the prompt. " * 8, 40)]
)
def test_a_notice_has_lines_of_16_and_4_around_them(words: str, height: int) -> None:
    with cards_shown([card_of("n", NoticeFacts(words))]) as rig:
        line = rig.view.card(0)
        assert line is not None
        assert line.height() == height
        assert type_of(line.findChildren(QLabel)[0]) == ("Inter", 12, 400)
        picture = pixels(line)
        assert LIGHT.text_2 in colours(picture, QRect(22, 0, 400, height))
        assert LIGHT.text not in colours(picture, QRect(22, 0, 400, height))


@BOTH
def test_the_meta_line_is_24_high_and_has_dots_9_away(tokens: Tokens) -> None:
    meta = MessageMeta(model="qwen3:8b", tokens=412)
    message = TranscriptMessage("a", MessageKind.ANSWER, "Words.", meta=meta, has_footer=True)
    with cards_shown([message], theme=tokens.name) as rig:
        line = rig.view.card(0, is_footer=True)
        assert isinstance(line, MetaLine)
        assert line.height() == 24
        assert [button.size().toTuple() for button in line.findChildren(QToolButton)] == [(24, 24)] * 2
        picture = pixels(line)
        columns = [x for x in range(300) if colours(picture, QRect(x, 0, 1, 24)) != {tokens.paper}]
        assert columns[0] <= 1
        gaps = sorted(after - before - 1 for before, after in pairwise(columns))
        assert all(8 <= gap <= 11 for gap in gaps[-2:]), "beside the dot"
        assert gaps[-3] <= 5, "between the letters and words of a part"
        assert tokens.text_3 in colours(picture, QRect(0, 0, 300, 24))


@pytest.mark.parametrize(("percent", "scale"), [(100, 1.0), (150, 20 / 13), (200, 2.0)])
def test_icons_grow_with_the_words_beside_them(percent: int, scale: float) -> None:
    facts = ErrorFacts("The step limit was reached", "25 steps ran.", "RECURSION_LIMIT", "Continue")
    thought = card_of("t", ThinkingFacts("t", "Only one line.", 2600))
    with cards_shown([calls(DONE), thought, card_of("n", NoticeFacts("Cut.")), card_of("e", facts)]) as rig:
        rig.theme.choose_zoom(percent)
        settle()
        assert [mark_size(size) for size in (12, 14, 16, 18)] == [
            round(size * scale) for size in (12, 14, 16, 18)
        ]
        marks = [mark.width() for mark in rig.view.findChildren(MarkView)]
        assert sorted(marks) == [round(14 * scale), round(18 * scale)]
        head = tool_card(rig).heads[0]
        picture = pixels(head)
        begins = 8 + round(14 * scale) + 8
        room = QRect(begins - 2, 1, round(16 * scale) + 4, head.height() - 2)
        wrench = ink(picture, room, colour(picture, 2, 2))
        assert wrench.width() == pytest.approx(14 * scale, abs=2.0)
        assert wrench.left() - begins == pytest.approx(scale, abs=1.5)
        rig.theme.choose_zoom(100)
        settle()


def test_all_that_is_pressed_in_a_card_is_24_pixels_high_at_least() -> None:
    long = CallFacts("c3", "files", "read", "{}", CallState.DONE, 9, result="line\n" * 50)
    facts = ErrorFacts("The step limit was reached", "25 steps ran.", "RECURSION_LIMIT", "Continue", "go")
    with cards_shown([calls(long), card_of("e", facts)], height=700) as rig:
        tool_card(rig).heads[0].click()
        settle()
        targets = [part for part in rig.view.findChildren(QAbstractButton) if part.isVisible()]
        assert {part.objectName() for part in targets} >= {
            "toolHead",
            "showAll",
            "openInWindow",
            "errorAction",
        }
        assert min(part.height() for part in targets) >= 24
        assert isinstance(rig.view.findChild(QPushButton, "errorAction"), QPushButton)


@BOTH
def test_a_file_that_went_along_is_a_chip_of_28_that_is_8_below_its_message(tokens: Tokens) -> None:
    ref = AttachmentRef("0" * 64, "orders.csv", "text/csv", 18_000)
    long = AttachmentRef("1" * 64, "a_name_without_end_" * 9 + ".csv", "text/csv", 4_200_000)
    message = TranscriptMessage("u", MessageKind.USER, "Words.", payload=(ref, long), has_footer=True)
    with cards_shown([message], theme=tokens.name) as rig:
        files = AttachedFiles(rig.theme, rig.view)
        files.show_message(message)
        files.resize(600, files.heightForWidth(600))
        files.show()
        settle()
        first, second = files.chips
        assert [chip.height() for chip in files.chips] == [28, 28]
        assert (first.y(), files.height()) == (4, 4 + 28), "the view has 4 more"
        assert second.geometry().right() + 1 == 600
        assert second.x() - (first.x() + first.width()) == 8
        assert second.width() < 340
        picture = first.grab().toImage()
        assert colour(picture, first.width() / 2, 0) == tokens.border_strong
        assert colour(picture, 4, 14) == tokens.raised
        seen = ink(picture, QRect(2, 8, first.width() - 4, 13), tokens.raised)
        assert 9 <= seen.left() <= 11
        assert first.width() - 10 - 2 <= seen.right() + 1 <= first.width() - 8
        shown = colours(picture, seen)
        assert (tokens.text_2 in shown, tokens.text in shown) == (True, False)
        assert first.accessibleName() == "Attachment orders.csv, 18 kB"
        assert long.name in second.toolTip().replace("\u200b", "")
