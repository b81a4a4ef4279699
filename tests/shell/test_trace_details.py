"""The trace dock beside the pictures: its buttons, its details, its way to the transcript, its measures."""

import asyncio
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QPlainTextEdit, QSplitter, QToolButton, QWidget

from sophos_desktop.core.domain.conversation import Message, Role, ToolCall, ToolStatus
from sophos_desktop.core.domain.errors import ErrorCode
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolAnnotations, ToolSpec
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.shell.trace.details import TraceDetails
from sophos_desktop.shell.trace.details_parts import ElidedTitle
from sophos_desktop.shell.trace.facts import run_telling
from sophos_desktop.shell.trace.nodes import Run
from sophos_desktop.shell.trace.telling import Telling, clock_time
from sophos_desktop.shell.trace.trace_tree import TraceTree
from sophos_desktop.shell.transcript.cards.parts import LinkButton
from sophos_desktop.shell.transcript.cards.tool_card import ToolCard
from tests.shell.test_trace_calls import APPROVAL, UNCERTAIN
from tests.shell.test_trace_dock import select, shown, told, wide
from tests.shell.test_trace_model import BEGIN, CALL, END, NOTICE, RESULT, run_record, step, stored
from tests.support.fake_core import FakeCore
from tests.support.fake_core_parts import user
from tests.support.window import WindowRig, open_window, until

CHECKPOINT = "1f0b3c64-8d1a-6c1e-8002-9be04d5f1a22"


def core_with(*events: dict[str, Any], status: RunStatus = RunStatus.COMPLETED) -> FakeCore:
    """A core with one conversation, whose one run has these events."""
    core = FakeCore()
    conversation_id = core.conversations.add("Old", user("go"))
    core.runs.records[conversation_id] = {"r1": run_record("r1", status)}
    core.conversations.traces["r1"] = stored(*events)
    return core


def done_call(args: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], ...]:
    finished = {**step(1, "tools", 3000), "checkpoint_id": CHECKPOINT}
    return (BEGIN, step(1, "tools"), {**CALL, "args": dict(args or {})}, RESULT, finished)


async def open_old(rig: WindowRig, row: str) -> None:
    wide(rig)
    rig.choose("Old")
    await until(lambda: row in shown(rig))


def press(rig: WindowRig, name: str) -> None:
    """The Space key on a button of the dock."""
    button = rig.find(QToolButton, name)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)


async def test_a_call_tells_server_attempt_times_checkpoint_and_arguments() -> None:
    core = core_with(*done_call({"names": ["orders.csv"]}))
    core.trust.given["s"] = Trust.BUILT_IN
    async with open_window(core) as rig:
        await open_old(rig, "look")
        select(rig, "look")
        assert told(rig) == {
            "Server": "s, built in",
            "Attempt": "1 of 1",
            "Started": clock_time("2026-11-27T09:00:03.000Z"),
            "Finished": clock_time("2026-11-27T09:00:04.000Z"),
            "Checkpoint": "step 1, 1f0b3c64-8d1a",
        }
        assert rig.find(QPlainTextEdit, "traceBody").toPlainText() == '{"names": ["orders.csv"]}'
        assert rig.find(ElidedTitle, "traceDetailsTitle").font().family() == "JetBrains Mono"


async def test_a_call_without_a_result_tells_the_hints_of_its_tool_and_that_nothing_is_recorded() -> None:
    core = core_with(BEGIN, step(1, "tools"), CALL, UNCERTAIN, END, status=RunStatus.WAITING)
    spec = ToolSpec("s__look", "s", "look", "", {}, ToolAnnotations(read_only=False, idempotent=True))
    core.servers.set(ServerStatus("s", "stdio", ServerState.READY, "", "2026-11-27T09:00:00Z", tools=(spec,)))
    async with open_window(core) as rig:
        await open_old(rig, "look")
        select(rig, "look")
        facts = told(rig)
        assert facts["Hints"] == "not read-only, idempotent"
        assert (facts["Attempt"], facts["Answer"]) == ("1, started", "none recorded")
        assert "not known" in rig.find(QLabel, "traceSentence").text()
        warning = rig.window.theme.tokens.warning
        values = rig.window.dock.details.findChildren(QLabel, "traceFactValue")
        answer = next(value for value in values if value.text() == "none recorded")
        assert answer.palette().windowText().color().name() == warning.lower()
        assert answer.accessibleName() == "Answer: none recorded"


async def test_with_nothing_chosen_the_newest_run_is_summed_up() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        assert rig.find(ElidedTitle, "traceDetailsTitle").text() == "Run 1 · message"
        assert (told(rig)["State"], told(rig)["Took"]) == ("completed", "10.0 s")


def test_a_run_tells_what_it_was_asked() -> None:
    run = Run(run_record("r1"), 2)
    asked = Message("u1", Role.USER, "Total orders.csv")
    run.events = [dict(BEGIN), {"type": "message", "message": asked.to_json(), "seq": 2, "at": ""}]
    telling = run_telling(run, 900)
    assert (telling.title, telling.texts) == ("Run 2 · message", ("Total orders.csv",))
    assert telling.place is not None
    assert telling.place.message_id == "u1"


async def test_the_steps_of_a_run_that_goes_on_are_told_with_their_limit() -> None:
    core = core_with(BEGIN, step(1, "agent"), step(1, "agent", 9), APPROVAL, END, status=RunStatus.WAITING)
    async with open_window(core) as rig:
        await open_old(rig, "look")
        assert figure(rig, "Steps") == "1 of 25"
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        assert figure(rig, "Steps") == "1"


def figure(rig: WindowRig, label: str) -> str:
    named = f"{label}: "
    labels = rig.window.dock.findChildren(QLabel)
    found = [one.accessibleName() for one in labels if one.accessibleName().startswith(named)]
    return found[0].removeprefix(named)


async def test_the_link_leads_to_the_call_in_the_transcript_and_opens_it() -> None:
    core = FakeCore()
    calls = tuple(ToolCall(f"m1:{index}", "s", "look", {"names": [f"n{index}"]}) for index in range(2))
    results = [
        Message(f"t{index}", Role.TOOL, "found", tool_call_id=call.id, tool_status=ToolStatus.OK)
        for index, call in enumerate(calls)
    ]
    later = [Message(f"m{number}", Role.ASSISTANT, "word " * 300) for number in range(2, 12)]
    asked = Message("m1", Role.ASSISTANT, "", None, calls)
    conversation_id = core.conversations.add("Old", user("go"), asked, *results, *later)
    core.runs.records[conversation_id] = {"r1": run_record("r1")}
    second = {"tool_call_id": "m1:1"}
    core.conversations.traces["r1"] = stored(
        BEGIN, step(1, "tools"), {**CALL, **second}, {**RESULT, **second}, step(1, "tools", 9)
    )
    async with open_window(core) as rig:
        await open_old(rig, "look")
        await rig.opened(conversation_id)
        select(rig, "look")
        link = rig.find(LinkButton, "traceShowInTranscript")
        assert link.isVisible()
        assert link.accessibleName() == "Show in transcript"
        link.setFocus()
        QTest.keyClick(link, Qt.Key.Key_Space)
        card = next(card for card in rig.transcript.cards.cards() if isinstance(card, ToolCard))
        assert card.isVisible()
        assert [part.key for part in card.all_parts()] == ["m1:1/arguments", "m1:1/result"]
        top = card.mapTo(rig.transcript.viewport(), QPoint(0, 0)).y()
        assert 0 <= top < rig.transcript.viewport().height() // 2
        assert rig.transcript.hasFocus()


async def test_what_the_transcript_does_not_show_has_no_link() -> None:
    async with open_window(core_with(BEGIN, NOTICE)) as rig:
        await open_old(rig, "Notice: careful")
        select(rig, "Notice: careful")
        assert not rig.find(LinkButton, "traceShowInTranscript").isVisible()


async def test_the_filter_is_a_menu_of_what_is_shown() -> None:
    async with open_window(core_with(BEGIN, NOTICE, *done_call()[1:])) as rig:
        await open_old(rig, "look")
        press(rig, "traceFilter")
        menu = rig.find(QMenu, "traceFilterMenu")
        assert menu.isVisible()
        entries = [action.text().replace("&", "") for action in menu.actions() if not action.isSeparator()]
        assert entries == ["Model", "Tools", "Questions", "Notices", "Only Failures"]
        menu.close()
        rig.find(QAction, "actionTraceShowNotices").trigger()
        assert shown(rig) == ["Run 1 · message", "1 · tools", "look"]
        assert rig.find(QToolButton, "traceFilter").accessibleDescription() == "Some rows are not shown"
        rig.find(QAction, "actionTraceShowFailures").trigger()
        assert shown(rig) == []
        rig.find(QAction, "actionTraceShowFailures").trigger()
        rig.find(QAction, "actionTraceShowNotices").trigger()
        assert shown(rig) == ["Run 1 · message", "Notice: careful", "1 · tools", "look"]
        assert rig.find(QToolButton, "traceFilter").accessibleDescription() == ""


async def test_the_trace_of_a_run_is_saved_as_lines_of_json(tmp_path: Path) -> None:
    core = core_with(*done_call())
    target = tmp_path / "run.jsonl"
    async with open_window(core) as rig:
        await open_old(rig, "look")
        press(rig, "traceSave")
        dialog = rig.find(QFileDialog, "traceSaveDialog")
        assert dialog.testOption(QFileDialog.Option.DontUseNativeDialog)
        assert dialog.selectedFiles()[0].endswith("/Old.trace.jsonl")
        dialog.fileSelected.emit(str(target))
        dialog.reject()
        await until(lambda: rig.banner("traceSavedBar").isVisible())
        events = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
        assert events == core.conversations.traces["r1"]


async def test_a_trace_that_cannot_be_saved_says_why_and_replaces_no_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        rig.window.trace_saving.write("r1", pipe)
        await until(lambda: says(rig, "it is a device or a pipe"))
        rig.window.trace_saving.write("r1", tmp_path / "no" / "run.jsonl")
        await until(lambda: says(rig, "No such file"))
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert not [name for name in await asyncio.to_thread(os.listdir, tmp_path) if name != "pipe"]


def says(rig: WindowRig, reason: str) -> bool:
    banner = rig.banner("errorBanner")
    is_export = banner.isVisible() and banner.code == str(ErrorCode.EXPORT_FAILED)
    return is_export and any(reason in label.text() for label in banner.findChildren(QLabel))


async def test_rows_chevrons_names_and_lines_stand_where_the_look_has_them() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        tree = rig.find(TraceTree, "traceTree")
        run = rig.window.trace.run_index("r1")
        rows = [tree.visualRect(index) for index in (run, rig.window.trace.index(0, 0, run))]
        assert [row.height() for row in rows] == [26, 26]
        assert rows[0].top() == 0
        dock = rig.window.dock
        top = tree.viewport().mapTo(dock, QPoint(0, 0)).y()
        line = rig.find(QSplitter, "traceSplitter").mapTo(dock, QPoint(0, 0)).y()
        assert top - line == 28  # from the line above the axis: 24 with both lines, and 4 above the rows
        widths = [tree.columnWidth(column) for column in range(3)]
        assert (widths[0], widths[2], sum(widths)) == (160, 52 + 16, tree.viewport().width())
        assert tree._chevron_at(run) + 6 == 14  # its middle, behind the dock's line
        splitter = rig.find(QSplitter, "traceSplitter")
        assert splitter.sizes()[0] == 28 + 3 * 26 + 4


async def test_a_chevron_opens_and_shuts_with_the_mouse_and_a_name_does_not() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        tree = rig.find(TraceTree, "traceTree")
        middle = tree.visualRect(rig.window.trace.run_index("r1")).center().y()
        for x, expected in (
            (14, ["Run 1 · message"]),
            (14, ["Run 1 · message", "1 · tools", "look"]),
            (60, ["Run 1 · message", "1 · tools", "look"]),
        ):
            QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, middle))
            assert shown(rig) == expected
        assert rig.find(ElidedTitle, "traceDetailsTitle").text() == "Run 1 · message"


async def test_the_details_stay_where_they_are_once_a_row_is_chosen() -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        splitter = rig.find(QSplitter, "traceSplitter")
        tree = rig.find(TraceTree, "traceTree")
        before = splitter.sizes()
        tree.collapse(rig.window.trace.run_index("r1"))
        assert splitter.sizes() != before
        tree.expand(rig.window.trace.run_index("r1"))
        assert splitter.sizes() == before
        select(rig, "look")
        tree.collapse(rig.window.trace.run_index("r1"))
        assert splitter.sizes() == before


@pytest.mark.parametrize("name", ["traceFilter", "traceSave", "traceFloat", "traceClose", "traceCopy"])
async def test_every_button_of_the_dock_has_a_name_and_takes_the_keyboard(name: str) -> None:
    async with open_window(core_with(*done_call())) as rig:
        await open_old(rig, "look")
        button = rig.find(QToolButton, name)
        assert button.accessibleName()
        assert button.toolTip()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
        assert (button.width(), button.height()) == (24, 24)


async def test_a_long_name_is_cut_at_its_end_and_told_whole() -> None:
    tool = "read_the_whole_graph_of_everything_that_was_ever_remembered"
    call = {**CALL, "tool": tool}
    async with open_window(core_with(BEGIN, step(1, "tools"), call, RESULT, step(1, "tools", 9))) as rig:
        await open_old(rig, tool)
        rig.window.theme.choose_zoom(150)
        select(rig, tool)
        title = rig.find(ElidedTitle, "traceDetailsTitle")
        beside = rig.find(QWidget, "traceAsText")
        assert title.shown_text().endswith("…")
        assert rig.find(TraceTree, "traceTree").columnWidth(2) == 52 * 1.5 + 16
        assert title.toolTip() == tool
        assert title.geometry().right() < beside.geometry().left()
        rig.window.theme.reset_zoom()


async def test_the_sentence_of_a_call_keeps_clear_of_the_card_below_it() -> None:
    async with open_window(core_with(*done_call({"names": ["orders.csv"]}))) as rig:
        await open_old(rig, "look")
        details = rig.find(QWidget, "traceDetails")
        assert isinstance(details, TraceDetails)
        details.show_telling(Telling("look", sentence="The server died. " * 6, texts=("{}",)))
        await until(lambda: rig.find(QWidget, "traceSentence").isVisible())
        sentence, body = rig.find(QWidget, "traceSentence"), rig.find(QPlainTextEdit, "traceBody")
        page = rig.find(QWidget, "traceDetailsPage")
        await until(lambda: body.mapTo(page, QPoint()).y() > sentence.geometry().bottom())
        assert body.mapTo(page, QPoint()).y() - sentence.geometry().bottom() - 1 == 8
