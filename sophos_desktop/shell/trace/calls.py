"""Joins a call, the question about it and its result into the one row that the dock shows.

Invariant: pure; each row of the core's fold ends up in one shown row, whose key is that of what came first,
so that later events change a row and never move one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sophos_desktop.core.domain.projection import JsonObject
from sophos_desktop.core.domain.trace_rows import TraceRow

ShownState = Literal["done", "running", "waiting", "uncertain", "failed", "denied", "skipped", "interrupted"]

NOT_DONE: tuple[ShownState, ...] = ("uncertain", "failed", "denied", "skipped", "interrupted")
"""What counts as a failure where only failures are shown."""

_BY_STATUS: dict[str, ShownState] = {
    "error": "failed",
    "denied": "denied",
    "skipped": "skipped",
    "interrupted": "interrupted",
}
_QUIET = ("end", "run_started")  # a run says by itself how it began and ended
_DECIDED: dict[str, ShownState] = {"deny": "denied", "skip": "skipped"}


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of the dock. `row` is an attempt of a call, or the question where none was made; `question` is
    what was asked about that call, before it was made or after nothing came back."""

    key: str
    row: TraceRow
    state: ShownState
    question: TraceRow | None = None

    @property
    def is_call(self) -> bool:
        """True for a call, made or only asked about."""
        return self.row.kind in ("tool", "question")

    @property
    def was_made(self) -> bool:
        """True if an attempt of the call is in the trace."""
        return any(event["type"] == "tool_call" for event in self.row.events)


def shown_rows(rows: Iterable[TraceRow]) -> list[ShownRow]:
    """The rows of a step, each call and what was asked about it as one; without what needs no row."""
    shown: list[ShownRow] = []
    calls: dict[str, int] = {}
    for row in rows:
        first = row.events[0]
        if first["type"] in _QUIET or _is_of_user(first):
            continue
        call_id = call_of(row)
        place = calls.get(call_id) if call_id else None
        if place is not None and (joined := _joined(shown[place], row)) is not None:
            shown[place] = joined
            continue
        if call_id and row.kind != "message":
            calls[call_id] = len(shown)
        shown.append(_alone(row))
    return shown


def asked_call(events: Sequence[JsonObject], call_id: str) -> JsonObject | None:
    """A call as the model asked for it, found among a run's events by its id (`<message id>:<index>`)."""
    message_id, _, index = call_id.rpartition(":")
    for event in events:
        if event["type"] == "message" and event["message"]["id"] == message_id and index.isdecimal():
            calls = event["message"].get("tool_calls") or ()
            return calls[int(index)] if int(index) < len(calls) else None
    return None


def call_of(row: TraceRow) -> str:
    """The call that a row is about; empty for other rows. The message of a result that nothing was sent for
    is a row of the core's."""
    first = row.events[0]
    if row.kind == "message":
        return str(first["message"].get("tool_call_id") or "")
    return str(first.get("tool_call_id") or "") if row.kind in ("tool", "question") else ""


def _is_of_user(event: JsonObject) -> bool:
    """The message that a run begins with: the run's own details hold it."""
    return event["type"] == "message" and bool(event["message"].get("role") == "user")


def _alone(row: TraceRow) -> ShownRow:
    if row.kind == "question":
        return ShownRow(row.key, row, _state_of_question(row), row)
    return ShownRow(row.key, row, _state_of_row(row))


def _joined(known: ShownRow, row: TraceRow) -> ShownRow | None:
    """The shown row with `row` in it; None if it is another attempt, which has a row of its own."""
    is_question = known.row.kind == "question"
    if row.kind == "message":
        return replace(known, row=replace(known.row, events=(*known.row.events, *row.events)))
    if row.kind == "question":
        # After an attempt without a result: what the question became shows in the attempts after it.
        state: ShownState = "uncertain" if row.state == "waiting" else known.state
        return None if is_question else replace(known, question=row, state=state)
    if not is_question:
        return None
    if row.events[0]["type"] == "tool_call":
        return replace(known, row=row, state=_state_of_row(row))
    # A result without an attempt: nothing was sent.
    whole = replace(known.row, events=(*known.row.events, *row.events))
    return replace(known, row=whole, state=_state_of_row(row))


def _state_of_question(row: TraceRow) -> ShownState:
    if row.state != "done":
        return (
            "uncertain" if row.events[0].get("why") == "uncertain" and row.state == "waiting" else row.state
        )
    decisions = [event["decision"] for event in row.events if event["type"] == "tool_decided"]
    return _DECIDED.get(decisions[-1], "done") if decisions else "done"


def _state_of_row(row: TraceRow) -> ShownState:
    statuses = [str(event["status"]) for event in row.events if event["type"] == "tool_result"]
    return _BY_STATUS.get(statuses[-1], row.state) if statuses else row.state
