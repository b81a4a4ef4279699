"""The fold of stored events into run › step › row."""

from collections.abc import Sequence
from typing import Any

import pytest

from sophos_desktop.core.domain.durations import between, duration
from sophos_desktop.core.domain.projection import Figures, StepFold, TraceStep, step_span, steps_of
from sophos_desktop.core.domain.trace_rows import TraceRow, rows_of
from tests.core.domain.stored_events import (
    BEGIN,
    END,
    NOTICE,
    START,
    Event,
    at,
    message,
    model_call,
    numbered,
    step,
    tool_call,
    tool_result,
)


def shape(steps: Sequence[TraceStep]) -> list[tuple[int | None, str, bool, list[str]]]:
    return [(one.number, one.node, one.is_finished, [event["type"] for event in one.events]) for one in steps]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], []),
        ([BEGIN], [(None, "", False, ["run_started"])]),
        (
            [BEGIN, step(0, "input", "finished", 3), message("u", "user"), END],
            [
                (None, "", False, ["run_started"]),
                (0, "input", True, ["message"]),
                (None, "", False, ["end"]),
            ],
        ),
        (  # parallel calls each say that their step began
            [step(2, "tools", "started"), step(2, "tools", "started"), tool_call("a"), tool_call("b")],
            [(2, "tools", False, ["tool_call", "tool_call"])],
        ),
        (  # a step that is cut off and done again
            [step(1, "agent", "started"), END, BEGIN, step(1, "agent", "started"), NOTICE],
            [(1, "agent", False, ["end", "run_started", "notice"])],
        ),
        (  # the same number after its end is another step
            [step(1, "agent", "finished", 2), step(1, "agent", "started")],
            [(1, "agent", True, []), (1, "agent", False, [])],
        ),
        (
            [step(1, "agent", "finished", 2), message("m"), NOTICE, message("m2")],
            [(1, "agent", True, ["message"]), (None, "", False, ["notice", "message"])],
        ),
    ],
)
def test_events_fall_into_steps_and_what_is_outside_of_them(
    events: list[Event], expected: list[tuple[int | None, str, bool, list[str]]]
) -> None:
    assert shape(steps_of(numbered(*events))) == expected


def test_a_fold_event_by_event_is_the_fold_of_all_and_changes_its_last_group_alone() -> None:
    events = numbered(
        BEGIN,
        NOTICE,
        step(0, "input", "finished", 1),
        message("u", "user"),
        step(1, "agent", "started"),
        model_call(),
        step(1, "agent", "finished", 9),
        message("m"),
        END,
    )
    fold = StepFold()
    for count, event in enumerate(events, start=1):
        before = list(fold.steps)
        changed = fold.add(event)
        assert changed == len(fold.steps) - 1
        assert list(fold.steps[:changed]) == before[:changed]
        assert list(fold.steps) == list(steps_of(events[:count]))
    assert fold.last_seq == len(events)


def test_the_figures_add_up_what_the_engine_counted_and_leave_the_input_step_out() -> None:
    fold = StepFold(
        numbered(
            step(0, "input", "finished", 1),
            step(1, "agent", "started"),
            model_call(prompt_tokens=100, output_tokens=20, prompt_ms=50, thinking_ms=300, answer_ms=100),
            step(1, "agent", "finished", 9),
            step(2, "tools", "finished", 9),
            step(3, "agent", "started"),
            model_call(prompt_tokens=130, output_tokens=20, load_ms=7, answer_ms=400),
        )
    )
    assert fold.figures == Figures(3, 230, 40, 50, 7, 800)
    assert fold.figures.tokens_per_second == 50
    assert Figures().tokens_per_second is None


def rows(*events: Event, is_running: bool = False) -> list[tuple[str, str, float | None, float | None]]:
    (group,) = steps_of(numbered(step(1, "agent", "started"), *events))
    made = rows_of(group, START, is_running=is_running)
    return [(row.kind, row.state, row.start_ms, row.duration_ms) for row in made]


def test_the_phases_of_a_model_call_end_where_it_ended() -> None:
    call = model_call(load_ms=10, prompt_ms=20, thinking_ms=30, answer_ms=40, at=at(500))
    assert rows(call) == [
        ("load", "done", 400, 10),
        ("prompt", "done", 410, 20),
        ("think", "done", 430, 30),
        ("answer", "done", 460, 40),
    ]


def test_what_the_engine_counted_beyond_our_time_is_drawn_within_it() -> None:
    (group,) = steps_of(
        numbered(step(1, "agent", "started"), model_call(prompt_ms=300, answer_ms=100, at=at(201)))
    )
    made = rows_of(group, START, is_running=False)
    assert [(row.start_ms, row.span_ms, row.duration_ms) for row in made] == [(1, 150, 300), (151, 50, 100)]


def test_a_call_its_result_and_its_message_are_one_row_whatever_comes_between() -> None:
    (group,) = steps_of(
        numbered(
            tool_call("a"),
            tool_call("b"),
            tool_result("b", at=at(30)),
            tool_result("a", at=at(40)),
            message("ma", "tool", "a"),
            message("mb", "tool", "b"),
        )
    )
    made = rows_of(group, START, is_running=True)
    assert [[event["type"] for event in row.events] for row in made] == [
        ["tool_call", "tool_result", "message"]
    ] * 2
    assert [(row.key, row.start_ms, row.duration_ms) for row in made] == [("1", 35, 5), ("2", 25, 5)]


@pytest.mark.parametrize(
    ("events", "is_running", "state", "took"),
    [
        ([tool_call("a")], True, "running", None),
        ([tool_call("a")], False, "interrupted", None),
        ([tool_call("a"), tool_result("a", "error")], False, "failed", 5),
        ([tool_call("a"), tool_result("a", "denied")], False, "failed", 5),
        ([tool_call("a"), tool_result("a", "interrupted", None)], False, "interrupted", 1),
        ([tool_call("a"), tool_result("a", ms=None, recorded=True)], False, "done", None),
        ([tool_result("gone", recorded=True)], False, "done", 5),
    ],
)
def test_how_a_call_ended(events: list[Event], is_running: bool, state: str, took: float | None) -> None:
    ((kind, found, _, length),) = rows(*events, is_running=is_running)
    assert (kind, found, length) == ("tool", state, took)


def question(call: str, why: str = "approval", asked: int = 2, **more: Any) -> Event:
    return {
        "type": "approval_needed",
        "tool_call_id": call,
        "tool": call,
        "server": "s",
        "args": {},
        "why": why,
        "asked_at": at(asked),
        **more,
    }


def note(call: str, text: str = "half") -> Event:
    return {"type": "tool_note", "tool_call_id": call, "server": "s", "kind": "log", "text": text}


def all_rows(*events: Event, is_running: bool = False, is_waiting: bool = False) -> list[TraceRow]:
    """The rows of all groups."""
    groups = steps_of(numbered(*events))
    return [
        row for group in groups for row in rows_of(group, START, is_running=is_running, is_waiting=is_waiting)
    ]


def attempts(rows: Sequence[TraceRow]) -> list[tuple[int, str, str | None, str | None]]:
    """Number, state, beginning and end of each attempt."""
    return [
        (row.events[0]["attempt"], row.state, row.began_at, row.ended_at)
        for row in rows
        if row.kind == "tool"
    ]


def test_each_attempt_is_a_row_and_the_one_before_it_was_cut_off() -> None:
    for is_running in (True, False):
        made = all_rows(
            step(1, "tools", "started"),
            tool_call("a"),
            NOTICE,
            tool_call("a", 2),
            tool_result("a"),
            is_running=is_running,
        )
        assert attempts(made) == [(1, "interrupted", at(2), None), (2, "done", at(4), at(5))]


def test_what_was_under_way_when_a_sitting_ended_is_cut_off_though_the_run_goes_on() -> None:
    made = all_rows(step(1, "tools", "started"), tool_call("a"), END, BEGIN, tool_call("b"), is_running=True)
    assert [state for _, state, _, _ in attempts(made)] == ["interrupted", "running"]


def test_a_result_that_the_journal_had_completes_the_attempt_that_was_cut_off() -> None:
    made = all_rows(
        step(1, "tools", "started"), tool_call("a"), END, BEGIN, tool_result("a", ms=None, recorded=True)
    )
    assert attempts(made) == [(1, "done", at(2), None)]


def test_notes_stand_below_their_call_and_those_of_no_call_by_themselves() -> None:
    made = all_rows(
        step(1, "tools", "started"),
        tool_call("a"),
        tool_call("b"),
        note("a"),
        note("b"),
        note("a"),
        note("c"),
    )
    assert [(row.kind, [below.key for below in row.below]) for row in made] == [
        ("tool", ["4", "6"]),
        ("tool", ["5"]),
        ("note", []),
    ]


@pytest.mark.parametrize(
    ("why", "came_of_it", "answer"),
    [
        ("approval", tool_call("a"), "allowed"),
        ("approval", tool_call("a", args={"x": 1}), "allowed with other arguments"),
        ("approval", tool_result("a", "denied", None), "denied"),
        ("approval", tool_result("a", "error", None), "allowed"),
        ("approval", tool_result("a", "interrupted", None), "not decided"),
        ("uncertain", tool_call("a", 2), "run again"),
        ("uncertain", tool_result("a", "skipped", None), "skipped"),
        ("uncertain", tool_result("a", "ok", None), "result entered"),
        ("uncertain", tool_result("a", "interrupted", None), "not decided"),
        ("uncertain", tool_result("a", "ok", None, recorded=True), "not needed: the result was there"),
    ],
)
def test_what_became_of_a_question_and_how_long_it_waited(why: str, came_of_it: Event, answer: str) -> None:
    asked, *_ = all_rows(
        question("a", why), END, BEGIN, step(2, "tools", "started"), {**came_of_it, "at": at(4502)}
    )
    assert (asked.kind, asked.state, asked.answer) == ("question", "done", answer)
    assert (asked.began_at, asked.ended_at, asked.duration_ms) == (at(2), at(4502), 4500)


@pytest.mark.parametrize(("is_waiting", "state"), [(True, "waiting"), (False, "interrupted")])
def test_a_question_without_an_answer_waits_or_was_never_decided(is_waiting: bool, state: str) -> None:
    (asked, _) = all_rows(question("a"), END, is_waiting=is_waiting)
    assert (asked.state, asked.answer, asked.duration_ms) == (state, "", None)


def test_a_question_that_is_put_again_at_each_pause_is_one_question_that_waits_since_the_first() -> None:
    events = numbered(
        question("a"),
        question("b"),
        END,
        BEGIN,
        step(2, "tools", "started"),
        tool_call("a"),
        tool_result("a"),
        question("b", asked=8),
        END,
        BEGIN,
        tool_result("b", "denied", None),
    )
    fold = StepFold()
    changed = [fold.add(event) for event in events]
    assert (changed[5], changed[10]) == (0, 0), "an answer changes the group of its question"
    made = [row for group in fold.steps for row in rows_of(group, START, is_running=False)]
    questions = [row for row in made if row.kind == "question"]
    assert [(row.answer, row.began_at, row.ended_at) for row in questions] == [
        ("allowed", at(2), at(6)),
        ("denied", at(2), at(11)),
    ]


def test_other_events_are_rows_of_their_own() -> None:
    kinds = [
        row[0]
        for row in rows(question("a"), NOTICE, {"type": "recovered", "what": "w"}, message("u", "user"))
    ]
    assert kinds == ["question", "notice", "notice", "message"]


def test_a_step_stands_where_its_end_and_its_length_say() -> None:
    (done,) = steps_of([{"seq": 1, "at": at(900), **step(1, "agent", "finished", 400)}])
    (begun,) = steps_of([{"seq": 1, "at": at(900), **step(1, "agent", "started")}])
    assert step_span(done, START) == (500, 400)
    assert step_span(begun, START) == (900, None)


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(None, ""), (0, "0 ms"), (999.4, "999 ms"), (1000, "1.0 s"), (59_940, "59.9 s"), (125_000, "2 min 5 s")],
)
def test_durations_as_words(milliseconds: float | None, words: str) -> None:
    assert duration(milliseconds) == words


def test_the_time_between_is_unknown_if_an_end_is_missing() -> None:
    assert between(at(100), at(1600)) == 1500
    assert between(None, at(1)) is None
    assert between(at(1), None) is None


def decided(call: str, decision: str = "allow", at_ms: int = 3, **more: Any) -> Event:
    return {
        "type": "tool_decided",
        "tool_call_id": call,
        "decision": decision,
        "why": "approval",
        "decided_at": at(at_ms),
        "edited": False,
        "reason": None,
        "always": False,
        "attempt": 0,
        "left_open": 0,
        **more,
    }


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (decided("a"), "allowed"),
        (decided("a", edited=True), "allowed with other arguments"),
        (decided("a", always=True), "always allowed"),
        (decided("a", "deny", always=True), "always denied"),
        (decided("a", "run-again"), "run again"),
        (decided("a", "skip"), "skipped"),
        (decided("a", "result"), "result entered"),
        (decided("a", "something new"), "something new"),
    ],
)
def test_a_decision_ends_its_question_at_its_own_time(decision: Event, words: str) -> None:
    """What follows, much later, changes nothing of it."""
    told = numbered(question("a", asked=1), END, decision, BEGIN)
    later = [{**event, "seq": event["seq"] + 10, "at": at(900)} for event in numbered(tool_call("a"))]
    for events in (told, [*told, *later]):
        made = [row for group in steps_of(events) for row in rows_of(group, START, is_running=False)]
        (row,) = [row for row in made if row.kind == "question"]
        assert (row.state, row.answer, row.duration_ms) == ("done", words, 2)
        assert (row.began_at, row.ended_at) == (at(1), at(3))
        assert [event["type"] for event in row.events] == ["approval_needed", "tool_decided"]
        assert not any(row.kind == "other" and row.events[0] is decision for row in made)


def test_a_decision_of_a_question_in_an_earlier_group_answers_it_there() -> None:
    events = numbered(
        step(1, "tools", "started"),
        question("a", asked=1),
        step(1, "tools", "finished", 5),
        END,
        decided("a", at_ms=4, reason="why"),
    )
    groups = steps_of(events)
    (row,) = rows_of(groups[0], START, is_running=False)
    assert (row.answer, row.reason, row.ended_at) == ("allowed", "why", at(4))
    fold = StepFold(events[:-1])
    assert fold.add(events[-1]) == 0, "the group of the question changed"
