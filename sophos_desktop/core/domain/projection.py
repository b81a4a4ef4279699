"""Folds the stored events of a run into steps: with `trace_rows` the one fold behind `trace` and its dock.

Invariant: pure, over events in their JSON shape, in their order; every event is in exactly one group, and an
event that comes later changes at most the last group, and the one whose question it answers. Nothing here
needs the process that ran it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sophos_desktop.core.domain.durations import between

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A step and its events, or events outside of any step (`number` is None).

    `events` are those that say something by themselves; `markers` the step's own start and end. `started_at`
    and `finished_at` are stored times. `answers`: by the number of a question, the event that shows what
    became of it; `repeated`: the numbers of questions that were open already."""

    number: int | None = None
    node: str = ""
    duration_ms: int | None = None
    is_finished: bool = False
    started_at: str | None = None
    finished_at: str | None = None
    checkpoint_id: str | None = None
    events: tuple[JsonObject, ...] = ()
    markers: tuple[JsonObject, ...] = ()
    answers: tuple[tuple[int, JsonObject], ...] = ()
    repeated: tuple[int, ...] = ()


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
        self._questions: dict[str, tuple[int, int]] = {}
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
        """Take the next event; gives the index of the first group that changed or was added."""
        self.last_seq = event["seq"]
        if event["type"] == "step":
            self._add_marker(event)
            return len(self._steps) - 1
        return self._add_event(event)

    def _add_event(self, event: JsonObject) -> int:
        # A step's messages come right after its end; whatever else follows belongs to the run.
        ends_step = bool(self._steps) and self._steps[-1].is_finished and event["type"] != "message"
        if not self._steps or ends_step:
            self._begin(TraceStep())
        self._pending.append(event)
        if event["type"] == "model_call":
            self._count(event)
        elif event["type"] == "approval_needed":
            self._note_question(event)
        elif event["type"] in ("tool_decided", "tool_call", "tool_result"):
            return self._note_answer(event)
        return len(self._steps) - 1

    def _note_question(self, event: JsonObject) -> None:
        # Every pause asks again about what is still open.
        last = self._steps[-1]
        if event["tool_call_id"] in self._questions:
            self._steps[-1] = replace(last, repeated=(*last.repeated, event["seq"]))
        else:
            self._questions[event["tool_call_id"]] = (len(self._steps) - 1, event["seq"])

    def _note_answer(self, event: JsonObject) -> int:
        """The question about a call was decided. Versions before told no decisions: there it is what shows
        that the call goes on, or is answered without being made."""
        if event["tool_call_id"] not in self._questions:
            return len(self._steps) - 1
        group, seq = self._questions.pop(event["tool_call_id"])
        asked = self._steps[group]
        self._steps[group] = replace(asked, answers=(*asked.answers, (seq, event)))
        return group

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
