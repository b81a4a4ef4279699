"""Heights, paddings, colours and type of the real window are those of the look."""

from collections import Counter
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetrics, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from sophos_desktop.shell.conversations.grouped_view import GroupedView
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from sophos_desktop.shell.trace.dock import TraceDock
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.pane_button import PaneButton
from sophos_desktop.shell.widgets.status_item import ContextMeter, StatusItem
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, interrupted, user
from tests.support.window import WindowRig, open_window, turns, until

BOTH = pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])


def core_in(tokens: Tokens) -> FakeCore:
    """Some conversations, shown in one theme."""
    core = FakeCore()
    for title in ("Plum cake, halved", "Reading notes: durable execution and what it costs", "Orders"):
        core.conversations.add(title, user("Total them."), assistant("Here they are."))
    core.conversations.add("Rename photos by date", user("Go"), last_run=interrupted())
    core.settings.set("ui.theme", tokens.name)
    return core


async def laid_out(rig: WindowRig, width: int = 1280, height: int = 800) -> None:
    """Give the window a size and let it settle."""
    rig.window.resize(width, height)
    await until(lambda: rig.window.width() == width)
    await turns(10)


def photo(widget: QWidget) -> QImage:
    """What a widget looks like."""
    return widget.grab().toImage()


def colour_at(image: QImage, x: float, y: float) -> str:
    """A pixel as a token is written."""
    return QColor(image.pixelColor(QPointF(x, y).toPoint())).name().upper()


def place(rig: WindowRig, part: QWidget) -> QRect:
    """Where a part is in the window."""
    return QRect(part.mapTo(rig.window, QPoint(0, 0)), part.size())


async def test_bars_list_and_dock_have_the_measures_of_the_look() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        assert rig.window.menuBar().height() == 28
        assert rig.window.status.height() == 28
        for name in ("buttonToggleList", "buttonToggleTrace"):
            assert rig.find(PaneButton, name).size().toTuple() == (24, 24)
        panel = place(rig, rig.find(QWidget, "listPanel"))
        assert (panel.left(), panel.width() + 1) == (0, 260)  # its last pixel is the line
        field, button = (
            place(rig, rig.find(QLineEdit, "conversationFilter")),
            place(rig, rig.window.panel.new_button),
        )
        assert (field.height(), field.left(), field.top()) == (32, 12, 28 + 12)
        assert button.size().toTuple() == (32, 32)
        dock = place(rig, rig.find(TraceDock, "traceDock"))
        assert (dock.right(), dock.width() + 1) == (1279, 320)
        assert rig.find(QWidget, "traceTitleBar").height() == 40
        assert rig.window.dock.tree.header().height() == 24


async def test_rows_are_32_high_and_heads_28() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        view = rig.find(GroupedView, "conversationList")
        first, second = (view.visualRect(rig.window.model.index(row)) for row in (0, 1))
        assert (first.height(), second.top() - first.top()) == (32, 32)
        head = view.head_rect(rig.window.model.groups[0])
        assert (head.height(), head.top(), head.bottom() + 1) == (28, 0, first.top())
        assert place(rig, view).top() == 28 + 12 + 32


@BOTH
async def test_the_chosen_row_has_its_ground_and_its_bar(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        await laid_out(rig)
        rig.choose("Orders")
        await until(lambda: rig.window.presenter.conversation_id is not None)
        view = rig.find(GroupedView, "conversationList")
        rig.composer.setFocus()
        row = view.visualRect(view.currentIndex())
        picture = photo(view.viewport())
        middle = row.center().y()
        assert colour_at(picture, 4, middle) == tokens.window
        assert colour_at(picture, 9, middle) == tokens.accent
        bar = [y for y in range(row.top(), row.bottom() + 1) if colour_at(picture, 9, y) == tokens.accent]
        assert len(bar) in (14, 15, 16)  # its ends are round
        assert bar[0] - row.top() == row.bottom() - bar[-1]
        assert colour_at(picture, 14, middle) == tokens.selected
        assert colour_at(picture, row.right() - 8, middle) == tokens.selected
        assert colour_at(picture, row.right() - 3, middle) == tokens.window


@BOTH
async def test_regions_have_their_grounds_and_lines(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        await laid_out(rig)
        picture = photo(rig.window)
        assert colour_at(picture, 900, 5) == tokens.window
        assert colour_at(picture, 900, 27) == tokens.border
        assert colour_at(picture, 130, 760) == tokens.window
        assert colour_at(picture, 259, 400) == tokens.border
        assert colour_at(picture, 270, 100) == tokens.paper
        assert colour_at(picture, 960, 400) == tokens.border
        assert colour_at(picture, 1200, 700) == tokens.window
        assert colour_at(picture, 700, 800 - 28) == tokens.border
        assert colour_at(picture, 700, 790) == tokens.window


@BOTH
async def test_nine_of_ten_pixels_of_the_frame_are_a_tokens_colour(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        await laid_out(rig)
        rig.choose("Orders")
        await until(lambda: rig.window.presenter.conversation_id is not None)
        known = {QColor(colour).rgb() for colour in tokens.colours.values()}
        for part in (rig.window.menuBar(), rig.window.panel, rig.window.status, rig.window.dock):
            image = photo(part)  # as it is: converting it would start threads that stay
            pixels = Counter(
                image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(image.height())
            )
            of_tokens = sum(count for colour, count in pixels.items() if colour in known)
            assert of_tokens / pixels.total() >= 0.9, part.objectName()


def type_of(part: QWidget) -> tuple[str, int, int]:
    """Family, size in pixels, weight."""
    part.ensurePolished()
    font = QFontInfo(part.font())
    return font.family(), font.pixelSize(), font.weight()


async def test_the_parts_are_set_in_the_type_of_the_look() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        assert type_of(rig.window.menuBar()) == ("Inter", 13, 400)
        assert type_of(rig.find(QLineEdit, "conversationFilter")) == ("Inter", 13, 400)
        assert type_of(rig.find(QLabel, "traceTitle")) == ("Inter", 13, 600)
        assert type_of(rig.composer) == ("Inter", 15, 400)
        rig.find(Banner, "resumeBanner").show_message("This run was interrupted.")
        rig.find(Banner, "errorBanner").show_message("Ollama does not answer", code="ENGINE_UNREACHABLE")
        assert type_of(rig.button("resumeButton")) == ("Inter", 13, 500)
        words = rig.find(StatusItem, "statusEngine").findChildren(QLabel)[-1]
        assert type_of(words) == ("Inter", 12, 400)
        code = rig.find(Banner, "errorBanner").findChildren(QLabel)[-1]
        assert type_of(code) == ("JetBrains Mono", 11, 400)


def button(rig: WindowRig, make: Callable[[QWidget], QPushButton]) -> QPushButton:
    """A button that a part of the window might have."""
    made = make(rig.window)
    made.ensurePolished()
    made.adjustSize()
    return made


async def test_buttons_are_32_high_and_28_in_rows_with_their_padding() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        normal = button(rig, lambda parent: QPushButton("Run again", parent))
        width = QFontMetrics(normal.font()).horizontalAdvance("Run again")
        assert normal.sizeHint().height() == 32
        assert abs(normal.sizeHint().width() - (width + 2 * (12 + 1))) <= 2  # padding and line
        in_row = QPushButton("Run again", rig.window)
        in_row.setProperty("row", "true")
        in_row.ensurePolished()
        assert in_row.sizeHint().height() == 28
        assert normal.sizeHint().width() - in_row.sizeHint().width() == 4
        rig.find(Banner, "resumeBanner").show_message("This run was interrupted.")
        await turns(10)
        assert rig.button("resumeButton").height() == 28


@BOTH
async def test_a_button_shows_its_role_and_state_by_its_ground(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        await laid_out(rig)
        for role, ground in (("", tokens.raised), ("primary", tokens.accent), ("quiet", tokens.window)):
            one = QPushButton("Skip", rig.window.panel)
            if role:
                one.setProperty(role, "true")
            one.move(0, 100)
            one.show()
            assert colour_at(photo(rig.window.panel), 5, 100 + one.height() / 2) == ground
            one.setDown(True)
            pressed = tokens.accent_pressed if role == "primary" else tokens.pressed
            assert colour_at(photo(rig.window.panel), 5, 100 + one.height() / 2) == pressed
            one.hide()
            one.deleteLater()


@BOTH
async def test_a_field_is_32_high_and_shows_focus_and_fault_inside(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        await laid_out(rig)
        field = rig.find(QLineEdit, "conversationFilter")
        middle = field.width() // 2
        rig.composer.setFocus()
        assert colour_at(photo(field), middle, 0) == tokens.border_control
        assert colour_at(photo(field), middle, 1) == tokens.raised
        rig.window.activateWindow()
        field.setFocus()
        await until(lambda: field.hasFocus())
        assert [colour_at(photo(field), middle, y) for y in (0, 1, 2)] == [
            tokens.accent,
            tokens.accent,
            tokens.raised,
        ]
        assert field.height() == 32
        rig.composer.setFocus()
        field.setProperty("invalid", "true")
        field.style().polish(field)
        assert [colour_at(photo(field), middle, y) for y in (0, 1)] == [tokens.danger, tokens.danger]


@BOTH
async def test_switch_box_and_chooser_have_their_measures_and_colours(tokens: Tokens) -> None:
    async with open_window(core_in(tokens)) as rig:
        await laid_out(rig)
        switch, box, chooser = QCheckBox(rig.window), QCheckBox(rig.window), QComboBox(rig.window)
        switch.setProperty("switch", "true")
        chooser.addItems(["Ask", "Allow"])
        for part in (switch, box, chooser):
            part.ensurePolished()
            part.adjustSize()
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            part.move(400, 300)  # away from the pointer
            part.show()
        assert chooser.sizeHint().height() == 32
        off = photo(switch)
        assert colour_at(off, 9, switch.height() / 2) == tokens.border_control  # the knob
        assert colour_at(off, 24, switch.height() / 2) == tokens.raised
        switch.setChecked(True)
        on = photo(switch)
        assert colour_at(on, 23, switch.height() / 2) == tokens.on_accent
        assert colour_at(on, 8, switch.height() / 2) == tokens.accent
        box.setChecked(True)
        assert colour_at(photo(box), 3, box.height() / 2 - 4) == tokens.accent
        assert colour_at(photo(chooser), 5, 16) == tokens.raised
        assert colour_at(photo(chooser), 20, 0) == tokens.border_control
        for part in (switch, box, chooser):
            part.deleteLater()


async def test_the_keyboards_focus_on_a_button_has_a_ring_two_pixels_away() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        rig.window.activateWindow()
        one = rig.window.panel.new_button
        one.setFocus(Qt.FocusReason.TabFocusReason)
        await until(lambda: rig.window.theme.ring.ringed is one)
        spot = place(rig, one)
        picture = photo(rig.window)
        y = spot.center().y()
        assert [colour_at(picture, spot.left() - away, y) for away in (4, 3, 2, 1)] == [
            LIGHT.accent,
            LIGHT.accent,
            LIGHT.window,
            LIGHT.window,
        ]
        rig.composer.setFocus()
        await until(lambda: rig.window.theme.ring.ringed is None)


async def test_a_click_and_a_field_get_no_ring() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        rig.window.activateWindow()
        rig.find(QLineEdit, "conversationFilter").setFocus(Qt.FocusReason.TabFocusReason)
        await turns(5)
        assert rig.window.theme.ring.ringed is None
        rig.find(Banner, "resumeBanner").show_message("This run was interrupted.")
        await turns(10)
        resume = rig.button("resumeButton")
        resume.setEnabled(True)
        handle = rig.window.windowHandle()
        where = resume.mapTo(rig.window, resume.rect().center())
        QTest.mousePress(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
        await until(resume.hasFocus)
        assert rig.window.theme.ring.ringed is None
        resume.setDown(False)
        elsewhere = QPoint(600, 300)
        QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, elsewhere)


@pytest.mark.parametrize(
    ("used", "words", "colour"),
    [
        (3100, "3.1k of 16k", LIGHT.accent),
        (13107, "13.1k of 16k", LIGHT.accent),
        (13108, "13.1k of 16k", LIGHT.warning),
        (16384, "full", LIGHT.danger),
        (20000, "full", LIGHT.danger),
    ],
)
async def test_the_meter_warns_from_four_fifths_and_says_when_it_is_full(
    used: int, words: str, colour: str
) -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        meter = rig.find(ContextMeter, "contextMeter")
        assert not meter.isVisible()
        meter.show_use(used, 16384)
        await turns(5)
        assert meter.text == words
        bar = next(part for part in meter.findChildren(QWidget) if part.width() == 64)
        assert bar.height() == 6
        assert colour_at(photo(bar), 6, 3) == colour
        assert f"{used:,}" in meter.toolTip()


async def test_all_quiet_buttons_are_targets_of_24_pixels_or_more_with_a_name() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        quiet = [
            part
            for part in rig.window.findChildren(QToolButton)
            if part.property("quiet") and part.isVisible()
        ]
        assert len(quiet) >= 5
        for part in quiet:
            assert min(part.width(), part.height()) >= 24, part.objectName()
            assert part.toolTip() and part.accessibleName(), part.objectName()


@pytest.mark.parametrize(
    ("width", "has_dock", "has_list"), [(1280, True, True), (1090, False, True), (700, False, False)]
)
async def test_a_narrow_window_gives_up_the_dock_and_then_the_list(
    width: int, has_dock: bool, has_list: bool
) -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig)
        await laid_out(rig, width)
        assert rig.shows("traceDock") == has_dock
        assert rig.shows("conversationList") == has_list
        assert rig.shows("listRail") == (not has_list)
        await laid_out(rig)
        assert rig.shows("traceDock")
        assert rig.window.panel.width() + 1 == 260


async def test_the_smallest_window_still_holds_everything_it_needs() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig, 480, 400)
        assert rig.window.size().toTuple() == (480, 400)
        assert rig.window.panel.width() + 1 == 48
        for name in ("railNew", "railSearch"):
            assert rig.find(QToolButton, name).height() == 32
        assert rig.shows("composer")


async def test_the_rail_opens_the_list_and_a_choice_closes_it_again() -> None:
    async with open_window(core_in(LIGHT)) as rig:
        await laid_out(rig, 700)
        QTest.mouseClick(rig.find(QToolButton, "railSearch"), Qt.MouseButton.LeftButton)
        await until(lambda: rig.shows("conversationList"))
        await turns(10)
        rig.choose("Orders")
        await until(lambda: rig.shows("listRail"))
        await until(lambda: rig.window.presenter.conversation_id is not None)


async def test_the_rail_counts_what_runs() -> None:
    core = core_in(LIGHT)
    async with open_window(core) as rig:
        await laid_out(rig, 700)
        running = rig.find(QToolButton, "railRunning")
        assert not running.isVisible()
        started = next(iter(core.conversations.known))
        await core.runs.start(started, "go")
        await until(running.isVisible)
        assert running.text() == "1"
        assert running.accessibleName() == "Conversations that are running: 1"
        QTest.mouseClick(running, Qt.MouseButton.LeftButton)
        await rig.opened(started)
