"""Interface and reading size, and the zoom over both: everything follows at once and stays in its bounds."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontInfo, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from sophos_desktop.shell.conversations.grouped_view import GroupedView
from sophos_desktop.shell.theme.type_scale import TYPE, grown
from sophos_desktop.shell.theme.zoom import STEPS, next_zoom, zoom_of
from sophos_desktop.shell.transcript.cards.meta_line import MetaLine
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import assistant, user
from tests.support.window import WindowRig, open_window, turns, until


@asynccontextmanager
async def reading_window(core: FakeCore | None = None, width: int = 1280) -> AsyncIterator[WindowRig]:
    """A window with one conversation on the screen."""
    core = core or FakeCore()
    core.conversations.add("Orders", user("Total them."), assistant("Here they are: `a` and more.\n" * 8))
    async with open_window(core) as rig:
        rig.window.resize(width, 800)
        await until(lambda: rig.window.width() == width)
        rig.choose("Orders")
        await until(lambda: rig.window.presenter.conversation_id is not None)
        await until(
            lambda: not rig.window.presenter.is_loading and bool(rig.window.chat.transcript.cards.cards())
        )
        yield rig


def size_of(part: QWidget) -> int:
    """The size of its type, in pixels."""
    part.ensurePolished()
    return QFontInfo(part.font()).pixelSize()


def row_height(rig: WindowRig) -> int:
    """Of the list."""
    view = rig.find(GroupedView, "conversationList")
    return view.visualRect(rig.window.model.index(0)).height()


async def test_the_interface_size_reaches_every_part_of_the_frame_at_once() -> None:
    async with reading_window() as rig:
        assert (row_height(rig), rig.window.status.height()) == (32, 28)
        core = rig.window._core
        assert core is not None
        core.settings.set("ui.interface_size", "20")
        rig.window.dialogs.setting_changed.emit("ui.interface_size")
        await turns(20)
        assert size_of(rig.window.menuBar()) == 20
        assert size_of(rig.find(QLineEdit, "conversationFilter")) == 20
        assert row_height(rig) == grown(32, 13, 20 / 13) == 37
        assert rig.find(QLineEdit, "conversationFilter").height() == 37
        assert rig.window.status.height() > 28
        assert size_of(rig.composer) == 15
        assert rig.window.chat.transcript.looks.zoom == 1.0


async def test_the_reading_size_reaches_answers_composer_and_column_alone() -> None:
    async with reading_window() as rig:
        rig.window.theme.take("light", 13, 18)
        await turns(20)
        assert size_of(rig.composer) == 18
        assert rig.window.chat.transcript.looks.style.reading_size == 18
        room = rig.window.chat.transcript.viewport().width() - 60  # too narrow for 720
        assert rig.window.chat.transcript.transcript_layout.documents.column == room
        assert size_of(rig.window.menuBar()) == 13
        assert row_height(rig) == 32
        rig.window.theme.take("light", 13, 12)
        await turns(20)
        assert rig.window.chat.transcript.transcript_layout.documents.column == 480


async def test_the_zoom_multiplies_both_and_cards_follow_in_their_place() -> None:
    async with reading_window() as rig:
        line = next(c for c in rig.window.chat.transcript.cards.cards() if isinstance(c, MetaLine))
        assert line.sizeHint().height() == 24
        for _ in range(3):
            rig.action("actionZoomIn").trigger()
        await turns(20)
        assert rig.window.theme.zoom_percent == 150
        assert size_of(rig.window.menuBar()) == 20
        assert size_of(rig.composer) == 22
        assert line in rig.window.chat.transcript.cards.cards()  # not thrown away: it may have the focus
        assert line.sizeHint().height() == grown(24, 12, 20 / 13) > 24
        await until(lambda: line.height() == line.sizeHint().height())
        rig.action("actionZoomReset").trigger()
        await until(lambda: line.height() == 24)
        assert (row_height(rig), size_of(rig.composer)) == (32, 15)


async def test_what_is_read_stays_at_the_top_when_the_zoom_changes() -> None:
    core = FakeCore()
    texts = [part for n in range(40) for part in (user(f"Question {n}"), assistant(f"Answer {n}. " * 30))]
    core.conversations.add("Long", *texts)
    async with reading_window(core) as rig:
        rig.choose("Long")
        await until(lambda: len(rig.window.chat.transcript.model) > 40)
        view = rig.window.chat.transcript
        view.scroll_to_message(20)
        await turns(10)
        first = view.transcript_layout.visible_messages[0]
        rig.window.theme.choose_zoom(150)
        await turns(20)
        assert view.transcript_layout.visible_messages[0] == first
        rig.window.theme.choose_zoom(100)
        await turns(20)
        assert view.transcript_layout.visible_messages[0] == first


async def test_the_zoom_stays_in_its_bounds_and_is_kept_over_a_restart() -> None:
    core = FakeCore()
    async with reading_window(core) as rig:
        for _ in range(20):
            rig.action("actionZoomOut").trigger()
        assert rig.window.theme.zoom_percent == 80
        for _ in range(40):
            rig.action("actionZoomIn").trigger()
        assert rig.window.theme.zoom_percent == 200
        rig.window.theme.choose_zoom(125)
        await rig.window.save()
    async with open_window(core) as rig:
        assert rig.window.theme.zoom_percent == 125
        assert size_of(rig.window.menuBar()) == 16


async def test_zooming_by_the_keyboard() -> None:
    async with reading_window() as rig:
        rig.composer.setFocus()
        for key, percent in ((Qt.Key.Key_Plus, 110), (Qt.Key.Key_Minus, 100), (Qt.Key.Key_Minus, 90)):
            QTest.keyClick(rig.composer, key, Qt.KeyboardModifier.ControlModifier)
            assert rig.window.theme.zoom_percent == percent
        QTest.keyClick(rig.composer, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
        assert rig.window.theme.zoom_percent == 100


async def test_the_wheel_with_ctrl_is_left_to_the_window_and_zooms() -> None:
    async with reading_window() as rig:
        view = rig.window.chat.transcript.viewport()
        # Qt hands an ignored wheel on to the parents only if it came from the system: done here by hand.
        for target, is_taken in ((view, False), (rig.window, True)):
            place = QPointF(view.rect().center())
            event = QWheelEvent(
                place,
                view.mapToGlobal(place),
                QPoint(),
                QPoint(0, 120),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.ControlModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            )
            QApplication.sendEvent(target, event)
            assert event.isAccepted() is is_taken
        assert rig.window.theme.zoom_percent == 110


async def test_the_dock_keeps_its_width_through_all_zooms() -> None:
    async with reading_window() as rig:
        width = rig.window.dock.width()
        for percent in (200, 50, 100):
            rig.window.theme.choose_zoom(percent)
            await turns(20)
        assert rig.window.dock.width() == width
        assert rig.window.chat.mapTo(rig.window, QPoint(0, 0)).x() == 260


@pytest.mark.parametrize("percent", STEPS)
def test_a_step_in_and_a_step_out_come_back(percent: int) -> None:
    if percent not in (STEPS[0], STEPS[-1]):
        assert next_zoom(next_zoom(percent, is_larger=True), is_larger=False) == percent
        assert next_zoom(next_zoom(percent, is_larger=False), is_larger=True) == percent
    assert STEPS[0] <= next_zoom(percent, is_larger=False) <= percent <= next_zoom(percent, is_larger=True)


@pytest.mark.parametrize(
    ("text", "percent"),
    [(None, 100), ("", 100), ("150", 150), ("9", 80), ("50", 80), ("99999", 100), ("-3", 100)],
)
def test_a_stored_zoom_that_makes_no_sense_is_none(text: str | None, percent: int) -> None:
    assert zoom_of(text) == percent


async def test_no_text_of_the_interface_is_smaller_than_can_be_read() -> None:
    async with reading_window() as rig:
        rig.window.theme.take("light", 11, 12)
        rig.window.theme.choose_zoom(1)
        assert size_of(rig.window.menuBar()) >= 9


def test_rows_grow_with_their_line_and_never_shrink() -> None:
    for measure in (24, 26, 28, 32, 36, 48):
        heights = [grown(measure, TYPE.interface.size, scale / 10) for scale in range(5, 25)]
        assert heights[:6] == [measure] * 6
        assert heights == sorted(heights)
        assert heights[-1] > measure


@pytest.fixture(autouse=True)
def application_font_is_put_back(application: QApplication) -> Iterator[None]:
    """The next test's window starts at 100 %."""
    font = application.font()
    yield
    application.setFont(font)
