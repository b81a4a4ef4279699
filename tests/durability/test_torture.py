"""Kills the real program and sees that nothing is lost and nothing runs twice.

`make test` draws 25 kills from a seed that it prints, `make torture N=…` covers each pass of each failpoint
at least once and then draws at random. `SEED=…` repeats a run.
"""

import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.durability.engine_process import engine_process
from tests.durability.kill import Case, play
from tests.durability.program import ForkServer, fork_server
from tests.durability.scenario import PARALLEL, new_home, question

KILLS = int(os.environ.get("SOPHOS_TORTURE_KILLS") or 25)
SEED = os.environ.get("SOPHOS_TORTURE_SEED") or str(random.SystemRandom().randrange(10**6))
WORKERS = 2


def _passes(server: ForkServer, engine: str, root: Path, parallel: int) -> tuple[Counter[str], float]:
    """How often a whole turn passes each failpoint, and how long it takes."""
    log = root / f"passes-{parallel}.txt"
    with new_home(root / f"calm-{parallel}", engine) as home:
        ended = server.run(
            ["ask", "--json", question(parallel)],
            env=home.env(SOPHOS_FAILPOINT_LOG=str(log)),
            cwd=home.root,
        )
        assert ended.code == 0, ended.stderr
    return Counter(log.read_text(encoding="utf-8").splitlines()), ended.seconds


def _draw(passes: dict[int, Counter[str]], seconds: dict[int, float]) -> list[Case]:
    chance = random.Random(SEED)
    points = [
        (parallel, f"{name}:{hit}")
        for parallel, counts in passes.items()
        for name, count in sorted(counts.items())
        for hit in range(1, count + 1)
    ]
    chance.shuffle(points)
    # The first pass of each name comes first, which no turn can miss: a short run still meets every kind of
    # window. How often a name is passed later in a turn varies a little.
    names = sorted({point.partition(":")[0] for _, point in points})
    first = [next(found for found in points if found[1] == f"{name}:1") for name in names]
    more = [point for point in points if point not in first]
    cases = []
    for number in range(KILLS):
        history = chance.random() < 0.3
        again = chance.choice(points)[1] if chance.random() < 0.3 else None
        # Every name has its turn before anything is left to chance.
        place = first[number] if number < len(first) else None
        if place is None and chance.random() < 0.85:
            place = more.pop() if more else chance.choice(points)
        if place is not None:
            cases.append(Case(number, place[0], failpoint=place[1], again=again, history=history))
        else:
            parallel = chance.choice(PARALLEL)
            moment = chance.uniform(0.02, seconds[parallel])
            cases.append(Case(number, parallel, seconds=moment, again=again, history=history))
    return cases


@pytest.mark.timeout(0)
def test_torture_nothing_is_lost_and_nothing_runs_twice(tmp_path: Path) -> None:
    """The whole matrix; a failure names its case."""
    print(f"\ntorture: {KILLS} kills, SEED={SEED}", flush=True)
    with ExitStack() as stack:
        engine = stack.enter_context(engine_process(tmp_path))
        servers = [stack.enter_context(fork_server()) for _ in range(WORKERS)]
        measured = {p: _passes(servers[0], engine, tmp_path, p) for p in PARALLEL}
        cases = _draw({p: m[0] for p, m in measured.items()}, {p: m[1] for p, m in measured.items()})

        def work(index: int) -> list[Case]:
            return [case for case in cases[index::WORKERS] if play(servers[index], engine, case)]

        with ThreadPoolExecutor(WORKERS) as pool:
            killed = [case for part in pool.map(work, range(WORKERS)) for case in part]
    named = {case.failpoint.partition(":")[0] for case in killed if case.failpoint}
    passed = {name for counts, _ in measured.values() for name in counts}
    where = f"at {len(named)} of {len(passed)} failpoints and at random moments"
    print(f"torture: {len(killed)} of {KILLS} turns were killed, {where}")
    assert len(killed) >= KILLS * 0.7
    assert len(passed) > KILLS or named == passed, f"never killed at: {sorted(passed - named)}"
