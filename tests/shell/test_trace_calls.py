"""Calls in the trace that were asked about: one row each, in their step, whatever the question became."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.trace import words
from sophos_desktop.shell.trace.bars import Bar
from sophos_desktop.shell.trace.facts import telling_of
from sophos_desktop.shell.trace.shown import Shown
from sophos_desktop.shell.trace.telling import Place, Telling, clock_time
from sophos_desktop.shell.trace.tools_known import ToolsKnown
from sophos_desktop.shell.trace.trace_model import BAR, NAME, Role, TraceModel
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

AGENT = (step(1, "agent"), step(1, "agent", 900))
UNCERTAIN: Event = {
    "type": "approval_needed",
    "tool_call_id": "a",
    "server": "s",
    "tool": "look",
    "args": {},
    "why": "uncertain",
    "asked_at": SECOND.format(4),
}
APPROVAL: Event = {**UNCERTAIN, "why": "approval", "reason": "It writes", "scope": ""}
NOTE: Event = {"type": "tool_note", "tool_call_id": "a", "server": "s", "kind": "progress", "text": "pages"}
NOTE |= {"progress": 2, "total": 5}


def decided(decision: str, second: int, **more: object) -> Event:
    event: Event = {"type": "tool_decided", "tool_call_id": "a", "decision": decision, "why": "approval"}
    return {**event, "decided_at": SECOND.format(second), **more}


@pytest.fixture
def model() -> Iterator[TraceModel]:
    made = TraceModel(FakeClock())
    tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield made
    tester.deleteLater()
    made.deleteLater()


def take(model: TraceModel, status: RunStatus, *events: Event) -> None:
    """The run as it stands with its events so far, one by one."""
    model.set_runs([run_record("first", status)])
    for event in stored(*events):
        model.add_events("first", [event])


def find(model: TraceModel, name: str, parent: QModelIndex | None = None) -> QModelIndex:
    above = parent or QModelIndex()
    for row in range(model.rowCount(above)):
        index = model.index(row, NAME, above)
        if index.data() == name:
            return index
        below = find(model, name, index)
        if below.isValid():
            return below
    return QModelIndex()


def bar(model: TraceModel, name: str) -> Bar:
    found = find(model, name).siblingAtColumn(BAR).data(Role.BAR)
    assert isinstance(found, Bar)
    return found


def told(model: TraceModel, name: str) -> Telling:
    node = model.node(find(model, name))
    assert node is not None
    return telling_of(node, model.took_ms(node), ToolsKnown())


def test_a_call_that_waits_is_one_row_of_the_step_that_it_will_be_in(model: TraceModel) -> None:
    take(model, RunStatus.WAITING, BEGIN, *AGENT, APPROVAL, END)
    assert lines(model) == [
        "Run 1 · message | waiting | 5.0 s",
        "  1 · agent | done | 0.9 s",
        "  2 · tools | waiting | ",
        "    look | waiting | waiting",
    ]
    assert bar(model, "look") == Bar(4000, None, 7000, "tool", "waiting", 2, 4000, 3000)
    assert bar(model, "2 · tools") == Bar(4000, None, 7000, "tools", "waiting", 1, 4000, 3000)


def test_the_row_stays_the_same_when_the_call_is_made_and_its_bar_ends_the_waiting_at_the_decision(
    model: TraceModel,
) -> None:
    events = (BEGIN, *AGENT, APPROVAL, END, decided("allow", 6), BEGIN, step(2, "tools"), CALL, RESULT)
    whole = stored(*events, step(2, "tools", 3000))
    removed: list[int] = []
    model.rowsRemoved.connect(lambda _parent, first, _last: removed.append(first))
    model.set_runs([run_record("first", RunStatus.WAITING)])
    model.add_events("first", whole[:5])
    row = find(model, "look").internalId()
    model.set_runs([run_record("first", RunStatus.RUNNING)])
    for event in whole[5:]:
        model.add_events("first", [event])
    model.set_runs([run_record("first")])
    assert lines(model) == [
        "Run 1 · message | done | 10.0 s",
        "  1 · agent | done | 0.9 s",
        "  2 · tools | done | 3.0 s",
        "    look | done | 0.5 s",
    ]
    assert (find(model, "look").internalId(), removed) == (row, [])
    assert bar(model, "look") == Bar(9500, 500, 10_000, "tool", "done", 2, 4000, 2000)
    facts = {fact.label: fact.value for fact in told(model, "look").facts}
    assert facts["Asked"] == clock_time(SECOND.format(4))
    assert facts["Decided"] == clock_time(SECOND.format(6))
    assert (facts["Decision"], facts["Why asked"], facts["Attempt"]) == ("allowed", "It writes", "1 of 1")
    other = TraceModel(FakeClock())
    other.set_runs([run_record("first")])
    other.add_events("first", whole)
    assert lines(other) == lines(model)


def test_an_attempt_without_a_result_is_uncertain_until_somebody_decides(model: TraceModel) -> None:
    events = (BEGIN, step(1, "tools"), CALL, UNCERTAIN, END)
    take(model, RunStatus.WAITING, *events)
    assert lines(model)[1:] == ["  1 · tools | waiting | ", "    look | uncertain | no result"]
    assert bar(model, "look") == Bar(3000, 0, 7000, "tool", "uncertain", 2, 4000, None)
    telling = told(model, "look")
    facts = {fact.label: (fact.value, fact.is_warning) for fact in telling.facts}
    assert facts["Attempt"] == ("1, started", False)
    assert facts["Sent"] == (clock_time(SECOND.format(3)), False)
    assert facts["Answer"] == ("none recorded", True)
    assert telling.sentence.startswith("The app stopped before the server answered")
    model.set_runs([run_record("first", RunStatus.RUNNING)])
    more = (BEGIN, step(1, "tools"), {**CALL, "attempt": 2}, NOTE, RESULT, step(1, "tools", 100))
    for event in stored(decided("run-again", 5), *more, first=6):
        model.add_events("first", [event])
    model.set_runs([run_record("first")])
    assert lines(model)[1:] == [
        "  1 · tools | done | 0.1 s",
        "    look | interrupted | no result",
        "    look · attempt 2 | done | 0.5 s",
        "      Progress: 2 of 5 pages | done | ",
    ]
    assert told(model, "look · attempt 2").facts[1].value == "2 of 2"


def test_a_call_whose_server_died_says_so(model: TraceModel) -> None:
    died = {**NOTICE, "code": "TOOL_SERVER_DOWN"}
    take(model, RunStatus.WAITING, BEGIN, step(1, "tools"), CALL, died, UNCERTAIN, END)
    assert told(model, "look").sentence.startswith("The server ended before it answered")


@pytest.mark.parametrize(
    ("question", "decision", "status", "line"),
    [
        (APPROVAL, "deny", "denied", "    look | denied | denied"),
        (UNCERTAIN, "skip", "skipped", "    look | skipped | skipped"),
        (UNCERTAIN, "result", "ok", "    look | done | entered"),
    ],
)
def test_a_call_that_is_not_made_is_one_row_that_says_what_was_decided(
    model: TraceModel, question: Event, decision: str, status: str, line: str
) -> None:
    answered = {**RESULT, "status": status, "duration_ms": None}
    take(
        model,
        RunStatus.COMPLETED,
        BEGIN,
        *AGENT,
        question,
        END,
        decided(decision, 6),
        BEGIN,
        answered,
        step(2, "tools", 5),
    )
    assert lines(model)[2:] == ["  2 · tools | done | 5 ms", line]


def test_a_call_that_nobody_decided_on_is_not_made_when_the_run_is_over(model: TraceModel) -> None:
    take(model, RunStatus.CANCELLED, BEGIN, *AGENT, APPROVAL, END)
    assert lines(model)[2:] == ["  2 · tools | interrupted | ", "    look | interrupted | not made"]


def test_a_trace_of_a_version_that_told_no_decisions_and_no_steps_shows(model: TraceModel) -> None:
    asked = {name: value for name, value in UNCERTAIN.items() if name != "asked_at"}
    call = {name: value for name, value in CALL.items() if name != "attempt"}
    answered: Event = {"type": "model_call", "step": 1, "message_id": "m", "load_ms": 0, "prompt_ms": 0}
    answered |= {"thinking_ms": 0, "answer_ms": 500, "prompt_tokens": 1, "output_tokens": 1}
    take(model, RunStatus.COMPLETED, BEGIN, asked, call, {**RESULT, "duration_ms": None}, answered, END)
    assert lines(model)[1:] == [
        "  tools | done | ",
        "    look | done | 1.0 s",
        "  Answer | done | 0.5 s",
    ]
    assert told(model, "look").place == Place("", "a")
    assert words.json_lines(stored(BEGIN, END)).count("\n") == 2


def test_a_filter_takes_rows_away_and_gives_them_back(model: TraceModel) -> None:
    failed = {**RESULT, "status": "error"}
    thought: Event = {"type": "model_call", "step": 1, "message_id": "m", "load_ms": 0, "prompt_ms": 5}
    thought |= {"thinking_ms": 0, "answer_ms": 5, "prompt_tokens": 1, "output_tokens": 1}
    asked = (step(1, "agent"), thought, step(1, "agent", 10))
    take(
        model, RunStatus.COMPLETED, BEGIN, NOTICE, *asked, step(2, "tools"), CALL, failed, step(2, "tools", 1)
    )
    whole = lines(model)
    assert [line.split(" | ")[0] for line in whole[1:]] == [
        "  Notice: careful",
        "  1 · agent",
        "    Read prompt",
        "    Answer",
        "  2 · tools",
        "    look",
    ]
    for shown, expected in (
        (Shown(tools=False, notices=False), ["  1 · agent", "    Read prompt", "    Answer"]),
        (Shown(model=False), ["  Notice: careful", "  2 · tools", "    look"]),
        (Shown(only_failures=True), ["  2 · tools", "    look"]),
        (Shown(tools=False, only_failures=True), []),
    ):
        model.show_only(shown)
        assert [line.split(" | ")[0] for line in lines(model)[1:]] == expected
    model.show_only(Shown())
    assert lines(model) == whole


def test_a_filtered_trace_takes_events_one_by_one_as_it_takes_them_at_once(model: TraceModel) -> None:
    model.show_only(Shown(model=False, only_failures=True))
    failed = {**RESULT, "status": "error"}
    events = stored(BEGIN, NOTICE, *AGENT, step(2, "tools"), CALL, failed, step(2, "tools", 1), *AGENT)
    model.set_runs([run_record("first", RunStatus.RUNNING)])
    for event in events:
        model.add_events("first", [event])
    one_by_one = lines(model)[1:]
    model.show_only(Shown())
    model.show_only(Shown(model=False, only_failures=True))
    assert one_by_one == lines(model)[1:] == ["  2 · tools | done | 1 ms", "    look | failed | 0.5 s"]


def test_a_shut_run_keeps_its_own_numbers_of_attempts(model: TraceModel) -> None:
    lost = replace(run_record("second"), started_at=SECOND.format(1))
    model.set_runs([run_record("first"), lost])
    model.add_events("first", stored(BEGIN, step(1, "tools"), CALL, RESULT, step(1, "tools", 3000)))
    model.add_events("second", stored(BEGIN, step(2, "tools"), {**CALL, "attempt": 2}, RESULT))
    assert told(model, "look").facts[1].value == "1 of 1"
    assert told(model, "look · attempt 2").facts[1].value == "2 of 2"


def test_times_are_short_below_a_tenth_of_a_second() -> None:
    assert [words.time_words(value) for value in (9, 99, 100, 900, 2600, 61_000)] == [
        "9 ms",
        "99 ms",
        "0.1 s",
        "0.9 s",
        "2.6 s",
        "1 min 1 s",
    ]
    assert [words.column_words(value) for value in (59_000, 246_000, 5_400_000, 9e8)] == [
        "59.0 s",
        "4.1 min",
        "1.5 h",
        "250 h",
    ]


def test_times_are_those_of_this_machines_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert clock_time("2026-11-27T09:00:03.118Z") == "04:00:03.118"
    finally:
        monkeypatch.undo()
        time.tzset()
