"""Durations from stored times, and as words.

Invariant: pure, standard library only; milliseconds in, the same words out for every front end.
"""

from datetime import datetime


def between(started_at: str | None, finished_at: str | None) -> float | None:
    """Milliseconds from one stored time to another; None if one is missing."""
    if not started_at or not finished_at:
        return None
    began, ended = datetime.fromisoformat(started_at), datetime.fromisoformat(finished_at)
    return (ended - began).total_seconds() * 1000


def duration(milliseconds: float | None) -> str:
    """A duration for people; empty if it is unknown."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
