"""Follows a place from one drawing of a text to a later one.

Invariant: a place is kept at the same character; where that is gone with marks that are no longer drawn, at
the nearest that is left; where something else stands there now, nowhere. Pure; positions count in `str`.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

_MARKS = frozenset("*_~`\\[]()<>$#|!&-+:^= ")
_MOST_MARKS = 8
_LONGEST_STEP = 48  # how far each text is stepped through to find where both are equal again
_SURE_LENGTHS = (16, 6, 3)  # characters that must be equal there


class _Run(NamedTuple):
    """Both texts are equal for `length` characters."""

    old: int
    new: int
    length: int


def followed(old: str, new: str, place: int, *, is_start: bool) -> int | None:
    """Where `place` of `old` is in `new`; None if the text there changed. `is_start`: what matters is the
    character behind it, otherwise the one before it."""
    if is_start and place >= len(old):
        is_start = False
    if not is_start and place == 0:
        is_start = True
    character = place if is_start else place - 1
    before = _Run(0, 0, 0)
    for run in _runs(old, new):
        if character < run.old:
            break
        if character < run.old + run.length:
            return run.new + place - run.old
        before = run
    else:
        run = _Run(len(old), len(new), 0)
    gap_old, gap_new = before.old + before.length, before.new + before.length
    is_at_edge = place in (gap_old, run.old)
    if gap_new == run.new:
        return gap_new
    if run.old == len(old) and set(old[gap_old:]) <= _MARKS:
        return gap_new  # marks at the end that are drawn no longer, and what came behind them
    if not is_at_edge:
        return None
    return gap_new if place == gap_old else run.new


def _runs(old: str, new: str) -> Iterator[_Run]:
    at_old = at_new = 0
    while at_old < len(old) and at_new < len(new):
        length = _equal_length(old, new, at_old, at_new)
        if length:
            yield _Run(at_old, at_new, length)
            at_old, at_new = at_old + length, at_new + length
            continue
        step = _step_over_marks(old, new, at_old, at_new) or _step(old, new, at_old, at_new)
        if step is None:
            return
        at_old, at_new = at_old + step[0], at_new + step[1]


def _equal_length(old: str, new: str, at_old: int, at_new: int) -> int:
    most = min(len(old) - at_old, len(new) - at_new)
    if old[at_old : at_old + most] == new[at_new : at_new + most]:
        return most
    pairs = zip(islice(old, at_old, None), islice(new, at_new, None), strict=False)
    return next(number for number, (one, other) in enumerate(pairs) if one != other)


def _step_over_marks(old: str, new: str, at_old: int, at_new: int) -> tuple[int, int] | None:
    """Marks that are not drawn any more, most often emphasis that was closed."""
    for count in range(1, _MOST_MARKS + 1):
        if old[at_old + count - 1 : at_old + count] not in _MARKS:
            return None
        if old[at_old + count : at_old + count + 2] == new[at_new : at_new + 2]:
            return count, 0
    return None


def _step(old: str, new: str, at_old: int, at_new: int) -> tuple[int, int] | None:
    """How far to go in each to where they are equal again; the least that is sure."""
    for length in _SURE_LENGTHS:
        found: list[tuple[int, int]] = []
        for ahead in range(_LONGEST_STEP):
            piece = new[at_new + ahead : at_new + ahead + length]
            at = old.find(piece, at_old) if len(piece) == length else -1
            if at >= 0:
                found.append((at - at_old, ahead))
            piece = old[at_old + ahead : at_old + ahead + length]
            at = new.find(piece, at_new) if len(piece) == length else -1
            if at >= 0:
                found.append((ahead, at - at_new))
        if found:
            return min(found, key=sum)
    return None
