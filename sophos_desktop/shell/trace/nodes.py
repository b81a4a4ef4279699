"""The items of the trace: a run, a step of it, a row of a step or of the run itself, or what is below a row.

Invariant: plain data, no Qt; what an item says of itself is in `saying`, its time bar in `bars`.
"""

from dataclasses import dataclass, field

from sophos_desktop.core.domain.durations import between
from sophos_desktop.core.domain.projection import JsonObject, StepFold, TraceStep
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.trace_rows import TraceRow, rows_of
from sophos_desktop.shell.trace.calls import ShownRow

INPUT = "input"
_ROOM_FOR_WAITING = 1.4  # how much longer the bars of a run are that waits: what it waits for has no length
_OF_RECOVERY = 2  # what it found, and the end


@dataclass(eq=False, slots=True)
class Run:
    """A run: its record and its events, folded."""

    record: RunRecord
    number: int
    fold: StepFold = field(default_factory=StepFold)
    events: list[JsonObject] = field(default_factory=list)
    is_loaded: bool = False

    @property
    def is_running(self) -> bool:
        """True while some process works on it."""
        return self.record.status is RunStatus.RUNNING

    @property
    def is_waiting(self) -> bool:
        """True while it waits for a decision."""
        return self.record.status is RunStatus.WAITING

    @property
    def first_number(self) -> int | None:
        """What the thread counted when this run took its first step; None before that. That the input was
        stored is no step."""
        numbers = (step.number for step in self.fold.steps if step.number is not None and step.node != INPUT)
        return next(numbers, None)

    def number_of(self, step: TraceStep) -> int | None:
        """A step's number in its run, from 1 on; None if it has none."""
        if step.number is None:
            return None
        first = self.first_number
        return max(1, step.number - first + 1) if first is not None else 1

    def rows_of(self, group: TraceStep) -> list[TraceRow]:
        """The rows of a group of the fold."""
        return rows_of(group, self.record.started_at, is_running=self.is_running, is_waiting=self.is_waiting)

    @property
    def last_sign(self) -> str | None:
        """When the last event was of a run that was found dead; None if it told its own end. How it ended was
        recorded by the next process, whenever that came."""
        told = [event["type"] for event in self.events[-_OF_RECOVERY:]]
        is_found = told == ["recovered", "end"] and len(self.events) > _OF_RECOVERY
        return str(self.events[-_OF_RECOVERY - 1]["at"]) if is_found else None

    def total_ms(self, now: str) -> float | None:
        """How long it took, at least a millisecond; up to `now` if it goes on. None if that is not known: of
        an interrupted run its events alone tell."""
        record = self.record
        if self.is_running:
            ended = now
        elif record.status is RunStatus.INTERRUPTED and not self.is_loaded:
            return None
        else:
            ended = self.last_sign or record.finished_at or (self.events[-1]["at"] if self.events else "")
        return max(1.0, between(record.started_at, ended) or 0.0)

    def end_ms(self, now: str) -> float:
        """Where its bars end at most: its time, with room at the end for what waits."""
        return (self.total_ms(now) or 1.0) * (_ROOM_FOR_WAITING if self.is_waiting else 1.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """What an item shows. `key` stays the same when later events complete it; `group`: of the fold."""

    key: str
    group: int
    step: TraceStep | None = None
    shown_row: ShownRow | None = None


@dataclass(eq=False, slots=True)
class Node:
    """An item; `entry` is None for a run. `position`: its place below its parent."""

    id: int
    run: Run
    parent: "Node | None"
    position: int
    entry: Entry | None = None
    children: list["Node"] = field(default_factory=list)

    @property
    def step(self) -> TraceStep | None:
        """The step that it is, if it is one."""
        return self.entry.step if self.entry is not None else None

    @property
    def shown_row(self) -> ShownRow | None:
        """The row that it is, if it is one."""
        return self.entry.shown_row if self.entry is not None else None

    @property
    def step_around(self) -> TraceStep | None:
        """The step that it is, or that it is in."""
        node: Node | None = self
        while node is not None and node.step is None:
            node = node.parent
        return node.step if node is not None else None

    @property
    def level(self) -> int:
        """0 for a run, 1 below it, 2 for all that is deeper."""
        if self.parent is None:
            return 0
        return 1 if self.parent.parent is None else 2
