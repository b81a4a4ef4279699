"""The items of the trace and what each says: name, state, duration, bar.

Invariant: pure, no Qt; an item is a run, a step of it, a row of a step or of the run itself, or what is
below a row.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sophos_desktop.core.domain.durations import between
from sophos_desktop.core.domain.projection import JsonObject, StepFold, TraceStep, step_span
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.trace_rows import TraceRow, rows_of
from sophos_desktop.shell.trace import words

_RUN_STATES = {
    RunStatus.RUNNING: "running",
    RunStatus.WAITING: "waiting",
    RunStatus.FAILED: "failed",
    RunStatus.INTERRUPTED: "interrupted",
    RunStatus.CANCELLED: "interrupted",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A time bar: milliseconds on a scale of `total_ms`; `kind` is `run`, a step's node or a row's kind."""

    start_ms: float
    length_ms: float
    total_ms: float
    kind: str
    state: str
    level: int


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

    def rows_of(self, group: TraceStep) -> list[TraceRow]:
        """The rows of a group of the fold."""
        waits = self.record.status is RunStatus.WAITING
        return rows_of(group, self.record.started_at, is_running=self.is_running, is_waiting=waits)

    def total_ms(self, now: str) -> float:
        """How long it took, at least a millisecond; up to `now` if it goes on."""
        ended = self.record.finished_at
        if ended is None and self.is_running:
            ended = now
        elif ended is None and self.events:
            ended = self.events[-1]["at"]
        return max(1.0, between(self.record.started_at, ended) or 0.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """What an item shows. `key` stays the same when later events complete it; `group`: of the fold."""

    key: str
    group: int
    step: TraceStep | None = None
    row: TraceRow | None = None


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
    def row(self) -> TraceRow | None:
        """The row that it is, if it is one."""
        return self.entry.row if self.entry is not None else None

    @property
    def level(self) -> int:
        """0 for a run, 1 below it, 2 for all that is deeper."""
        if self.parent is None:
            return 0
        return 1 if self.parent.parent is None else 2


def entries_of(run: Run, first_group: int) -> Iterator[Entry]:
    """What stands below a run from a group of its fold on: steps, and rows outside of steps."""
    for group in range(first_group, len(run.fold.steps)):
        step = run.fold.steps[group]
        if step.number is not None:
            yield Entry(f"step {group}", group, step)
        else:
            for row in _outside_rows(run, step, is_first=group == 0):
                yield Entry(row.key, group, None, row)


def _outside_rows(run: Run, group: TraceStep, *, is_first: bool) -> list[TraceRow]:
    # How the run began and ended is what the run itself says.
    shown = [event for event in group.events if event["type"] != "end"]
    if is_first and shown and shown[0]["type"] == "run_started":
        shown = shown[1:]
    return run.rows_of(replace(group, events=tuple(shown)))


def entries_below(run: Run, entry: Entry) -> Iterator[Entry]:
    """What stands below a step or a row."""
    if entry.row is not None:
        for row in entry.row.below:
            yield Entry(row.key, entry.group, None, row)
    if entry.step is not None:
        for row in run.rows_of(entry.step):
            if row.events[0]["type"] != "end":  # the run itself says how it ended
                yield Entry(row.key, entry.group, None, row)


def name_of(node: Node) -> str:
    """What an item is called."""
    if node.step is not None:
        return words.step_name(node.step)
    if node.row is not None:
        return words.row_name(node.row)
    return words.run_name(node.run.number, node.run.record)


def state_of(node: Node) -> str:
    """`done`, `running`, `waiting`, `failed` or `interrupted`."""
    status = node.run.record.status
    if node.row is not None:
        return node.row.state
    if node.step is None:
        return _RUN_STATES.get(status, "done")
    if node.step.is_finished:
        return "done"
    later = node.parent.children[node.position + 1 :] if node.parent is not None else []
    is_last = not any(child.step is not None for child in later)
    if status is RunStatus.RUNNING:
        return "running" if is_last else "interrupted"
    return "failed" if status is RunStatus.FAILED and is_last else "interrupted"


def state_word_of(node: Node) -> str:
    """The state as a word; empty when it is done."""
    if node.entry is None:
        return words.run_state(node.run.record)
    return words.state_word(state_of(node))


def took_ms(node: Node, now: str) -> float | None:
    """How long an item took; None if that is not known or it goes on."""
    if node.row is not None:
        return node.row.duration_ms
    if node.step is not None:
        return step_span(node.step, node.run.record.started_at)[1]
    return node.run.total_ms(now)


def bar_of(node: Node, now: str) -> Bar | None:
    """The item's time bar; None if it has no length."""
    total, state = node.run.total_ms(now), state_of(node)
    if node.row is not None:
        start, kind = node.row.start_ms, str(node.row.kind)
        length = node.row.duration_ms if node.row.span_ms is None else node.row.span_ms
    elif node.step is not None:
        start, length = step_span(node.step, node.run.record.started_at)
        kind = node.step.node
    else:
        return Bar(0.0, total, total, "run", state, 0)
    if start is None or (length is None and state not in ("running", "waiting")):
        return None
    until_now = max(0.0, total - start)
    return Bar(start, until_now if length is None else length, total, kind, state, node.level)
