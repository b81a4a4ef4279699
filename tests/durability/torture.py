"""The crash matrix as a program: `python -m tests.durability.torture N=1000 [SEED=…]`.

Invariant: what was done is on disk after each case (`build/torture/<seed>.json`): a sequence that was broken
off is gone on with, and a figure comes from cases that were really played. A broken rule ends nothing.
"""

import hashlib
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.durability.engine_process import engine_process
from tests.durability.kill import Case, Engines, Measured, Played, measure, play
from tests.durability.matrix import cases, chosen_scripts
from tests.durability.program import ROOT, ForkServer, fork_server
from tests.durability.scripts import SCRIPTS

FOLDER = ROOT / "build" / "torture"
SLICE_SECONDS = 240.0
WORKERS = 2


@dataclass(slots=True)
class State:
    """A sequence of kills, as far as it has come. `done`: by number, the case and what came of it."""

    seed: str
    kills: int
    file: Path | None = None
    measured: dict[str, list[Measured]] = field(default_factory=dict)
    done: dict[int, dict[str, Any]] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def killed(self) -> int:
        """How many turns were killed; continuations that were killed too are not counted."""
        return sum(case["kills"] > 0 for case in self.done.values())

    @property
    def violations(self) -> list[str]:
        """The rules that were found broken."""
        return [case["problem"] for case in self.done.values() if case["problem"]]

    def wants(self, case: Case) -> bool:
        """False for a case that was played, and for a spare of a failpoint at which a turn was killed."""
        if case.spare and any(done["kills"] and done["place"] == case.place for done in self.done.values()):
            return False
        return case.number not in self.done

    def record(self, case: Case, played: Played) -> None:
        """Keep what came of a case."""
        self.done[case.number] = {
            "script": case.script,
            "place": case.place,
            "kills": played.kills,
            "problem": played.problem,
        }
        self.save()

    def save(self) -> None:
        """Write it down, whole or not at all."""
        if self.file is None:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.file.with_suffix(".part")
        measured = {name: [asdict(start) for start in starts] for name, starts in self.measured.items()}
        kept = {**asdict(self), "file": None, "measured": measured}
        scratch.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        scratch.replace(self.file)

    @classmethod
    def load(cls, file: Path) -> "State":
        """What was written down."""
        kept = json.loads(file.read_text(encoding="utf-8"))
        kept["file"] = file
        kept["measured"] = {
            name: [Measured(**start) for start in starts] for name, starts in kept["measured"].items()
        }
        kept["done"] = {int(number): case for number, case in kept["done"].items()}
        return cls(**kept)

    def summary(self) -> str:
        """Kills by failpoint and by script, and what is wrong."""
        again = sum(max(0, case["kills"] - 1) for case in self.done.values())
        lines = [
            f"torture: {self.killed} of {len(self.done)} turns were killed, "
            f"and {again} continuations, SEED={self.seed}"
        ]
        for title, key in (("by failpoint", "place"), ("by script", "script")):
            count: Counter[str] = Counter()
            for case in self.done.values():
                count[case[key]] += case["kills"] > 0
            lines.append(f"  {title}: " + ", ".join(f"{name} {n}" for name, n in sorted(count.items())))
        if len(self.sources) > 1:
            lines.append(f"  the program changed {len(self.sources) - 1} times in between")
        lines += [f"  VIOLATION: {problem}" for problem in self.violations]
        minutes = self.seconds / 60
        lines.append(f"torture: {len(self.violations)} violations, {minutes:.0f} minutes")
        return "\n".join(lines)


def go_on(state: State, slice_seconds: float) -> None:
    """Play cases for about so long, or until there are enough kills."""
    began, before = time.monotonic(), state.seconds
    deadline = began + slice_seconds
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sophos-torture-")))
        engines = Engines(
            stack.enter_context(engine_process(folder)),
            stack.enter_context(engine_process(folder, holding=True)),
        )
        servers = [stack.enter_context(fork_server()) for _ in range(WORKERS)]
        pool = stack.enter_context(ThreadPoolExecutor(WORKERS))
        missing = [name for name in chosen_scripts(state.kills, state.seed) if name not in state.measured]
        for part in pool.map(lambda i: _measured(servers[i], engines, missing[i::WORKERS]), range(WORKERS)):
            state.measured.update(part)
        state.measured = {name: state.measured[name] for name in SCRIPTS if name in state.measured}
        state.save()
        left = (case for case in cases(state.seed, state.measured) if state.wants(case))
        lock = threading.Lock()

        def work(server: ForkServer) -> None:
            for case in _while_open(left, lock, state, deadline):
                played = play(server, engines, case)
                with lock:
                    state.seconds = before + time.monotonic() - began
                    state.record(case, played)
                    if played.problem:
                        print(f"VIOLATION: {played.problem}", flush=True)

        for _ in pool.map(work, servers):
            pass


def _measured(server: ForkServer, engines: Engines, names: list[str]) -> dict[str, list[Measured]]:
    return {name: measure(server, engines, name) for name in names}


def _while_open(left: Iterator[Case], lock: threading.Lock, state: State, deadline: float) -> Iterator[Case]:
    while True:
        with lock:
            if state.killed >= state.kills or time.monotonic() >= deadline:
                return
            case = next(left)
        yield case


def sources_digest() -> str:
    """What the program is, in twelve letters."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "sophos_desktop").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _find(kills: int, seed: str) -> State:
    """The sequence that was broken off, or a new one; one that is complete is played anew."""
    files = [FOLDER / f"{seed}.json"] if seed else sorted(FOLDER.glob("*.json"), reverse=True)
    for file in files:
        if file.exists():
            state = State.load(file)
            if state.killed < state.kills == kills:
                print(
                    f"going on with SEED={state.seed}, {state.killed} of {kills} kills are done", flush=True
                )
                return state
    seed = seed or str(random.SystemRandom().randrange(10**6))
    return State(seed, kills, FOLDER / f"{seed}.json")


def main(arguments: list[str]) -> int:
    """Play the whole sequence in slices; 1 if a rule was broken."""
    options = dict(item.partition("=")[::2] for item in arguments)
    state = _find(int(options.get("N") or 150), options.get("SEED") or "")
    print(f"torture: {state.kills} kills, SEED={state.seed}", flush=True)
    while state.killed < state.kills:
        digest = sources_digest()
        if digest not in state.sources:
            state.sources.append(digest)
        go_on(state, SLICE_SECONDS)
        print(
            f"{state.killed} of {state.kills} kills, {len(state.violations)} violations, "
            f"{state.seconds / 60:.0f} minutes",
            flush=True,
        )
    print(state.summary())
    return 1 if state.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
