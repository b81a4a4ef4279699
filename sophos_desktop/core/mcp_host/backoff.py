"""Decides when a server that failed is started again.

Invariant: pauses double from failure to failure; after too many failures within the window there is no
further start until somebody asks for one.
"""

from collections import deque
from dataclasses import dataclass

from sophos_desktop.foundation.clock import Clock


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How patient the host is. All times in seconds."""

    first_pause_seconds: float = 1.0
    failures: int = 5
    window_seconds: float = 120.0


NO_RESTARTS = RestartPolicy(failures=1)
"""For a program that only looks how servers stand: the first failure is what it came to see."""


class Backoff:
    """The failures of one server. Lives as long as its task."""

    def __init__(self, policy: RestartPolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._failed_at: deque[float] = deque()

    def failed(self) -> float | None:
        """Note a failure. Returns the pause before the next start in seconds, or None to give up."""
        now = self._clock.monotonic()
        self._failed_at.append(now)
        while now - self._failed_at[0] > self._policy.window_seconds:
            self._failed_at.popleft()
        count = len(self._failed_at)
        if count >= self._policy.failures:
            return None
        return float(self._policy.first_pause_seconds * 2 ** (count - 1))

    def forget(self) -> None:
        """Start counting anew: the user asked for a restart."""
        self._failed_at.clear()
