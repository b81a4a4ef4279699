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
    # Each name once before any pass of it a second time: a short run still meets many kinds of window.
    chance.shuffle(points)
    seen: set[str] = set()
    first: list[tuple[int, str]] = []
    more: list[tuple[int, str]] = []
    for point in points:
        name = point[1].partition(":")[0]
        (more if name in seen else first).append(point)
        seen.add(name)
    ordered = first + more
    cases = []
    for number in range(KILLS):
        history = chance.random() < 0.3
        again = chance.choice(points)[1] if chance.random() < 0.3 else None
        if number < len(ordered) and chance.random() < 0.85:
            parallel, place = ordered[number]
            cases.append(Case(number, parallel, failpoint=place, again=again, history=history))
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

        def work(index: int) -> int:
            return sum(play(servers[index], engine, case) for case in cases[index::WORKERS])

        with ThreadPoolExecutor(WORKERS) as pool:
            killed = sum(pool.map(work, range(WORKERS)))
    named = {case.failpoint.partition(":")[0] for case in cases if case.failpoint}
    print(f"torture: {killed} of {KILLS} turns were killed, at {len(named)} failpoints and at random moments")
    assert killed >= KILLS * 0.7
