"""Several runs of a conversation in the trace: one scale, numbers of their own, and how each ended."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.domain.run import RunKind, RunStatus
from sophos_desktop.shell.trace.bars import Bar
from sophos_desktop.shell.trace.facts import run_telling
from sophos_desktop.shell.trace.shown import Shown
from sophos_desktop.shell.trace.telling import Place, Telling, clock_time
from sophos_desktop.shell.trace.trace_model import BAR, NAME, TIME, TraceModel
from sophos_desktop.shell.trace.trace_model import Role as Asked
from tests.shell.test_trace_calls import AGENT, APPROVAL, UNCERTAIN, bar, find, take, told
from tests.shell.test_trace_model import (
    BEGIN,
    CALL,
    END,
    NOTICE,
    RESULT,
    SECOND,
    Event,
    lines,
    run_record,
    step,
    stored,
)
from tests.support.fake_core_parts import FakeClock

RECOVERED: Event = {"type": "recovered", "what": "it was interrupted and can be resumed"}


@pytest.fixture
def model() -> Iterator[TraceModel]:
    made = TraceModel(FakeClock())
    tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield made
    tester.deleteLater()
    made.deleteLater()


def said(message_id: str, role: Role, text: str, **more: object) -> Event:
    return {"type": "message", "message": {**Message(message_id, role, text).to_json(), **more}}


def run_bar(model: TraceModel, run_id: str) -> Bar | None:
    found = model.run_index(run_id).siblingAtColumn(BAR).data(Asked.BAR)
    assert found is None or isinstance(found, Bar)
    return found


def telling_of_run(model: TraceModel, run_id: str) -> Telling:
    run = model.run(run_id)
    assert run is not None
    return run_telling(run, model.run_ms(run))


def facts_of(telling: Telling) -> dict[str, str]:
    return {fact.label: fact.value for fact in telling.facts}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (RunStatus.FAILED, "failed"),
        (RunStatus.CANCELLED, "interrupted"),
        (RunStatus.INTERRUPTED, "interrupted"),
        (RunStatus.WAITING, "waiting"),
    ],
)
def test_an_open_step_is_drawn_again_once_its_run_ended_or_waits(
    model: TraceModel, status: RunStatus, expected: str
) -> None:
    model.set_runs([run_record("first", RunStatus.RUNNING)])
    model.add_events("first", stored(BEGIN, step(1, "agent")))
    index = find(model, "1 · agent")
    assert index.data(Asked.STATE) == "running"
    drawn: list[QModelIndex] = []
    model.dataChanged.connect(lambda first, last: drawn.extend(_between(model, first, last)))
    model.set_runs([run_record("first", status)])
    assert index.data(Asked.STATE) == expected
    assert index in drawn


def _between(model: TraceModel, first: QModelIndex, last: QModelIndex) -> list[QModelIndex]:
    return [model.index(row, NAME, first.parent()) for row in range(first.row(), last.row() + 1)]


def test_all_runs_are_on_the_scale_of_the_longest(model: TraceModel) -> None:
    short = replace(run_record("short"), finished_at=SECOND.format(2))
    model.set_runs([short, run_record("long")])
    model.add_events("short", stored(BEGIN, step(1, "agent"), step(1, "agent", 1000)))
    assert model.scale_ms == 10_000
    assert run_bar(model, "short") == Bar(0, 2000, 10_000, "run", "done", 0)
    assert run_bar(model, "long") == Bar(0, 10_000, 10_000, "run", "done", 0)
    assert bar(model, "1 · agent").total_ms == 10_000
    longer = replace(run_record("longer"), finished_at=SECOND.format(40))
    model.set_runs([short, run_record("long"), longer])
    assert bar(model, "1 · agent").total_ms == 40_000
    model.set_runs([short])
    assert model.scale_ms == 2000


def test_the_line_of_a_run_that_waits_is_as_long_as_what_it_waits_for(model: TraceModel) -> None:
    take(model, RunStatus.WAITING, BEGIN, *AGENT, APPROVAL, END)
    line, parent, call = (bar(model, name) for name in ("Run 1 · message", "2 · tools", "look"))
    assert line.start_ms + (line.length_ms or 0) == 7000
    for waits in (parent, call):
        assert waits.waited_from_ms + (waits.waited_ms or 0) == 7000
    assert parent.waited_from_ms <= call.waited_from_ms


def test_each_run_numbers_its_steps_from_one_and_the_input_is_no_step(model: TraceModel) -> None:
    model.set_runs([run_record("first"), run_record("second")])
    half = said("half", Role.ASSISTANT, "Half of an answer")
    entered = (step(8, "input", 46), half, said("u2", Role.USER, "Go on"))
    model.add_events(
        "second", stored(BEGIN, *entered, step(9, "agent"), step(9, "agent", 5), step(10, "tools"), CALL)
    )
    assert [line.split(" | ")[0] for line in lines(model)] == [
        "Run 2 · message",
        "  1 · agent",
        "  2 · tools",
        "    look",
        "Run 1 · message",
    ]


def test_a_run_that_goes_on_after_a_decision_goes_on_in_its_count(model: TraceModel) -> None:
    later = (step(6, "agent"), step(6, "agent", 900))
    take(model, RunStatus.WAITING, BEGIN, *later, APPROVAL, END)
    assert [line.split(" | ")[0] for line in lines(model)[1:]] == ["  1 · agent", "  2 · tools", "    look"]
    model.set_runs([run_record("first")])
    more = (BEGIN, step(7, "tools"), CALL, RESULT, step(7, "tools", 5), step(8, "agent"), step(8, "agent", 5))
    model.add_events("first", stored(*more, first=6))
    assert [line.split(" | ")[0] for line in lines(model)[1:]] == [
        "  1 · agent",
        "  2 · tools",
        "    look",
        "  3 · agent",
    ]


def test_a_resumed_run_that_begins_with_a_question_has_a_number_for_its_step(model: TraceModel) -> None:
    record = replace(run_record("first", RunStatus.WAITING), kind=RunKind.RESUME)
    model.set_runs([record])
    model.add_events("first", stored(BEGIN, UNCERTAIN, END))
    assert lines(model)[1:] == ["  1 · tools | waiting | ", "    look | uncertain | no result"]


def test_a_run_that_was_found_dead_took_until_its_last_event() -> None:
    model = TraceModel(FakeClock())
    wanted: list[str] = []
    model.wanted.connect(wanted.append)
    found_late = replace(run_record("first", RunStatus.INTERRUPTED), finished_at=SECOND.format(40))
    model.set_runs([found_late])
    assert wanted == ["first"]  # its record alone does not tell
    run = model.run_index("first")
    assert (run.siblingAtColumn(TIME).data(), run_bar(model, "first"), model.scale_ms) == ("", None, 1)
    recovered = {**RECOVERED, "at": SECOND.format(40)}
    ended = {**END, "at": SECOND.format(40), "status": "interrupted"}
    model.add_events("first", stored(BEGIN, step(1, "agent"), recovered, ended))
    assert run.siblingAtColumn(TIME).data() == "2.0 s"
    assert run_bar(model, "first") == Bar(0, 2000, 2000, "run", "interrupted", 0)
    facts = facts_of(telling_of_run(model, "first"))
    assert (facts["State"], facts["Took"]) == ("interrupted", "2.0 s")
    assert facts["Last event"] == clock_time(SECOND.format(2))
    assert "Finished" not in facts


def test_a_run_that_was_interrupted_by_quitting_tells_when_it_ended(model: TraceModel) -> None:
    take(model, RunStatus.INTERRUPTED, BEGIN, *AGENT, {**END, "status": "interrupted"})
    facts = facts_of(telling_of_run(model, "first"))
    assert (facts["Finished"], facts["Took"]) == (clock_time(SECOND.format(10)), "10.0 s")
    assert "Last event" not in facts


def test_the_step_in_which_a_run_failed_tells_the_error(model: TraceModel) -> None:
    error = "Ollama does not answer. Start it with `ollama serve`"
    failed = replace(
        run_record("first", RunStatus.FAILED), error_code="ENGINE_UNREACHABLE", error_message=error
    )
    model.set_runs([failed])
    model.add_events("first", stored(BEGIN, step(1, "agent"), {**END, "status": "failed"}))
    telling = told(model, "1 · agent")
    assert facts_of(telling) | {"Saved": "no", "Error": "ENGINE_UNREACHABLE"} == facts_of(telling)
    assert telling.sentence == "Ollama does not answer. Start it with “ollama serve”"
    assert telling_of_run(model, "first").sentence == telling.sentence


def test_every_row_leads_to_what_is_around_it_in_the_transcript(model: TraceModel) -> None:
    resumed = replace(run_record("second", RunStatus.FAILED), kind=RunKind.RESUME)
    model.set_runs([replace(run_record("first", RunStatus.FAILED), input_message_id="u1"), resumed])
    model.add_events("first", stored(BEGIN, NOTICE, step(1, "agent")))
    model.add_events("second", stored(BEGIN, step(2, "tools"), {**CALL, "tool_call_id": "m1:0"}))
    assert told(model, "Notice: careful").place == Place("u1")
    assert told(model, "look").place == Place("m1", "m1:0")
    assert telling_of_run(model, "first").place == Place("u1")
    assert telling_of_run(model, "second").place == Place("m1", "m1:0")


def test_an_answer_counts_thinking_only_where_there_was_some(model: TraceModel) -> None:
    call: Event = {"type": "model_call", "step": 1, "message_id": "m", "load_ms": 0, "prompt_ms": 0}
    call |= {"thinking_ms": 0, "answer_ms": 5, "prompt_tokens": 1, "output_tokens": 8}
    take(model, RunStatus.COMPLETED, BEGIN, step(1, "agent"), call, step(1, "agent", 9))
    assert facts_of(told(model, "Answer"))["Tokens"] == "8"
    model.clear()
    take(model, RunStatus.COMPLETED, BEGIN, step(1, "agent"), {**call, "thinking_ms": 4}, step(1, "agent", 9))
    assert facts_of(told(model, "Answer"))["Tokens"] == "8 with thinking"


def test_calls_of_one_tool_differ_by_their_first_argument(model: TraceModel) -> None:
    calls = [{**CALL, "tool_call_id": name, "args": {"name": name, "tail": 3}} for name in ("a.txt", "b.txt")]
    listed = {**CALL, "tool_call_id": "c", "args": {"names": ["x", "y"]}}
    take(model, RunStatus.RUNNING, BEGIN, step(1, "tools"), *calls, listed, {**CALL, "tool_call_id": "d"})
    above = find(model, "1 · tools")
    rows = [model.index(row, NAME, above) for row in range(model.rowCount(above))]
    assert [row.data(Asked.ARGUMENT) for row in rows] == ["a.txt", "b.txt", "x", ""]
    assert model._said(model._nodes[int(rows[0].internalId())]).startswith("look, a.txt, running")


def test_a_huge_argument_is_not_looked_through(model: TraceModel) -> None:
    take(model, RunStatus.RUNNING, BEGIN, step(1, "tools"), {**CALL, "args": {"text": "word " * 500_000}})
    assert len(find(model, "look").data(Asked.ARGUMENT)) <= 60


def test_a_filter_that_wants_failures_takes_a_run_that_has_one() -> None:
    model = TraceModel(FakeClock())
    model.set_runs([run_record("clean"), run_record("broken")])
    model.add_events("clean", stored(BEGIN, NOTICE))
    model.add_events("broken", stored(BEGIN, step(1, "tools"), CALL, {**RESULT, "status": "error"}))
    model.show_only(Shown(only_failures=True))
    assert [model.rowCount(model.run_index(run_id)) for run_id in ("clean", "broken")] == [0, 1]
