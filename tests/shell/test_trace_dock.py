"""The trace dock in the window: live, for old runs, hidden, remembered."""

import json
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDockWidget, QLabel, QPlainTextEdit, QToolButton

from sophos_desktop.core.domain.conversation import Message, Role, ToolCall
from sophos_desktop.core.domain.events import ModelCallFinished, StepEvent, ToolCallFinished, ToolCallStarted
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.trace.axis import tick_words, ticks, unit_of
from sophos_desktop.shell.trace.telling import clock_time
from sophos_desktop.shell.trace.trace_model import NAME
from sophos_desktop.shell.trace.trace_tree import TraceTree
from tests.shell.test_trace_model import BEGIN, CALL, NOTICE, RESULT, run_record, step, stored
from tests.shell.test_window_core import window_on
from tests.support.fake_core import FakeCore, FakeHandle
from tests.support.fake_core_parts import user
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until


def shown(rig: WindowRig) -> list[str]:
    """The rows that can be seen, from the top."""
    tree = rig.find(TraceTree, "traceTree")
    names: list[str] = []
    index = rig.window.trace.index(0, NAME)
    while index.isValid():
        if not tree.isRowHidden(index.row(), index.parent()):
            names.append(str(index.data()))
        index = tree.indexBelow(index)
    return names


def select(rig: WindowRig, name: str) -> None:
    """Make the first visible row with that name the current one."""
    tree = rig.find(TraceTree, "traceTree")
    index = rig.window.trace.index(0, NAME)
    while str(index.data()) != name:
        index = tree.indexBelow(index)
        assert index.isValid(), f"there is no {name}"
    tree.setCurrentIndex(index)


def wide(rig: WindowRig) -> None:
    rig.window.resize(1280, 800)


def facts(rig: WindowRig) -> list[str]:
    """What the details say of the chosen row."""
    return list(told(rig).values())


def told(rig: WindowRig) -> dict[str, str]:
    """Labels and values of the details."""
    labels = rig.window.dock.details.findChildren(QLabel, "traceFactLabel")
    values = rig.window.dock.details.findChildren(QLabel, "traceFactValue")
    return {label.text(): value.text() for label, value in zip(labels, values, strict=True)}


async def send(rig: WindowRig, core: FakeCore, text: str) -> FakeHandle:
    rig.type(text)
    rig.enter()
    await until(lambda: core.runs.handles and rig.window.presenter.is_running)
    return core.runs.handles[-1]


async def test_a_running_run_grows_in_the_dock_step_by_step() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        wide(rig)
        handle = await send(rig, core, "Look")
        await until(lambda: shown(rig) == ["Run 1 · message"])
        core.conversations.traced.clear()
        handle.tell(StepEvent(1, "agent", "started"))
        handle.tell(ModelCallFinished(1, "m1", 5, 900, 2600, 400, 1500, 40))
        handle.tell(StepEvent(1, "agent", "finished", 3900, "c1"))
        call = ToolCall("m1:0", "memory", "search_nodes", {"query": "orders"})
        handle.store(Message("m1", Role.ASSISTANT, "", tool_calls=(call,)))
        handle.tell(StepEvent(2, "tools", "started"))
        handle.tell(ToolCallStarted(call.id, call.server, call.tool, call.args, 1))
        await until(lambda: "search_nodes" in shown(rig))
        assert shown(rig)[1:6] == ["1 · agent", "Load model", "Read prompt", "Think", "Ask for a tool"]
        assert rig.window.dock._tick.isActive()
        handle.tell(ToolCallFinished(call.id, "ok", "found", 9, recorded=False))
        handle.end()
        await until(lambda: not rig.window.presenter.is_running and not rig.window.dock._tick.isActive())
        assert core.conversations.traced == []  # nothing of a live run is read from the store
        figures = [label.text() for label in rig.window.dock.findChildren(QLabel, "traceFigure")]
        assert figures == ["2", "1,500", "40", "13.3 tok/s", "0.9 s", "5 ms"]


async def test_runs_of_last_year_show_from_what_is_stored_and_are_read_when_they_are_opened() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("go"))
    core.runs.records[conversation_id] = {"r1": run_record("r1"), "r2": run_record("r2")}
    core.conversations.traces["r1"] = stored(BEGIN, NOTICE)
    core.conversations.traces["r2"] = stored(BEGIN, step(1, "tools"), CALL, RESULT, step(1, "tools", 3000))
    async with open_window(core) as rig:
        wide(rig)
        rig.choose("Old")
        await until(lambda: "look" in shown(rig))
        assert shown(rig) == ["Run 2 · message", "1 · tools", "look", "Run 1 · message"]
        assert core.conversations.traced == ["r2"]
        rig.find(TraceTree, "traceTree").expand(rig.window.trace.run_index("r1"))
        await until(lambda: "Notice: careful" in shown(rig))
        assert core.conversations.traced == ["r2", "r1"]


async def test_the_chosen_event_is_told_as_facts_and_as_json_and_can_be_copied() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("go"))
    core.runs.records[conversation_id] = {"r1": run_record("r1", RunStatus.FAILED)}
    call = {**CALL, "args": {"names": ["a"]}}
    core.conversations.traces["r1"] = stored(BEGIN, step(1, "tools"), call, {**RESULT, "text": "found it"})
    async with open_window(core) as rig:
        wide(rig)
        rig.choose("Old")
        await until(lambda: "look" in shown(rig))
        select(rig, "look")
        body = rig.find(QPlainTextEdit, "traceBody")
        assert told(rig) == {
            "Server": "s",
            "Attempt": "1 of 1",
            "Started": clock_time("2026-11-27T09:00:03.000Z"),
            "Finished": clock_time("2026-11-27T09:00:04.000Z"),
        }
        assert body.toPlainText() == '{"names": ["a"]}'
        assert rig.find(QPlainTextEdit, "traceResult").toPlainText() == "found it"
        QTest.mouseClick(rig.find(QToolButton, "traceAsJson"), Qt.MouseButton.LeftButton)
        assert [event["type"] for event in json.loads(body.toPlainText())] == ["tool_call", "tool_result"]
        QTest.mouseClick(rig.find(QToolButton, "traceCopy"), Qt.MouseButton.LeftButton)
        assert json.loads(QGuiApplication.clipboard().text())[1]["text"] == "found it"
        QTest.mouseClick(rig.find(QToolButton, "traceAsText"), Qt.MouseButton.LeftButton)
        select(rig, "Run 1 · message")
        assert facts(rig)[0] == "failed"
        select(rig, "1 · tools")
        assert facts(rig)[:3] == ["tools", "failed", clock_time("2026-11-27T09:00:02.000Z")]


async def test_a_hidden_dock_reads_nothing_and_catches_up_when_it_is_shown() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        wide(rig)
        rig.action("actionToggleTrace").trigger()
        assert not rig.shows("traceDock")
        handle = await send(rig, core, "Look")
        handle.tell(StepEvent(1, "agent", "finished", 10, "c"))
        handle.end()
        await until(lambda: not rig.window.presenter.is_running)
        assert rig.window.trace.runs == []
        assert core.conversations.traced == []
        rig.action("actionToggleTrace").trigger()
        await until(lambda: "1 · agent" in shown(rig))
        assert shown(rig) == ["Run 1 · message", "1 · agent"]


async def test_switching_the_conversation_switches_the_trace() -> None:
    core = FakeCore()
    core.conversations.add("Empty", user("x"))
    async with open_window(core) as rig:
        wide(rig)
        handle = await send(rig, core, "Look")
        await until(lambda: shown(rig))
        rig.choose("Empty")
        await until(lambda: shown(rig) == [] and rig.shows("traceEmpty"))
        handle.tell(StepEvent(1, "agent", "finished", 10, "c"))
        handle.end()
        rig.choose("Look")
        await until(lambda: "1 · agent" in shown(rig))
        assert set(core.conversations.traced) == {handle.run_id}


async def test_the_dock_is_where_it_was_after_a_restart() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        wide(rig)
        rig.window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, rig.find(QDockWidget, "traceDock"))
        rig.action("actionToggleList").trigger()
        await rig.window.save()
    async with open_window(core) as rig:
        dock = rig.find(QDockWidget, "traceDock")
        assert rig.window.dockWidgetArea(dock) == Qt.DockWidgetArea.LeftDockWidgetArea
        assert not rig.shows("listPanel")
        assert not rig.action("actionToggleList").isChecked()
        wide(rig)
        assert rig.shows("traceDock")
        rig.action("actionToggleTrace").trigger()
        await rig.window.save()
    async with open_window(core) as rig:
        wide(rig)
        assert not rig.shows("traceDock")
        assert not rig.action("actionToggleTrace").isChecked()


async def test_a_narrow_window_hides_the_dock_by_itself_unless_it_was_opened_by_hand() -> None:
    core = FakeCore()
    async with open_window(core) as rig:
        wide(rig)
        await until(lambda: rig.shows("traceDock"))
        rig.window.resize(900, 700)
        await until(lambda: not rig.shows("traceDock"))
        wide(rig)
        await until(lambda: rig.shows("traceDock"))
        rig.window.resize(900, 700)
        await until(lambda: not rig.shows("traceDock"))
        rig.action("actionToggleTrace").trigger()
        rig.window.resize(1070, 700)  # 480 are left for the transcript
        assert rig.shows("traceDock")


async def test_the_tree_is_walked_by_keyboard() -> None:
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("go"))
    core.runs.records[conversation_id] = {"r1": run_record("r1")}
    core.conversations.traces["r1"] = stored(BEGIN, step(1, "tools"), CALL, RESULT, step(1, "tools", 3000))
    async with open_window(core) as rig:
        wide(rig)
        rig.choose("Old")
        await until(lambda: "look" in shown(rig))
        tree = rig.find(TraceTree, "traceTree")
        tree.setFocus()
        QTest.keyClick(tree, Qt.Key.Key_Home)
        QTest.keyClick(tree, Qt.Key.Key_Left)
        assert shown(rig) == ["Run 1 · message"]
        QTest.keyClick(tree, Qt.Key.Key_Right)
        QTest.keyClick(tree, Qt.Key.Key_Down)
        assert rig.find(QLabel, "traceDetailsTitle").text() == "1 · tools"
        assert tree.currentIndex() != QModelIndex()


async def test_a_real_run_shows_the_same_live_and_after_a_restart(data_dir: Path) -> None:
    async with OllamaServer((FakeModel("smol:latest"),)) as ollama:
        ollama.script(Reply(pieces=("It ", "works."), hold_after=1))
        async with window_on(data_dir, {"OLLAMA_HOST": ollama.url}) as rig:
            wide(rig)
            rig.type("Does it?")
            rig.enter()
            await until(lambda: any(name.endswith("· agent") for name in shown(rig)))
            assert "Answer" not in shown(rig)
            ollama.release()
            await until(lambda: "Answer" in shown(rig) and not rig.window.presenter.is_running)
            live = shown(rig)
            await rig.window.save()
        async with window_on(data_dir, {"OLLAMA_HOST": ollama.url}) as rig:
            wide(rig)
            await until(lambda: "Answer" in shown(rig))
            assert shown(rig) == live
            assert live[0] == "Run 1 · message"
            select(rig, "Answer")
            assert "It works." in rig.find(QPlainTextEdit, "traceBody").toPlainText()


def test_the_axis_has_round_marks() -> None:
    assert ticks(8400) == [3000, 6000]
    assert [tick_words(mark, 8400) for mark in ticks(8400)] == ["3", "6"]
    assert [tick_words(mark, 5e5) for mark in ticks(5e5)] == ["3", "6"]  # minutes
    assert [unit_of(total)[1] for total in (90, 900, 5e5, 1e8)] == ["ms", "s", "min", "h"]
    assert all(0 < len(ticks(total)) <= 3 for total in (1, 7, 53, 119, 900, 1000, 5e4, 3.6e6, 1e8))
