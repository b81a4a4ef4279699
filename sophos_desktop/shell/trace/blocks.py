"""Which groups of a run's fold are one step of the dock, and what stands below it.

Invariant: pure. A tools step whose calls are asked about first begins with the question, before the graph
says that the step began: both are one step here, with the number that the step will have. An entry depends
on its own groups and the one before, so an update starts at `first_group`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sophos_desktop.core.domain.projection import JsonObject, TraceStep
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.trace.calls import ShownRow, shown_rows
from sophos_desktop.shell.trace.nodes import INPUT, Entry, Run
from sophos_desktop.shell.trace.shown import EVERYTHING, Shown

TOOLS = "tools"
_OF_A_STEP = ("approval_needed", "tool_call", "tool_result")


def first_group(run: Run, group: int) -> int:
    """The first group of the step that a group belongs to."""
    steps = run.fold.steps
    is_tools = group > 0 and steps[group].node == TOOLS
    return group - 1 if is_tools and _opens_step(steps[group - 1]) else group


def entries_of(run: Run, group: int, shown: Shown = EVERYTHING) -> Iterator[Entry]:
    """What stands below a run from a group of its fold on: steps, and rows outside of steps."""
    steps = run.fold.steps
    while group < len(steps):
        step = steps[group]
        after = steps[group + 1] if group + 1 < len(steps) else None
        goes_on = after is not None and after.node == TOOLS and _opens_step(step)
        if step.number is not None:
            yield from _step_entry(run, group, step, shown, f"step {group}")
        else:
            parts = _parts(step)
            for place, (is_step, events) in enumerate(parts):
                part = replace(step, events=events)
                if not is_step:
                    yield from _row_entries(run, group, part, shown)
                    continue
                is_last = place == len(parts) - 1
                whole = _as_step(run, group, part, after if goes_on and is_last else None)
                yield from _step_entry(run, group, whole, shown, f"opening {events[0]['seq']}")
        group += 2 if goes_on else 1


def entries_below(run: Run, entry: Entry, shown: Shown = EVERYTHING) -> Iterator[Entry]:
    """What stands below a step or a row."""
    if entry.shown_row is not None:
        for row in entry.shown_row.row.below:
            yield Entry(row.key, entry.group, None, ShownRow(row.key, row, row.state))
    elif entry.step is not None:
        yield from _row_entries(run, entry.group, entry.step, shown)


def rows_below(run: Run, step: TraceStep) -> Sequence[ShownRow]:
    """All rows of a step."""
    return shown_rows(run.rows_of(step))


def _step_entry(run: Run, group: int, step: TraceStep, shown: Shown, key: str) -> Iterator[Entry]:
    # That the input was stored is no step of the run, and its figures do not count it: what came in with it
    # is the message that the run's own details tell, and what earlier runs left.
    if step.node == INPUT:
        return
    if shown == EVERYTHING or any(shown.takes(row) for row in rows_below(run, step)):
        yield Entry(key, group, step)


def _row_entries(run: Run, group: int, step: TraceStep, shown: Shown) -> Iterator[Entry]:
    for row in rows_below(run, step):
        if shown.takes(row):
            yield Entry(row.key, group, None, row)


def _parts(step: TraceStep) -> list[tuple[bool, tuple[JsonObject, ...]]]:
    """Events outside of any step, cut where a tools step begins and where the model is called after it; each
    part with whether it is a step."""
    parts: list[tuple[bool, list[JsonObject]]] = []
    is_step = False
    for event in step.events:
        was_step = is_step
        is_step = event["type"] != "model_call" and (is_step or event["type"] in _OF_A_STEP)
        if not parts or is_step != was_step:
            parts.append((is_step, []))
        parts[-1][1].append(event)
    return [(is_step, tuple(events)) for is_step, events in parts]


def _opens_step(step: TraceStep) -> bool:
    """True if it ends in the beginning of a tools step."""
    if step.number is None:
        for event in reversed(step.events):
            if event["type"] == "model_call":
                return False
            if event["type"] in _OF_A_STEP:
                return True
    return False


def _as_step(run: Run, group: int, opening: TraceStep, after: TraceStep | None) -> TraceStep:
    """A part as a step, with what is in the step `after` it, if that is the same."""
    began_at = opening.events[0]["at"]
    if after is None:
        return replace(opening, number=_next_number(run, group), node=TOOLS, started_at=began_at)
    return replace(
        after,
        started_at=began_at,
        events=(*opening.events, *after.events),
        answers=(*opening.answers, *after.answers),
        repeated=(*opening.repeated, *after.repeated),
    )


def _next_number(run: Run, group: int) -> int | None:
    """The number after those before it; the first of a run whose first step has not begun. A run that was
    completed without any is one of a version that told no steps."""
    numbers = (step.number for step in reversed(run.fold.steps[:group]) if step.number is not None)
    number = next(numbers, None)
    if number is not None:
        return number + 1
    return None if run.record.status is RunStatus.COMPLETED else run.first_number or 1
