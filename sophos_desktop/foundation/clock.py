"""Tells the time, so that tests can tell it instead.

Invariant: wall-clock times are UTC; durations are measured on the monotonic clock.
"""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the program asks for the time."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()


def to_text(moment: datetime) -> str:
    """A moment as UTC ISO 8601 with milliseconds and `Z`; sorts as text like it sorts as time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """The moment that `to_text` wrote. Raises ValueError on anything else."""
    return datetime.fromisoformat(text)
