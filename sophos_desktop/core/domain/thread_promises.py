"""What the tables say a thread must hold: one whose newest rows are gone is never taken for a shorter one.

Invariant: pure; a promise is recorded only after a checkpoint held what it speaks of. Whoever holds a thread
against it reads the promise first: a thread only grows.
"""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ThreadPromise:
    """`message_count`: as the latest outcome recorded it; `calls`: those that were sent; `answered`: those
    whose recorded result was let go, since a checkpoint held it; `messages`: ids of what was sent and is kept
    nowhere else any more."""

    message_count: int = 0
    calls: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()

    def broken_by(
        self,
        message_count: int,
        *,
        calls: Collection[str],
        answered: Collection[str],
        messages: Collection[str | None],
    ) -> str:
        """What of it a thread does not hold, as the end of a sentence; empty if it holds all."""
        if message_count < self.message_count:
            return f"it has {message_count} of the {self.message_count} messages that were counted in it"
        if unknown := len(self.calls - set(calls)):
            return f"{_count(unknown, 'tool call')} that the journal has {_is_or_are(unknown)} not in it"
        if unanswered := len(self.answered - set(answered)):
            return f"{_count(unanswered, 'result')} that it held {_is_or_are(unanswered)} not in it"
        if gone := len(self.messages - set(messages)):
            return f"{_count(gone, 'message')} that it held {_is_or_are(gone)} not in it"
        return ""


def _count(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"
