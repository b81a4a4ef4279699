"""The time bars of the trace's items.

Invariant: pure, no Qt; milliseconds since the start of the item's run, on a scale that all runs share.
"""

from dataclasses import dataclass

from sophos_desktop.core.domain.durations import between
from sophos_desktop.core.domain.projection import step_span
from sophos_desktop.core.domain.trace_rows import TraceRow
from sophos_desktop.shell.trace.blocks import rows_below
from sophos_desktop.shell.trace.calls import ShownRow
from sophos_desktop.shell.trace.nodes import Node
from sophos_desktop.shell.trace.saying import state_of


@dataclass(frozen=True, slots=True)
class Bar:
    """A time bar on a scale of `total_ms`; `kind` is `run`, a step's node or a row's kind. `length_ms` is
    None where only the waiting is known; `waited_ms` is how long somebody was waited for from
    `waited_from_ms` on, None if nobody was asked."""

    start_ms: float
    length_ms: float | None
    total_ms: float
    kind: str
    state: str
    level: int
    waited_from_ms: float = 0.0
    waited_ms: float | None = None


def bar_of(node: Node, now: str, total: float) -> Bar | None:
    """The item's time bar on a scale of `total` milliseconds; None if it has no length."""
    end, state = node.run.end_ms(now), state_of(node)
    if node.shown_row is not None:
        return _row_bar(node, node.shown_row, end, total)
    if node.step is None:
        return Bar(0.0, end, total, "run", state, 0) if node.run.total_ms(now) is not None else None
    start, length = step_span(node.step, node.run.record.started_at)
    waits = [_wait(row.question, end) for row in rows_below(node.run, node.step) if row.question is not None]
    known = [wait for wait in waits if wait is not None]
    waited_from = min((begin for begin, _ in known), default=0.0)
    waited = max((ended for _, ended in known), default=0.0) - waited_from if known else None
    if node.step.is_finished and start is not None:
        return Bar(start, length, total, node.step.node, state, node.level, waited_from, waited)
    if state == "waiting" and waited is not None:
        begin = waited_from if start is None else min(start, waited_from)
        return Bar(begin, None, total, node.step.node, state, node.level, begin, end - begin)
    if start is None:
        return None
    length = max(0.0, end - start) if state == "running" else None
    if length is None and known:
        return Bar(start, 0.0, total, node.step.node, state, node.level, waited_from, waited)
    return Bar(start, length, total, node.step.node, state, node.level) if length is not None else None


def _row_bar(node: Node, shown: ShownRow, end: float, total: float) -> Bar | None:
    row = shown.row
    wait = _wait(shown.question, end) if shown.question is not None else None
    waited_from, waited = (wait[0], wait[1] - wait[0]) if wait is not None else (0.0, None)
    if row.kind == "question":
        if wait is None:
            return None
        return Bar(waited_from, None, total, "tool", shown.state, node.level, waited_from, waited)
    if row.start_ms is None:
        return None
    length = row.duration_ms if row.span_ms is None else row.span_ms
    if length is None and row.state == "running":
        length = max(0.0, end - row.start_ms)
    elif length is None and shown.is_call and row.events[0]["type"] == "tool_call":
        length = 0.0  # cut off: how long it would have been is not known
    if length is None:
        return None
    if shown.was_made and waited_from >= row.start_ms:
        waited = None  # asked after the attempt: what was waited for is no part of it
    return Bar(row.start_ms, length, total, str(row.kind), shown.state, node.level, waited_from, waited)


def _wait(question: TraceRow, end_ms: float) -> tuple[float, float] | None:
    """When it was asked and when it was decided, or the end of the run."""
    if question.start_ms is None:
        return None
    took = question.duration_ms
    if took is None and question.began_at and question.ended_at:
        took = between(question.began_at, question.ended_at)
    end = end_ms if took is None and question.state == "waiting" else question.start_ms + (took or 0.0)
    return question.start_ms, end
