"""Kills the real program and sees that nothing is lost and nothing runs twice.

25 kills from a seed that is printed; `make torture N=…` plays the whole matrix, and `SEED=…` repeats it.
"""

import os
import random

import pytest

from tests.durability.torture import State, go_on

KILLS = int(os.environ.get("SOPHOS_TORTURE_KILLS") or 25)
SEED = os.environ.get("SOPHOS_TORTURE_SEED") or str(random.SystemRandom().randrange(10**6))


@pytest.mark.timeout(0)
def test_nothing_is_lost_and_nothing_runs_twice() -> None:
    """A small part of the matrix: each failpoint once."""
    print(f"\ntorture: {KILLS} kills, SEED={SEED}", flush=True)
    state = State(SEED, KILLS)
    go_on(state, slice_seconds=3600)
    print(state.summary())
    assert state.violations == []
    assert state.killed >= KILLS
    places = {case["place"] for case in state.done.values() if case["kills"]}
    passed = {name for starts in state.measured.values() for start in starts for name in start.passes}
    assert len(passed) > KILLS or passed <= places, f"never killed at: {sorted(passed - places)}"
