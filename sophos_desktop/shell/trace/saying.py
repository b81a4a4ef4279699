"""What each item of the trace is called, how it stands and how long it took.

Invariant: pure, no Qt; the words are those of `words`.
"""

from sophos_desktop.core.domain.projection import step_span
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.shell.trace import words
from sophos_desktop.shell.trace.calls import ShownState, asked_call, call_of
from sophos_desktop.shell.trace.nodes import Node

_RUN_STATES: dict[RunStatus, ShownState] = {
    RunStatus.RUNNING: "running",
    RunStatus.WAITING: "waiting",
    RunStatus.FAILED: "failed",
    RunStatus.INTERRUPTED: "interrupted",
    RunStatus.CANCELLED: "interrupted",
}


def name_of(node: Node) -> str:
    """What an item is called."""
    if node.step is not None:
        return words.step_name(node.run.number_of(node.step), node.step.node)
    if node.shown_row is not None:
        row = node.shown_row.row
        # What was made says itself what it was; the others are looked for, which takes longer.
        call_id = "" if row.events[0].get("tool") else call_of(row)
        return words.row_name(row, asked_call(node.run.events, call_id) if call_id else None)
    return words.run_name(node.run.number, node.run.record)


def state_of(node: Node) -> ShownState:
    """How an item stands."""
    status = node.run.record.status
    if node.shown_row is not None:
        return node.shown_row.state
    if node.step is None:
        return _RUN_STATES.get(status, "done")
    if node.step.is_finished:
        return "done"
    later = node.parent.children[node.position + 1 :] if node.parent is not None else []
    if any(child.step is not None for child in later):
        return "interrupted"
    if status is RunStatus.WAITING:
        return "waiting"
    if status is RunStatus.RUNNING:
        return "running"
    if status is RunStatus.COMPLETED:  # a trace without steps, of another version
        return "done"
    return "failed" if status is RunStatus.FAILED else "interrupted"


def state_word_of(node: Node) -> str:
    """The state as a word; empty when it is done."""
    if node.entry is None:
        return words.run_state(node.run.record)
    return words.state_word(state_of(node))


def took_ms(node: Node, now: str) -> float | None:
    """How long an item took; None if that is not known or it goes on."""
    if node.shown_row is not None:
        row = node.shown_row.row
        return None if row.kind == "question" else row.duration_ms
    if node.step is not None:
        return step_span(node.step, node.run.record.started_at)[1]
    return node.run.total_ms(now)


def time_of(node: Node, now: str) -> str:
    """What stands in the column of times: how long it took, or why that is not known."""
    took = took_ms(node, now)
    if took is not None:
        return words.column_words(took)
    if node.shown_row is None or not node.shown_row.is_call:
        return ""
    return words.call_word(node.shown_row)
