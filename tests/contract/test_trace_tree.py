"""The trace as text: each attempt with its times, notes below their call, questions with their decisions."""

from typing import Any

from sophos_desktop.cli.output import Style
from sophos_desktop.cli.views import event_line, trace_tree
from sophos_desktop.core.domain.run import RunKind, RunRecord, RunStatus

PLAIN = Style(False)
TIME = "2026-11-30T14:02:{:02}.500Z"


def run(status: RunStatus) -> RunRecord:
    return RunRecord(
        id="run",
        conversation_id="conversation",
        kind=RunKind.MESSAGE,
        status=status,
        error_code=None,
        error_message=None,
        engine=None,
        model=None,
        prompt_sha256=None,
        started_at=TIME.format(0),
        finished_at=None,
    )


def tree(status: RunStatus, *events: dict[str, Any]) -> list[str]:
    envelope = {"v": 1, "run_id": "run"}
    told = [{**envelope, "seq": seq, "at": TIME.format(seq), **event} for seq, event in enumerate(events, 1)]
    return trace_tree(run(status), told, PLAIN)[1:]


STARTED = {"type": "step", "step": 2, "node": "tools", "phase": "started", "duration_ms": None}
CALL = {"type": "tool_call", "tool_call_id": "c", "server": "s", "tool": "t", "args": {}, "attempt": 1}
ASKED = {"type": "approval_needed", "tool_call_id": "c", "server": "s", "tool": "t", "args": {}}
ASKED |= {"why": "uncertain", "asked_at": TIME.format(3)}
NOTE = {
    "type": "tool_note",
    "tool_call_id": "c",
    "server": "s",
    "kind": "log",
    "level": "info",
    "text": "half",
}
RESULT = {"type": "tool_result", "tool_call_id": "c", "status": "ok", "text": "done", "duration_ms": 12}
RESULT |= {"recorded": False}


def test_a_call_that_was_cut_off_and_run_again_shows_both_attempts_and_the_decision() -> None:
    assert tree(RunStatus.COMPLETED, STARTED, CALL, ASKED, {**CALL, "attempt": 2}, NOTE, RESULT) == [
        "  step 2 tools  not finished",
        "    call s.t {} (attempt 1, interrupted, 14:02:02–?)",
        "    question (uncertain) s.t {}  run again at 14:02:04 after 1.0 s (asked 14:02:03)",
        "    call s.t {} (attempt 2, 14:02:04–14:02:06)",
        "      log info: half",
        "    result ok  done  12 ms",
    ]


DECIDED: dict[str, Any] = {
    "type": "tool_decided",
    "tool_call_id": "c",
    "why": "uncertain",
    "decided_at": TIME.format(5),
}
DECIDED |= {"edited": True, "reason": None, "always": False, "attempt": 1, "left_open": 0}


def test_a_decision_is_a_fact_with_its_own_time_and_ends_the_question() -> None:
    decided = {**DECIDED, "decision": "run-again", "at": TIME.format(5)}
    again = {**CALL, "attempt": 2}
    assert tree(RunStatus.COMPLETED, STARTED, CALL, ASKED, decided, again, RESULT)[2:] == [
        "    question (uncertain) s.t {}  run again with other arguments at 14:02:05 after 2.0 s"
        " (asked 14:02:03)",
        "    call s.t {} (attempt 2, 14:02:05–14:02:06)",
        "    result ok  done  12 ms",
    ]
    denied = {**DECIDED, "decision": "deny", "edited": False, "always": True, "reason": "not\nnow"}
    assert tree(RunStatus.WAITING, ASKED, denied) == [
        "  question (uncertain) s.t {}  always denied at 14:02:05 after 2.0 s (asked 14:02:03): not now"
    ]
    assert event_line(denied, PLAIN) == "decided: always denied at 14:02:05: not now"


def test_a_question_that_is_open_waits_and_one_of_a_run_that_is_over_was_never_decided() -> None:
    assert tree(RunStatus.WAITING, ASKED) == ["  question (uncertain) s.t {}  waits for you (asked 14:02:03)"]
    assert tree(RunStatus.CANCELLED, ASKED) == ["  question (uncertain) s.t {}  not decided (asked 14:02:03)"]


def test_a_call_that_is_under_way_has_no_end_yet() -> None:
    assert tree(RunStatus.RUNNING, STARTED, CALL)[1] == "    call s.t {} (attempt 1, running, 14:02:02–)"


def test_what_a_server_says_is_one_line() -> None:
    progress = {**NOTE, "kind": "progress", "level": None, "progress": 2.0, "total": 5.0, "text": ""}
    assert event_line(progress, PLAIN) == "progress 2 of 5"
    assert event_line({**NOTE, "text": "a\nb"}, PLAIN) == "log info: a b"
