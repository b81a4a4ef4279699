"""The rows of a trace's step: calls with their attempts, questions with their answers, model calls as phases.

Invariant: pure; a row comes from events of one group alone, and its key stays the same while later events
complete it.
"""

from dataclasses import dataclass, replace
from typing import Literal

from sophos_desktop.core.domain.durations import between
from sophos_desktop.core.domain.projection import JsonObject, TraceStep

Kind = Literal["load", "prompt", "think", "answer", "tool", "note", "question", "message", "notice", "other"]
State = Literal["done", "running", "waiting", "failed", "interrupted"]

_PHASES: tuple[tuple[str, Kind], ...] = (
    ("load_ms", "load"),
    ("prompt_ms", "prompt"),
    ("thinking_ms", "think"),
    ("answer_ms", "answer"),
)
_LOST = ("interrupted",)
_ANSWERS = {
    ("approval", "denied"): "denied",
    ("approval", "ok"): "allowed",
    ("approval", "error"): "allowed",
    ("uncertain", "skipped"): "skipped",
    ("uncertain", "ok"): "result entered",
    ("uncertain", "error"): "run again",
}
_FAILED = ("error", "denied")
_DECISIONS = {
    "allow": "allowed",
    "deny": "denied",
    "run-again": "run again",
    "skip": "skipped",
    "result": "result entered",
}


@dataclass(frozen=True, slots=True)
class TraceRow:
    """What happened within a step, from one or several events: an attempt of a call and its result are one
    row, with what the server said meanwhile `below` it.

    `key` stays the same when later events complete it. `start_ms` counts from the start of the run; `span_ms`
    is how long it is on that scale, where that differs from what the engine says it took (`duration_ms`).
    `began_at` and `ended_at` are stored times, None if unknown; `answer`: what became of a question, `reason`
    what the user gave for it."""

    key: str
    kind: Kind
    events: tuple[JsonObject, ...]
    state: State = "done"
    start_ms: float | None = None
    duration_ms: float | None = None
    span_ms: float | None = None
    began_at: str | None = None
    ended_at: str | None = None
    answer: str = ""
    reason: str = ""
    below: tuple["TraceRow", ...] = ()


def rows_of(
    step: TraceStep, run_started_at: str, *, is_running: bool, is_waiting: bool = False
) -> list[TraceRow]:
    """The rows of a group, in order. `is_running`: what has no end yet goes on; `is_waiting`: it waits for a
    decision; else it was cut off."""
    return _Rows(step, run_started_at, is_running=is_running, is_waiting=is_waiting).made()


class _Rows:
    """The rows of one group while they are made."""

    def __init__(self, step: TraceStep, run_started_at: str, *, is_running: bool, is_waiting: bool) -> None:
        self._step = step
        self._run_started_at = run_started_at
        self._unfinished: State = "running" if is_running else "interrupted"
        self._undecided: State = "waiting" if is_running or is_waiting else "interrupted"
        self._answers = dict(step.answers)
        self._rows: list[TraceRow] = []
        self._calls: dict[str, int] = {}
        self._models: dict[str, int] = {}
        self._questions: dict[str, int] = {}

    def made(self) -> list[TraceRow]:
        for event in self._step.events:
            self._add(event)
        return self._rows

    def _add(self, event: JsonObject) -> None:
        kind = event["type"]
        place = self._place(event)
        if kind == "model_call":
            self._rows += _model_rows(event, self._step, self._run_started_at)
            self._models[event["message_id"]] = len(self._rows) - 1
        elif kind == "tool_call":
            self._begin_attempt(event)
        elif kind == "approval_needed":
            self._add_question(event)
        elif place is None:
            self._rows.append(_plain_row(event, self._run_started_at))
        elif kind == "tool_result":
            self._rows[place] = _with_result(self._rows[place], event, self._run_started_at)
        elif kind == "tool_note":
            note = _plain_row(event, self._run_started_at)
            self._rows[place] = replace(self._rows[place], below=(*self._rows[place].below, note))
        else:
            self._rows[place] = replace(self._rows[place], events=(*self._rows[place].events, event))
        if kind == "run_started":
            # Another sitting of the run: what was under way when the one before ended was cut off.
            for index in self._calls.values():
                self._cut_off(index)

    def _place(self, event: JsonObject) -> int | None:
        """The row that an event belongs to."""
        if event["type"] in ("tool_result", "tool_note"):
            return self._calls.get(event["tool_call_id"])
        if event["type"] == "tool_decided":
            return self._questions.pop(event["tool_call_id"], None)
        if event["type"] != "message":
            return None
        call_id = event["message"].get("tool_call_id")
        return self._calls.get(call_id) if call_id else self._models.get(event["message"]["id"])

    def _begin_attempt(self, event: JsonObject) -> None:
        earlier = self._calls.get(event["tool_call_id"])
        if earlier is not None:
            self._cut_off(earlier)
        self._calls[event["tool_call_id"]] = len(self._rows)
        start = between(self._run_started_at, event["at"])
        row = TraceRow(f"{event['seq']}", "tool", (event,), self._unfinished, start, began_at=event["at"])
        self._rows.append(row)

    def _cut_off(self, index: int) -> None:
        if self._rows[index].state == "running":
            self._rows[index] = replace(self._rows[index], state="interrupted")

    def _add_question(self, event: JsonObject) -> None:
        if event["seq"] in self._step.repeated:
            return
        asked_at = event.get("asked_at") or event["at"]
        row = TraceRow(
            key=f"{event['seq']}",
            kind="question",
            events=(event,),
            state=self._undecided,
            start_ms=between(self._run_started_at, asked_at),
            began_at=asked_at,
        )
        answered = self._answers.get(event["seq"])
        if answered is not None:
            decided_at = answered.get("decided_at") or answered["at"]
            row = replace(
                row,
                state="done",
                duration_ms=between(asked_at, decided_at),
                ended_at=decided_at,
                answer=answer_of(event, answered),
                reason=str(answered.get("reason") or ""),
            )
        self._questions[event["tool_call_id"]] = len(self._rows)
        self._rows.append(row)


def answer_of(question: JsonObject, answered: JsonObject) -> str:
    """What became of a question, from the decision or, in the trace of a version that told none, from what
    came of it: `denied`, `allowed with other arguments`, `always allowed`."""
    if answered["type"] == "tool_decided":
        return decision_words(answered)
    if answered["type"] == "tool_call":
        changed = answered.get("args") and dict(answered["args"]) != dict(question.get("args") or {})
        word = "allowed" if question.get("why") == "approval" else "run again"
        return f"{word} with other arguments" if changed else word
    if answered.get("recorded"):
        return "not needed: the result was there"
    return _ANSWERS.get((str(question.get("why")), answered["status"]), "not decided")


def decision_words(decided: JsonObject) -> str:
    """What the user decided, as `tool_decided` tells it."""
    word = _DECISIONS.get(decided["decision"], str(decided["decision"]))
    always = "always " if decided.get("always") else ""
    return f"{always}{word}{' with other arguments' if decided.get('edited') else ''}"


def _model_rows(event: JsonObject, step: TraceStep, run_started_at: str) -> list[TraceRow]:
    """The phases of a model call, one after the other up to its end."""
    phases = [(kind, float(event[name])) for name, kind in _PHASES if event[name]]
    if not phases:
        phases = [("answer", 0.0)]
    end = between(run_started_at, event["at"]) or 0.0
    total = sum(length for _, length in phases)
    earliest = between(run_started_at, step.started_at) or 0.0
    # The engine's clock is not ours: what it counted is drawn within the time that passed here.
    scale = min(1.0, max(0.0, end - earliest) / total) if total else 1.0
    start = end - total * scale
    rows: list[TraceRow] = []
    for kind, length in phases:
        key = f"{event['seq']}/{kind}"
        rows.append(TraceRow(key, kind, (event,), "done", start, length, length * scale))
        start += length * scale
    return rows


def _with_result(row: TraceRow, event: JsonObject, run_started_at: str) -> TraceRow:
    state: State = "done"
    if event["status"] in _FAILED:
        state = "failed"
    elif event["status"] in _LOST:
        state = "interrupted"
    took: float | None = event["duration_ms"]
    start = row.start_ms
    if took is None:
        took = None if event["recorded"] else between(row.events[0]["at"], event["at"])
    elif (end := between(run_started_at, event["at"])) is not None:
        start = max(0.0, end - took)
    return replace(
        row,
        events=(*row.events, event),
        state=state,
        start_ms=start,
        duration_ms=took,
        # Taken from the journal: when it came back is not in the trace.
        ended_at=None if event["recorded"] else event["at"],
    )


def _plain_row(event: JsonObject, run_started_at: str) -> TraceRow:
    kinds: dict[str, Kind] = {
        "message": "message",
        "notice": "notice",
        "recovered": "notice",
        "tool_note": "note",
        "tool_result": "tool",
    }
    start = between(run_started_at, event["at"])
    state: State = "done"
    took: float | None = None
    if event["type"] == "tool_result":
        state = "failed" if event["status"] in _FAILED else "done"
        took = event["duration_ms"]
    return TraceRow(f"{event['seq']}", kinds.get(event["type"], "other"), (event,), state, start, took)
