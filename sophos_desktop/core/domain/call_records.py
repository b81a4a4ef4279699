"""What the journal has of one call: when it was sent and came back, and what the user decided about it.

Invariant: pure; times are as they were stored, and a call whose result is long in the thread has its record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.domain.ports import Decision, ToolAttempt


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call that was sent or decided, each in the order it was."""

    attempts: tuple[ToolAttempt, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def sent_args(self) -> Mapping[str, Any] | None:
        """The arguments that were sent last; None if it was never sent."""
        return self.attempts[-1].args if self.attempts else None

    def is_edited(self, asked: Mapping[str, Any]) -> bool:
        """True if the user had it sent with other arguments than the model asked for."""
        changed = [decision.args for decision in self.decisions if decision.args is not None]
        return any(dict(args) != dict(asked) for args in changed)

    def to_json(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "edited": self.is_edited(asked),
            "attempts": [
                {
                    "attempt": attempt.attempt,
                    "run_id": attempt.run_id,
                    "state": attempt.state,
                    "started_at": attempt.started_at,
                    "finished_at": attempt.finished_at,
                    "args": dict(attempt.args),
                }
                for attempt in self.attempts
            ],
            "decisions": [
                {
                    "decision": decision.decision,
                    "why": decision.why,
                    "attempt": decision.attempt,
                    "decided_at": decision.decided_at,
                    "edited": decision.args is not None and dict(decision.args) != dict(asked),
                    "reason": decision.reason,
                }
                for decision in self.decisions
            ],
        }


NO_RECORD = CallRecord()


def call_records(attempts: Sequence[ToolAttempt], decisions: Sequence[Decision]) -> Mapping[str, CallRecord]:
    """By the call's id."""
    ids = dict.fromkeys([*(one.tool_call_id for one in attempts), *(one.tool_call_id for one in decisions)])
    return {
        call_id: CallRecord(
            tuple(
                sorted((one for one in attempts if one.tool_call_id == call_id), key=lambda one: one.attempt)
            ),
            tuple(one for one in decisions if one.tool_call_id == call_id),
        )
        for call_id in ids
    }
