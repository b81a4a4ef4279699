"""The items of the trace: a run, a step of it, a row of a step or of the run itself, or what is below a row.

Invariant: plain data, no Qt; what an item says of itself is in `saying`, its time bar in `bars`.
"""

from dataclasses import dataclass, field

from sophos_desktop.core.domain.durations import between
from sophos_desktop.core.domain.projection import JsonObject, StepFold, TraceStep
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.trace_rows import TraceRow, rows_of
from sophos_desktop.shell.trace.calls import ShownRow

_ROOM_FOR_WAITING = 1.4  # how much longer the scale of a run is that waits: what it waits for has no length


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

    def rows_of(self, group: TraceStep) -> list[TraceRow]:
        """The rows of a group of the fold."""
        return rows_of(group, self.record.started_at, is_running=self.is_running, is_waiting=self.is_waiting)

    def total_ms(self, now: str) -> float:
        """How long it took, at least a millisecond; up to `now` if it goes on."""
        ended = self.record.finished_at
        if ended is None and self.is_running:
            ended = now
        elif ended is None and self.events:
            ended = self.events[-1]["at"]
        return max(1.0, between(self.record.started_at, ended) or 0.0)

    def scale_ms(self, now: str) -> float:
        """How long the scale of its bars is: its time, with room at the end for what waits."""
        return self.total_ms(now) * (_ROOM_FOR_WAITING if self.is_waiting else 1.0)


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
