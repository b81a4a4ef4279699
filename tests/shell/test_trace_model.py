"""The trace as an item model, without a window: lazy, live, and never reset by an event."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from sophos_desktop.core.domain.projection import Figures
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.shell.trace.bars import Bar
from sophos_desktop.shell.trace.trace_model import BAR, NAME, TIME, Role, TraceModel
from sophos_desktop.shell.trace.words import figure_words
from tests.support.fake_core_parts import FakeClock, record

Event = dict[str, Any]
SECOND = "2026-11-27T09:00:{:02}.000Z"


def run_record(run_id: str, status: RunStatus = RunStatus.COMPLETED) -> RunRecord:
    ended = None if status.is_active else SECOND.format(10)
    return replace(record("c", run_id, status), started_at=SECOND.format(0), finished_at=ended)


def stored(*events: Event, first: int = 1) -> list[Event]:
    return [{"seq": seq, "at": SECOND.format(seq), **event} for seq, event in enumerate(events, start=first)]


def step(number: int, node: str, ms: int | None = None) -> Event:
    return {
        "type": "step",
        "step": number,
        "node": node,
        "phase": "started" if ms is None else "finished",
        "duration_ms": ms,
        "checkpoint_id": None,
    }


BEGIN: Event = {"type": "run_started", "conversation_id": "c", "kind": "message", "engine": "o", "model": "m"}
END: Event = {"type": "end", "status": "completed"}
CALL: Event = {
    "type": "tool_call",
    "tool_call_id": "a",
    "server": "s",
    "tool": "look",
    "args": {},
    "attempt": 1,
}
RESULT: Event = {"type": "tool_result", "tool_call_id": "a", "status": "ok", "text": "", "duration_ms": 500}
RESULT["recorded"] = False
NOTICE: Event = {"type": "notice", "code": "N", "text": "careful"}


@pytest.fixture
def model() -> Iterator[TraceModel]:
    made = TraceModel(FakeClock())
    tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield made
    tester.deleteLater()
    made.deleteLater()


def lines(model: TraceModel, parent: QModelIndex | None = None, depth: int = 0) -> list[str]:
    """The tree as a person reads it."""
    found: list[str] = []
    above = parent or QModelIndex()
    for row in range(model.rowCount(above)):
        index = model.index(row, NAME, above)
        said = (str(index.data()), str(index.data(Role.STATE)), str(model.index(row, TIME, above).data()))
        found.append("  " * depth + " | ".join(said))
        found += lines(model, index, depth + 1)
    return found


def test_a_run_is_a_tree_of_steps_and_what_happened_in_them(model: TraceModel) -> None:
    model.set_runs([run_record("first"), run_record("second")])
    model.add_events(
        "second", stored(BEGIN, NOTICE, step(1, "tools"), CALL, RESULT, step(1, "tools", 3000), END)
    )
    assert lines(model) == [
        "Run 2 · message | done | 10.0 s",
        "  Notice: careful | done | ",
        "  1 · tools | done | 3.0 s",
        "    look | done | 0.5 s",
        "Run 1 · message | done | 10.0 s",
    ]


def test_a_call_that_was_refused_has_the_name_of_what_the_model_asked_for(model: TraceModel) -> None:
    asked = {"server": "s", "tool": "wipe", "args": {}}
    answer: Event = {
        "type": "message",
        "message": {"id": "m", "role": "assistant", "text": "", "tool_calls": [asked]},
    }
    refused: Event = {**RESULT, "tool_call_id": "m:0", "status": "denied", "duration_ms": None}
    unknown: Event = {**refused, "tool_call_id": "before:0"}
    model.set_runs([run_record("first")])
    model.add_events(
        "first",
        stored(BEGIN, step(1, "agent"), answer, step(1, "agent", 9), step(2, "tools"), refused, unknown, END),
    )
    names = [line.strip().split(" | ")[0] for line in lines(model)]
    assert names[-2:] == ["wipe", "Result of an earlier call"]


@pytest.mark.parametrize("counted", [False, True])
def test_figures_that_no_engine_has_counted_yet_are_unknown_and_not_nothing(*, counted: bool) -> None:
    figures = Figures(steps=1, prompt_tokens=7 if counted else 0)
    told = dict(figure_words(figures, 25))
    assert told.pop("Steps") == "1 of 25"
    assert told.pop("Speed") == "–"
    known = {"Tokens in": "7", "Tokens out": "0", "Prompt": "0 s", "Model load": "0 s"}
    assert told == (known if counted else dict.fromkeys(known, "–"))


def test_the_events_of_a_run_are_asked_for_once_it_is_opened() -> None:
    model = TraceModel(FakeClock())
    wanted: list[str] = []
    model.wanted.connect(wanted.append)
    model.set_runs([run_record("first")])
    index = model.index(0, NAME)
    assert model.hasChildren(index)
    assert model.canFetchMore(index)
    assert wanted == []
    model.fetchMore(index)
    assert wanted == ["first"]
    model.add_events("first", [])
    assert not model.hasChildren(index)
    assert not model.canFetchMore(index)


def test_events_that_come_one_by_one_only_add_and_change_and_give_the_same_tree(model: TraceModel) -> None:
    events = stored(
        BEGIN, step(1, "tools"), CALL, RESULT, step(1, "tools", 3000), NOTICE, step(2, "agent"), END
    )
    resets: list[None] = []
    removed: list[int] = []
    model.set_runs([run_record("first", RunStatus.RUNNING)])
    model.modelReset.connect(lambda: resets.append(None))
    model.rowsRemoved.connect(lambda _parent, first, _last: removed.append(first))
    for event in events:
        model.add_events("first", [event])
    one_by_one = lines(model)
    assert (resets, removed) == ([], [])
    other = TraceModel(FakeClock())
    other.set_runs([run_record("first", RunStatus.RUNNING)])
    other.add_events("first", events)
    assert lines(other)[1:] == one_by_one[1:]
    model.add_events("first", events)
    assert lines(model)[1:] == one_by_one[1:]


def test_an_open_call_becomes_cut_off_when_its_run_is_over(model: TraceModel) -> None:
    model.set_runs([run_record("first", RunStatus.RUNNING)])
    model.add_events("first", stored(BEGIN, step(1, "tools"), CALL))
    assert [line.split(" | ")[1] for line in lines(model)] == ["running", "running", "running"]
    model.set_runs([run_record("first", RunStatus.INTERRUPTED)])
    assert [line.split(" | ")[1] for line in lines(model)] == ["interrupted", "interrupted", "interrupted"]
    index = model.index(0, NAME, model.index(0, NAME, model.index(0, NAME)))
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "look, not finished"


def test_a_new_run_comes_on_top_and_the_others_keep_what_they_have(model: TraceModel) -> None:
    model.set_runs([run_record("first")])
    model.add_events("first", stored(BEGIN, NOTICE))
    model.set_runs([run_record("first"), run_record("second", RunStatus.RUNNING)])
    assert [line.split(" | ")[0] for line in lines(model)] == [
        "Run 2 · message",
        "Run 1 · message",
        "  Notice: careful",
    ]
    model.set_runs([run_record("second")])
    assert [line.split(" | ")[0] for line in lines(model)] == ["Run 1 · message"]
    model.clear()
    assert lines(model) == []


def test_bars_stand_on_the_scale_of_their_run(model: TraceModel) -> None:
    model.set_runs([run_record("first")])
    model.add_events("first", stored(BEGIN, step(1, "tools"), CALL, RESULT, step(1, "tools", 3000)))
    run = model.index(0, NAME)
    tools = model.index(0, BAR, run)
    assert tools.data(Role.BAR) == Bar(2000, 3000, 10_000, "tools", "done", 1)
    call = model.index(0, BAR, model.index(0, NAME, run))
    assert call.data(Role.BAR) == Bar(3500, 500, 10_000, "tool", "done", 2)


def test_with_ten_thousand_events_one_more_touches_only_the_end() -> None:
    model = TraceModel(FakeClock())
    events: list[Event] = [BEGIN]
    for number in range(1, 2501):
        call = {"tool_call_id": str(number)}
        events += [step(number, "tools"), {**CALL, **call}, {**RESULT, **call}, step(number, "tools", 1)]
    model.set_runs([run_record("first", RunStatus.RUNNING)])
    inserted: list[int] = []
    changed: list[QModelIndex] = []
    model.rowsInserted.connect(lambda _parent, first, last: inserted.append(last - first + 1))
    model.dataChanged.connect(lambda index: changed.append(index))
    numbered = [{"seq": seq, "at": SECOND.format(seq % 60), **event} for seq, event in enumerate(events, 1)]
    model.add_events("first", numbered)
    assert inserted == [2500]
    inserted.clear()
    changed.clear()
    model.add_events("first", [{"seq": 20_000, "at": SECOND.format(1), **step(2501, "agent")}])
    assert inserted == [1]
    assert len(changed) <= 2
