"""Runs: their states, and which state may follow which.

Invariant: `LEGAL_TRANSITIONS` is the whole state machine; the store refuses any other change.
"""

from dataclasses import dataclass
from enum import StrEnum


class RunKind(StrEnum):
    """How a run began."""

    MESSAGE = "message"
    RESUME = "resume"


class RunStatus(StrEnum):
    """What became of a run. `waiting`: paused on a decision, owned by nobody."""

    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_active(self) -> bool:
        """True while the run keeps its conversation to itself."""
        return self in (RunStatus.RUNNING, RunStatus.WAITING)


_ENDED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.INTERRUPTED})

LEGAL_TRANSITIONS: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.RUNNING: _ENDED | {RunStatus.WAITING},
    RunStatus.WAITING: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED, RunStatus.INTERRUPTED}),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
    RunStatus.INTERRUPTED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class LeftFailure:
    """A run that failed and that nobody resumed: a message was sent instead. `input_message_id`: the message
    it was to answer, None for a resume; `next_message_id`: the one that was sent instead."""

    run_id: str
    error_code: str | None
    error_message: str | None
    input_message_id: str | None
    next_message_id: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One row of `runs`. Times are ISO 8601 text in UTC; `unfinished`: tasks were left at the outcome;
    `decided`: it waits, though all that it asked is decided, so a resume goes on with it."""

    id: str
    conversation_id: str
    kind: RunKind
    status: RunStatus
    error_code: str | None
    error_message: str | None
    engine: str | None
    model: str | None
    prompt_sha256: str | None
    started_at: str
    finished_at: str | None
    unfinished: bool = False
    owner: str | None = None
    input_text: str | None = None
    input_message_id: str | None = None
    decided: bool = False
