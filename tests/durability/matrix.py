"""Which turns are killed, and where: a sequence of cases that follows from a seed and what was measured.

Invariant: the same seed and the same measures give the same cases, so an interrupted sequence can be gone on
with and a case repeated by its number.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from tests.durability.kill import Case, Measured
from tests.durability.scripts import SCRIPTS

_SMALL = 60
_SPARES = 4
_Point = tuple[str, int, str]


def chosen_scripts(kills: int, seed: str) -> list[str]:
    """The scripts that are played: all, or for few kills one of each kind, since each is measured first."""
    if kills > _SMALL:
        return list(SCRIPTS)
    kinds: dict[str, list[str]] = {}
    for name in SCRIPTS:
        kinds.setdefault(name.rstrip("0123456789-"), []).append(name)
    chance = random.Random(f"scripts {seed}")
    return [chance.choice(names) for names in kinds.values()]


def cases(seed: str, measured: Mapping[str, Sequence[Measured]]) -> Iterator[Case]:
    """Without an end: first each failpoint once, with spares in other scripts, then each pass of each
    failpoint of each script, with random moments between them, then at random."""
    chance = random.Random(f"cases {seed}")
    points: dict[str, list[_Point]] = {name: _points(name, starts) for name, starts in measured.items()}
    for of_script in points.values():
        chance.shuffle(of_script)
    everything = [point for of_script in points.values() for point in of_script]
    chance.shuffle(everything)
    first, spares = _first_of_each_failpoint(everything)
    for number in count():
        again = chance.choice(everything)[2] if chance.random() < 0.3 else None
        history = chance.random() < 0.2
        if number < len(first) + len(spares):
            script, start, where = (*first, *spares)[number]
            yield Case(number, script, start, failpoint=where, again=again, spare=number >= len(first))
            continue
        script = _drawn(chance, points)
        if chance.random() < 0.12:
            start = chance.randrange(len(measured[script]))
            moment = chance.uniform(0.02, measured[script][start].seconds)
            yield Case(number, script, start, seconds=moment, again=again, history=history)
            continue
        script, start, where = points[script].pop() if points[script] else chance.choice(everything)
        yield Case(number, script, start, failpoint=where, again=again, history=history)


def _points(script: str, starts: Sequence[Measured]) -> list[_Point]:
    return [
        (script, start, f"{name}:{hit}")
        for start, measured in enumerate(starts)
        for name, passes in sorted(measured.passes.items())
        for hit in range(1, passes + 1)
    ]


def _first_of_each_failpoint(points: Sequence[_Point]) -> tuple[list[_Point], list[_Point]]:
    """Hardly a turn misses the first pass: so a short sequence, too, meets every kind of window. A turn that
    ends before a server was started does miss it, so there are spares."""
    found: dict[str, list[_Point]] = {}
    for point in points:
        name, _, hit = point[2].partition(":")
        if hit == "1":
            found.setdefault(name, []).append(point)
    names = sorted(found)
    spares = [point for name in names for point in found[name][1 : 1 + _SPARES]]
    return [found[name][0] for name in names], spares


def _drawn(chance: random.Random, points: Mapping[str, Sequence[_Point]]) -> str:
    names = list(points)
    return chance.choices(names, [SCRIPTS[name].weight for name in names])[0]
