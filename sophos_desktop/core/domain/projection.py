"""Folds the stored events of a run into run › step › event: the one fold behind `trace` and the trace dock.

Invariant: pure, over events in their JSON shape, in their order; every event is in exactly one group, and an
event that comes later changes at most the last group. Nothing here needs the process that ran it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sophos_desktop.core.domain.durations import between

JsonObject = Mapping[str, Any]

Kind = Literal["load", "prompt", "think", "answer", "tool", "question", "message", "notice", "other"]
State = Literal["done", "running", "failed", "interrupted"]

_PHASES: tuple[tuple[str, Kind], ...] = (
    ("load_ms", "load"),
    ("prompt_ms", "prompt"),
    ("thinking_ms", "think"),
    ("answer_ms", "answer"),
)
_LOST = ("interrupted",)
_FAILED = ("error", "denied")


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A step and its events, or events outside of any step (`number` is None).

    `events` are those that say something by themselves; `markers` the step's own start and end. `started_at`
    and `finished_at` are stored times."""

    number: int | None = None
    node: str = ""
    duration_ms: int | None = None
    is_finished: bool = False
    started_at: str | None = None
    finished_at: str | None = None
    checkpoint_id: str | None = None
    events: tuple[JsonObject, ...] = ()
    markers: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceRow:
    """What happened within a step, from one or several events: a tool call and its result are one row.

    `key` stays the same when later events complete it. `start_ms` counts from the start of the run; `span_ms`
    is how long it is on that scale, where that differs from what the engine says it took (`duration_ms`)."""

    key: str
    kind: Kind
    events: tuple[JsonObject, ...]
    state: State = "done"
    start_ms: float | None = None
    duration_ms: float | None = None
    span_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run took; times in milliseconds, tokens as the engine counted them."""

    steps: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    prompt_ms: int = 0
    load_ms: int = 0
    writing_ms: int = 0

    @property
    def tokens_per_second(self) -> float | None:
        """How fast the model thought and wrote; None if it did neither."""
        return self.output_tokens / self.writing_ms * 1000 if self.writing_ms else None


class StepFold:
    """Folds one run's events as they come; `steps` and `figures` are always those of all events so far."""

    def __init__(self, events: Iterable[JsonObject] = ()) -> None:
        """Takes `events` at once."""
        self._steps: list[TraceStep] = []
        self._pending: list[JsonObject] = []
        self.figures = Figures()
        self.last_seq = 0
        for event in events:
            self.add(event)

    @property
    def steps(self) -> Sequence[TraceStep]:
        """The groups, in order."""
        self._settle()
        return self._steps

    def add(self, event: JsonObject) -> int:
        """Take the next event; gives the index of the group that changed or was added."""
        self.last_seq = event["seq"]
        if event["type"] == "step":
            self._add_marker(event)
        else:
            self._add_event(event)
        return len(self._steps) - 1

    def _add_event(self, event: JsonObject) -> None:
        # A step's messages come right after its end; whatever else follows belongs to the run.
        ends_step = bool(self._steps) and self._steps[-1].is_finished and event["type"] != "message"
        if not self._steps or ends_step:
            self._begin(TraceStep())
        self._pending.append(event)
        if event["type"] == "model_call":
            self._count(event)

    def _add_marker(self, event: JsonObject) -> None:
        # Parallel calls each say that their step began.
        last = self._steps[-1] if self._steps else TraceStep()
        if last.number != event["step"] or last.is_finished:
            self._begin(TraceStep(event["step"], event["node"], started_at=event["at"]))
            if event["node"] != "input":
                self.figures = replace(self.figures, steps=self.figures.steps + 1)
        last = self._steps[-1]
        last = replace(last, markers=(*last.markers, event))
        if event["phase"] == "finished":
            last = replace(
                last,
                node=event["node"] or last.node,
                duration_ms=event["duration_ms"],
                is_finished=True,
                finished_at=event["at"],
                checkpoint_id=event["checkpoint_id"],
            )
        self._steps[-1] = last

    def _begin(self, step: TraceStep) -> None:
        self._settle()
        self._steps.append(step)

    def _settle(self) -> None:
        """Give the last group the events that came: all at once, so that a long group costs no square."""
        if self._pending:
            last = self._steps[-1]
            self._steps[-1] = replace(last, events=(*last.events, *self._pending))
            self._pending.clear()

    def _count(self, event: JsonObject) -> None:
        known = self.figures
        self.figures = replace(
            known,
            prompt_tokens=known.prompt_tokens + (event["prompt_tokens"] or 0),
            output_tokens=known.output_tokens + (event["output_tokens"] or 0),
            prompt_ms=known.prompt_ms + (event["prompt_ms"] or 0),
            load_ms=known.load_ms + (event["load_ms"] or 0),
            writing_ms=known.writing_ms + (event["thinking_ms"] or 0) + (event["answer_ms"] or 0),
        )


def steps_of(events: Iterable[JsonObject]) -> Sequence[TraceStep]:
    """The groups of a run's events."""
    return StepFold(events).steps


def step_span(step: TraceStep, run_started_at: str) -> tuple[float | None, float | None]:
    """Where a step stands on the run's time, and how long it took: milliseconds, None if unknown."""
    if step.is_finished and step.duration_ms is not None:
        end = between(run_started_at, step.finished_at)
        return (None if end is None else max(0.0, end - step.duration_ms)), float(step.duration_ms)
    return between(run_started_at, step.started_at), None


def rows_of(step: TraceStep, run_started_at: str, *, is_running: bool) -> list[TraceRow]:
    """The rows of a group, in order. `is_running`: what has no end yet goes on; else it was cut off."""
    rows: list[TraceRow] = []
    open_calls: dict[str, int] = {}
    answers: dict[str, int] = {}
    unfinished: State = "running" if is_running else "interrupted"
    for event in step.events:
        kind = event["type"]
        if kind == "model_call":
            rows += _model_rows(event, step, run_started_at)
            answers[event["message_id"]] = len(rows) - 1
        elif kind == "tool_call":
            open_calls[event["tool_call_id"]] = len(rows)
            start = between(run_started_at, event["at"])
            rows.append(TraceRow(f"{event['seq']}", "tool", (event,), unfinished, start))
        elif kind == "tool_result" and event["tool_call_id"] in open_calls:
            index = open_calls[event["tool_call_id"]]
            rows[index] = _with_result(rows[index], event, run_started_at)
        elif kind == "message" and (place := _place(event["message"], open_calls, answers)) is not None:
            rows[place] = replace(rows[place], events=(*rows[place].events, event))
        else:
            rows.append(_plain_row(event, run_started_at))
    return rows


def _place(message: JsonObject, calls: Mapping[str, int], answers: Mapping[str, int]) -> int | None:
    """The row that made a message."""
    call_id = message.get("tool_call_id")
    return calls.get(call_id) if call_id else answers.get(message["id"])


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
    return replace(row, events=(*row.events, event), state=state, start_ms=start, duration_ms=took)


def _plain_row(event: JsonObject, run_started_at: str) -> TraceRow:
    kinds: dict[str, Kind] = {
        "approval_needed": "question",
        "message": "message",
        "notice": "notice",
        "recovered": "notice",
        "tool_result": "tool",
    }
    start = between(run_started_at, event["at"])
    state: State = "done"
    took: float | None = None
    if event["type"] == "tool_result":
        state = "failed" if event["status"] in _FAILED else "done"
        took = event["duration_ms"]
    return TraceRow(f"{event['seq']}", kinds.get(event["type"], "other"), (event,), state, start, took)
