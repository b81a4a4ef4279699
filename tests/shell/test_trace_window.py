"""The trace dock as a thing to look at: its scale, its window, its line, its followed end."""

import functools

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSplitter, QSplitterHandle, QToolButton, QWidget

from sophos_desktop.core.domain.events import StepEvent
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.trace.axis import AxisHeader
from sophos_desktop.shell.trace.dock import TraceDock
from sophos_desktop.shell.trace.floating import place_of
from sophos_desktop.shell.trace.trace_model import NAME
from sophos_desktop.shell.trace.trace_tree import TraceTree
from tests.shell.test_trace_details import core_with, done_call, open_old, press
from tests.shell.test_trace_dock import select, send, shown, told, wide
from tests.shell.test_trace_model import BEGIN, CALL, run_record, step, stored
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import FakeClock, user
from tests.support.window import WindowRig, open_window, until

SCREEN = QRect(0, 0, 1920, 1080)
DOCK = QSize(320, 700)


def test_a_floating_dock_stands_beside_the_window_or_above_the_composer() -> None:
    for window in (QRect(100, 100, 1280, 800), QRect(600, 100, 1280, 800)):
        beside = place_of(DOCK, window, SCREEN, 750)
        assert not beside.intersects(window)
        assert SCREEN.contains(beside)
    whole = place_of(DOCK, SCREEN, SCREEN, 900)
    assert SCREEN.contains(whole)
    assert whole.bottom() < 900
    assert whole.right() > 1800


async def test_the_float_button_gives_a_window_with_a_frame_and_takes_it_back() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        dock, button = rig.find(TraceDock, "traceDock"), rig.find(QToolButton, "traceFloat")
        assert button.accessibleName() == "Show the trace in its own window"
        press(rig, "traceFloat")
        assert dock.isFloating()
        assert dock.isVisible()
        assert dock.windowTitle() == "Trace"
        flags = dock.windowFlags()
        assert flags & Qt.WindowType.WindowTitleHint
        assert not flags & Qt.WindowType.FramelessWindowHint
        assert button.accessibleName() == button.toolTip() == "Put the trace back into the window"
        composer = rig.window.chat.composer
        free_until = composer.mapToGlobal(QPoint(0, 0)).y()
        window = rig.window.frameGeometry()
        assert dock.geometry().bottom() < free_until or not dock.geometry().intersects(window)
        assert "look" in shown(rig)
        assert dock.focusWidget() is button
        press(rig, "traceFloat")
        assert not dock.isFloating()
        assert dock.isVisible()
        assert rig.window.dockWidgetArea(dock) == Qt.DockWidgetArea.RightDockWidgetArea
        assert button.accessibleName() == "Show the trace in its own window"


async def test_the_scale_is_that_of_the_longest_run_whatever_is_chosen() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("go"))
    core.runs.records[conversation_id] = {"r1": run_record("r1"), "r2": run_record("r2", RunStatus.FAILED)}
    core.conversations.traces["r2"] = stored(BEGIN, step(1, "tools"), CALL)
    async with open_window(core) as rig:
        await open_old(rig, "look")
        axis = rig.find(TraceTree, "traceTree").axis
        assert axis.total_ms == 10_000
        for name in ("Run 1 · message", "look", "Run 2 · message"):
            select(rig, name)
            assert axis.total_ms == 10_000


async def test_every_line_has_its_figure_and_a_narrow_dock_has_one_beside_zero() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        tree = rig.find(TraceTree, "traceTree")
        for width in (320, 281):
            rig.window.resizeDocks([rig.window.dock], [width], Qt.Orientation.Horizontal)
            await until(functools.partial(_is_as_wide, rig, width), f"{width} wide")
            for total in (1.3**power for power in range(8, 68)):  # 8 ms to 15 hours
                tree.set_scale(total)
                marks = tree.axis.marks(tree.columnWidth(1))
                assert len(marks) >= 2, (width, total)
                assert all(mark < total for mark in marks)


def _is_as_wide(rig: WindowRig, width: int) -> bool:
    return abs(rig.window.dock.width() - width) <= 1


def test_an_axis_without_room_has_no_lines_without_figures() -> None:
    above = QWidget()
    axis = AxisHeader(Theme(above), above)
    axis.set_total(9000)
    assert axis.marks(30) == [0.0]
    assert axis.marks(92) == [0.0, 3000.0, 6000.0]


async def test_the_time_that_a_run_took_goes_on_in_the_details() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        wide(rig)
        handle = await send(rig, core, "Look")
        await until(lambda: shown(rig) == ["Run 1 · message"])
        rig.window.trace._clock = FakeClock()
        rig.window.dock._on_tick()
        before = told(rig)["Took"]
        rig.window.dock._on_tick()
        assert told(rig)["Took"] != before
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)


async def test_the_end_of_a_running_run_is_followed_until_a_row_is_chosen() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        wide(rig)
        handle = await send(rig, core, "Look")
        tree = rig.find(TraceTree, "traceTree")
        for number in range(1, 41):
            handle.tell(StepEvent(number, "agent", "finished", 10, "c"))
        await until(lambda: "40 · agent" in shown(rig))
        room = tree.viewport().rect()
        assert room.contains(tree.visualRect(tree._last_of_newest()))
        select(rig, "1 · agent")
        handle.tell(StepEvent(41, "agent", "finished", 10, "c"))
        await until(lambda: "41 · agent" in shown(rig))
        assert room.contains(tree.visualRect(tree.currentIndex()))
        assert not room.contains(tree.visualRect(tree._last_of_newest()))
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)


async def test_a_row_that_is_chosen_by_keyboard_is_seen_whole() -> None:
    events = [part for number in range(1, 26) for part in (step(number, "agent"), step(number, "agent", 9))]
    async with open_window(core_with(BEGIN, *events)) as rig:
        await open_old(rig, "25 · agent")
        tree = rig.find(TraceTree, "traceTree")
        tree.setFocus()
        for _ in range(24):
            QTest.keyClick(tree, Qt.Key.Key_Down)
            assert tree.viewport().rect().contains(tree.visualRect(tree.currentIndex()).center())
            row, room = tree.visualRect(tree.currentIndex()), tree.viewport().rect()
            assert room.top() <= row.top() and row.bottom() <= room.bottom()
        rig.find(QSplitter, "traceSplitter").setSizes([120, 400])
        row, room = tree.visualRect(tree.currentIndex()), tree.viewport().rect()
        assert room.top() <= row.top() and row.bottom() <= room.bottom()


async def test_the_line_above_the_details_is_moved_by_keyboard() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        line, splitter = rig.find(QSplitterHandle, "traceLine"), rig.find(QSplitter, "traceSplitter")
        assert line.cursor().shape() == Qt.CursorShape.SplitVCursor
        before = splitter.sizes()[0]
        line.setFocus()
        QTest.keyClick(line, Qt.Key.Key_Down)
        assert splitter.sizes()[0] == before + 26
        QTest.keyClick(line, Qt.Key.Key_Up)
        assert splitter.sizes()[0] == before


async def test_the_filter_button_shows_that_something_is_left_out() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        button, tools = rig.find(QToolButton, "traceFilter"), rig.find(QAction, "actionTraceShowTools")
        assert not button.isChecked()
        tools.trigger()
        assert button.isChecked()
        tools.trigger()
        assert not button.isChecked()


async def test_only_failures_leaves_out_runs_that_have_none() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("go"))
    records = [run_record("r1"), run_record("r2", RunStatus.FAILED), run_record("r3")]
    core.runs.records[conversation_id] = {record.id: record for record in records}
    for run_id in ("r1", "r2", "r3"):
        core.conversations.traces[run_id] = stored(BEGIN, step(1, "agent"), step(1, "agent", 9))
    async with open_window(core) as rig:
        await open_old(rig, "1 · agent")
        rig.find(QAction, "actionTraceShowFailures").trigger()
        await until(lambda: shown(rig) == ["Run 2 · message"], "one run")
        rig.find(QAction, "actionTraceShowFailures").trigger()
        assert [name for name in shown(rig) if name.startswith("Run")] == [
            "Run 3 · message",
            "Run 2 · message",
            "Run 1 · message",
        ]


async def test_the_details_fit_into_the_narrowest_dock() -> None:
    async with open_window(core_with(*done_call({"text": "a" * 300}))) as rig:
        await open_old(rig, "look")
        rig.window.resizeDocks([rig.window.dock], [281], Qt.Orientation.Horizontal)
        await until(lambda: rig.window.dock.width() <= 282, "narrow")
        for row in ("Run 1 · message", "look"):
            select(rig, row)
            labels = rig.window.dock.details.findChildren(QLabel, "traceFactLabel")
            assert labels[1].y() - labels[0].y() == 20
            page = rig.window.dock.details._page
            room = page.parentWidget()
            assert room is not None
            assert page.minimumSizeHint().width() <= room.width()
            for label in page.findChildren(QLabel, "traceFactValue"):
                assert label.mapTo(page, QPoint(label.width(), 0)).x() <= room.width()
        assert rig.find(TraceTree, "traceTree").columnWidth(NAME) < 160
