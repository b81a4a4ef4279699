"""One kill: a turn of the real program is killed, then both ways on are taken and judged.

Invariant: a case is data (`Case`), so a failure can be repeated from what it prints.
"""

import random
import shutil
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.durability.player import EXAMINE, BrokenRule, Kill, Killed, Player
from tests.durability.program import ForkServer
from tests.durability.rules import History
from tests.durability.scenario import SECOND_QUESTION, answer_to, new_home
from tests.durability.scripts import SCRIPTS

__all__ = ["EXAMINE", "BrokenRule", "Case", "Engines", "Measured", "Played", "measure", "play"]
_TYPED = "chat only, now"


@dataclass(frozen=True, slots=True)
class Engines:
    """The addresses of the scripted engine and of the one that stops in the middle of its talk."""

    plain: str
    holding: str


@dataclass(frozen=True, slots=True)
class Case:
    """A script, the start of it that is killed and where: at the `hit`th pass of a failpoint (`name:hit`), or
    after some seconds. `again`: a failpoint at which the continuation is killed too; `spare`: it is only
    played while no turn was killed at its failpoint."""

    number: int
    script: str
    start: int = 0
    failpoint: str | None = None
    seconds: float | None = None
    again: str | None = None
    history: bool = False
    spare: bool = False

    @property
    def place(self) -> str:
        """The name of the failpoint, or that it is a random moment."""
        return "a random moment" if self.failpoint is None else self.failpoint.partition(":")[0]

    def __str__(self) -> str:
        where = self.failpoint or f"after {self.seconds or 0:.3f} s"
        then = f", then {self.again}" if self.again else ""
        past = ", with a history" if self.history else ""
        return f"case {self.number}: {self.script}, start {self.start}, killed at {where}{then}{past}"


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a case: how often the program was killed (0: the turn ended before it), what is wrong."""

    kills: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One start of a calm turn: how often it passes each failpoint, and how long it takes."""

    passes: dict[str, int]
    seconds: float


def measure(server: ForkServer, engines: Engines, script_name: str) -> list[Measured]:
    """Play a script calmly. Raises BrokenRule."""
    with tempfile.TemporaryDirectory(prefix="sophos-calm-") as folder:
        script = SCRIPTS[script_name]
        log = str(Path(folder) / "passes")
        with new_home(Path(folder) / "home", engines.plain, approval=script.approval) as home:
            player = Player(
                server,
                home,
                script,
                History(),
                chance=_decisions_of(script_name),
                kill=None,
                is_first=True,
                holding_engine=engines.holding,
                failpoint_log=log,
            )
            player.open()
            _check_end(player.go_on(), player.history)
        return [Measured(_passes(Path(f"{log}-{n}")), seconds) for n, seconds in enumerate(player.seconds)]


def _passes(log: Path) -> dict[str, int]:
    return dict(Counter(log.read_text(encoding="utf-8").splitlines())) if log.exists() else {}


def _decisions_of(script_name: str) -> random.Random:
    """What is decided on the way is the script's, so that a turn comes to the same places each time."""
    return random.Random(f"decisions of {script_name} {SCRIPTS[script_name].taste}")


def play(server: ForkServer, engines: Engines, case: Case) -> Played:
    """Play a case; a broken rule keeps the homes and is told."""
    root = Path(tempfile.mkdtemp(prefix="sophos-kill-"))
    try:
        kills = _play(server, engines, case, root)
    except BrokenRule as broken:
        return Played(1, f"{case} ({root}): {broken}")
    shutil.rmtree(root)
    return Played(kills)


def _play(server: ForkServer, engines: Engines, case: Case, root: Path) -> int:
    script = SCRIPTS[case.script]
    with ExitStack() as stack:
        home = stack.enter_context(new_home(root / "home", engines.plain, approval=script.approval))
        first = Player(
            server,
            home,
            script,
            History(),
            chance=_decisions_of(case.script),
            kill=Kill(case.failpoint, case.seconds, case.start),
            is_first=True,
            holding_engine=engines.holding,
        )
        try:
            if case.history:
                first.remember(SECOND_QUESTION)
            first.open()
            _check_end(first.go_on(), first.history)
        except Killed:
            first.judge(finished=False)
        else:
            return 0
        kills = 1
        for way in ("resume", "type"):
            other = Player(
                server,
                home.copy(root / way),
                script,
                first.history.copy(),
                chance=random.Random(f"{case} {way}"),
                kill=Kill(case.again) if case.again else None,
                holding_engine=engines.holding,
            )
            _check_end(other.go_on(_TYPED if way == "type" else None), other.history)
            kills += other.kills
    return kills


def _check_end(seen: dict[str, Any], history: History) -> None:
    """The last message is the answer to the last thing that was said."""
    if not seen["conversations"]:
        return
    messages = seen["conversations"][0]["messages"]
    users = [message["text"] for message in messages if message["role"] == "user"]
    if sorted(users) != sorted(history.asked):
        raise BrokenRule(f"said is {users}, and the program took {history.asked}")
    last = messages[-1]
    if last["role"] != "assistant" or last["text"] != answer_to(users[-1]):
        raise BrokenRule(f"the last message is {last['role']}: {last['text']!r}")
