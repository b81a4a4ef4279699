"""Words that are longer than their place give way where the look says so, and nothing is cut off."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QFontMetricsF, QImage
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget

from sophos_desktop.shell.chat.cards.arguments import broken
from sophos_desktop.shell.chat.cards.card_words import shortened
from sophos_desktop.shell.chat.empty_page import HINTS, EmptyPage
from sophos_desktop.shell.conversations.grouped_view import GroupedView
from sophos_desktop.shell.conversations.row_delegate import elided_title
from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.tokens import LIGHT
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.facts import MetaFacts
from sophos_desktop.shell.transcript.cards.meta_line import fitting
from tests.shell.question_rig import call, opened
from tests.shell.test_look import colour_at, core_in, laid_out, photo, type_of
from tests.shell.transcript.viewing import until_idle
from tests.support.card_window import part
from tests.support.fake_core_questions import FakeQuestion
from tests.support.window import open_window, turns, until

BREAK = "\u200b"
SERVER = "a_server_with_a_very_long_name_indeed"
TOOL = "a_tool_with_a_name_that_is_as_long_as_sixty_four_letters_allow"
HOST = "one.of.many.subdomains.of.data.example.org"
MODEL = "hf.co/somebody/Some-Very-Long-Name-Of-A-Model-32B-GGUF:Q4_K_M"


def ink(picture: QImage, area: QRect, ground: str) -> list[int]:
    """The columns of an area that hold something."""
    columns = range(area.left(), area.right() + 1)
    rows = range(area.top(), area.bottom() + 1)
    return [x for x in columns if any(QColor(picture.pixel(x, y)).name().upper() != ground for y in rows)]


async def test_the_words_of_the_filter_begin_8_behind_its_mark_and_its_clear_button_is_not_filled() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        field = rig.find(QLineEdit, "conversationFilter")
        rig.composer.setFocus()
        field.setText("HHHH")
        await until(lambda: colour_at(photo(field), field.width() - 16, 16) != LIGHT.raised)
        picture = photo(field)
        mark_right, inside = 9 + 16, QRect(2, 4, 60, 24)
        first = next(x for x in ink(picture, inside, LIGHT.raised) if x > mark_right)
        assert first - mark_right in (8, 9, 10), "the letter has its own air"
        cross = QRect(field.width() - 26, 6, 22, 20)
        inked = sum(
            colour_at(picture, x, y) != LIGHT.raised
            for x in range(cross.left(), cross.right())
            for y in range(cross.top(), cross.bottom())
        )
        assert 10 < inked < 90, "two strokes"


def test_a_head_that_asks_elides_its_names_and_never_its_state() -> None:
    question = FakeQuestion("c", "r", "m1:0", SERVER, TOOL, {"a": 1}, "approval")
    with opened(480) as rig:
        rig.show([call(question)], question)
        until_idle(rig.transcript)
        card = rig.card()
        labels = {one.property("part"): one for one in card.findChildren(QLabel) if not one.isHidden()}
        assert (labels["server"].text(), labels["tool"].text()) == (SERVER, TOOL)
        assert (labels["server"].toolTip(), labels["tool"].toolTip()) == (SERVER, TOOL)
        for name in ("server", "tool"):
            shown = QLabel.text(labels[name])
            assert shown.endswith("…")
            assert labels[name].fontMetrics().horizontalAdvance(shown) <= labels[name].width()
        state = labels["state"]
        assert state.width() >= state.fontMetrics().horizontalAdvance(state.text())
        right = state.mapTo(card, QPoint(state.width(), 0)).x()
        assert right == card.width() - 1 - 12


def test_short_names_in_a_head_are_whole_and_have_no_tooltip() -> None:
    question = FakeQuestion("c", "r", "m1:0", "files", "append", {"a": 1}, "approval")
    with opened(480) as rig:
        rig.show([call(question)], question)
        until_idle(rig.transcript)
        labels = {one.property("part"): one for one in rig.card().findChildren(QLabel)}
        assert [QLabel.text(labels[name]) for name in ("server", "tool")] == ["files", "append"]
        assert [labels[name].toolTip() for name in ("server", "tool")] == ["", ""]


def test_the_button_that_always_allows_fits_a_narrow_card_and_says_the_whole_host() -> None:
    url = f"https://{HOST}/a"
    question = FakeQuestion("c", "r", "m1:0", "fetch", "fetch", {"url": url}, "approval", scope=HOST)
    with opened(420) as rig:
        rig.show([call(question)], question)
        until_idle(rig.transcript)
        card = rig.card()
        button = part(card, QPushButton, "alwaysAllowButton")
        right = button.mapTo(card, QPoint(button.width(), 0)).x()
        assert right <= card.width() - 1 - 12
        assert button.text().endswith("data.example.org")
        assert HOST not in button.text()
        assert HOST in button.accessibleName()
        assert HOST in button.toolTip()


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("data.example.org", "data.example.org"),
        (HOST, "…domains.of.data.example.org"),
        (f"{'a' * 20}.{'b' * 27}", f"…{'b' * 27}"),
        (f"{'a' * 20}.{'b' * 26}", f"…{'b' * 26}"),
    ],
)
def test_of_a_long_host_the_end_is_shown(host: str, shown: str) -> None:
    assert shortened(host) == shown


@pytest.mark.parametrize(
    ("address", "broken_at"),
    [
        ("/a/b.csv?x=1&y=2#z", "/|a/|b.csv|?x=1|&y=2|#z"),
        ("short.example.org", "short.example.org"),
        ("https://", "https://"),
        ("x" * 25, "|".join("x" * 25)),
    ],
)
def test_an_address_is_broken_where_its_parts_begin_and_anywhere_in_what_is_long(
    address: str, broken_at: str
) -> None:
    made = broken(address)
    assert made.replace(BREAK, "") == address
    assert made.replace(BREAK, "|") == broken_at


def test_letters_that_need_their_neighbours_are_not_taken_apart() -> None:
    words = "\u0915\u094d\u0937\u093f" * 20
    assert broken(words) == words


ALL = MetaFacts(MODEL, "10:42", 412, 46.2)


@pytest.mark.parametrize("room", [60, 150, 250, 350, 450, 550, 2000])
def test_the_line_below_an_answer_cuts_no_figure_and_stays_in_its_room(room: int) -> None:
    metrics = QFontMetricsF(role_font(TYPE.small))
    parts = fitting(ALL, metrics, room)
    assert set(parts[1:]) <= {"10:42", "412 tokens", "46.2 tok/s"}
    between = metrics.horizontalAdvance("·") + 18
    assert sum(map(metrics.horizontalAdvance, parts)) + between * (len(parts) - 1) <= room


def test_a_long_model_name_gives_way_to_time_and_figures_and_keeps_both_its_ends() -> None:
    metrics = QFontMetricsF(role_font(TYPE.small))
    first, *others = fitting(ALL, metrics, 420)
    assert others == ["10:42", "412 tokens", "46.2 tok/s"]
    assert first.startswith("hf.co") and first.endswith("Q4_K_M") and "…" in first
    assert fitting(ALL, metrics, 2000) == list(ALL.parts)


def test_dots_stand_where_the_reading_of_a_title_ends() -> None:
    metrics = QFontMetrics(role_font(TYPE.interface))
    arabic = "العربية في القائمة مع عنوان طويل جدا جدا"
    assert elided_title(arabic, metrics, 2000) == arabic
    for room in range(60, 200, 7):
        assert elided_title(arabic, metrics, room).endswith("…\u200f")
    assert elided_title("A long title that does not fit", metrics, 100).endswith("…")


async def test_the_rows_look_alike_in_a_window_that_is_laid_out_from_the_right() -> None:
    pictures = []
    try:
        for direction in (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft):
            QApplication.setLayoutDirection(direction)
            async with open_window(core_in(LIGHT)) as rig:
                await laid_out(rig)
                rig.composer.setFocus()
                pictures.append(photo(rig.find(GroupedView, "conversationList").viewport()))
    finally:
        QApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    assert pictures[0] == pictures[1]


async def test_a_new_chat_shows_mark_title_and_what_one_can_do_with_the_keys_that_do_it() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        await turns(10)
        page = rig.find(EmptyPage, "emptyPage")
        title, note = rig.find(QLabel, "emptyTitle"), rig.find(QLabel, "emptyNote")
        assert (type_of(title), type_of(note)) == (("Inter", 20, 600), ("Inter", 13, 400))
        assert (title.height(), note.height()) == (28, 20)
        line, hints = rig.find(QWidget, "emptyLine"), rig.find(QWidget, "emptyHints")
        left = title.mapTo(page, QPoint(0, 0)).x()
        assert (hints.width(), left) == (360, (page.width() - 360) // 2)
        tops = [each.mapTo(page, QPoint(0, 0)).y() for each in (title, note, line)]
        assert tops[1] - tops[0] == 28 + 4
        assert tops[2] - tops[1] == 20 + 16
        keys = [keys for _, _, keys in HINTS if keys]
        actions = [rig.action(name).shortcut().toString() for name in ("actionServers", "actionKeyboard")]
        assert keys == actions
        picture = photo(rig.window.chat)
        corner = title.mapTo(rig.window.chat, QPoint(0, 0)) - QPoint(0, 16 + 40)
        assert colour_at(picture, corner.x(), corner.y()) == LIGHT.paper, "its corners are round"
        assert colour_at(picture, corner.x() + 3, corner.y() + 20) == LIGHT.accent
        assert colour_at(picture, corner.x() + 20, corner.y() + 12) == LIGHT.on_accent


async def test_a_small_window_leaves_hints_and_mark_out_before_its_composer() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        rig.window.theme.choose_zoom(200)
        rig.window.resize(480, 400)
        await turns(20)
        rig.action("actionNewChat").trigger()
        await rig.opened(None)
        await turns(10)
        page, hints = rig.find(EmptyPage, "emptyPage"), rig.find(QWidget, "emptyHints")
        assert not hints.isVisible()
        assert rig.window.height() == 400
        title = rig.find(QLabel, "emptyTitle")
        assert title.isVisible()
        assert page.rect().contains(QRect(title.mapTo(page, QPoint(0, 0)), title.size()))
        assert rig.composer.isVisible()
        rig.window.theme.choose_zoom(100)
        await laid_out(rig)
        await until(hints.isVisible)
