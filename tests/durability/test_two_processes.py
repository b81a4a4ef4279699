"""Two processes on one file, and one of them is killed: the other one and the file live with it."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.durability.engine_process import engine_process
from tests.durability.player import Player
from tests.durability.program import Finished, ForkServer, fork_server
from tests.durability.rules import History
from tests.durability.scenario import SECOND_QUESTION, THIRD_QUESTION, Home, new_home
from tests.durability.scripts import SCRIPTS

pytestmark = pytest.mark.long

ALLOWED, ASKED = SCRIPTS["write-2"], SCRIPTS["decide-2-0"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two fork servers, so that two programs run at once."""

    servers: tuple[ForkServer, ForkServer]

    def both(self, home: Home, first: list[str], second: list[str], kill: dict[int, str]) -> list[Finished]:
        """Two programs at the same time in one home; `kill`: the failpoint at which one of them is killed."""

        def run(index: int, argv: list[str]) -> Finished:
            env = home.env(SOPHOS_FAILPOINT=kill[index]) if index in kill else home.env()
            return self.servers[index].run(argv, env=env, cwd=home.root, out=f"out-{index}.txt")

        with ThreadPoolExecutor(2) as pool:
            begun = [pool.submit(run, index, argv) for index, argv in enumerate((first, second))]
            return [future.result() for future in begun]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Both of them."""
    with ExitStack() as stack:
        servers = (stack.enter_context(fork_server()), stack.enter_context(fork_server()))
        yield Pair(servers)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[str]:
    """The scripted engine."""
    with engine_process(tmp_path) as made:
        yield made


def a_player(pair: Pair, home: Home, *, asked: bool = False) -> Player:
    script = ASKED if asked else ALLOWED
    return Player(pair.servers[0], home, script, History(), chance=random.Random("two"), kill=None)


def end_well(player: Player, *ended: Finished) -> None:
    """Whatever the two did: all that was taken is said once, and the conversation goes on to its end."""
    for finished in ended:
        player.history.add(finished)
    for text in (ALLOWED.asks, SECOND_QUESTION, THIRD_QUESTION):
        player.notice(text)
    player.go_on("chat only, now")


@pytest.mark.parametrize(
    "where",
    [
        "claim.before_commit",
        "claim.after_commit",
        "writes.after_put:2",
        "journal.after_started",
        "outcome.before_commit",
    ],
)
def test_torture_of_two_that_send_at_once_one_is_killed(
    pair: Pair, engine: str, tmp_path: Path, where: str
) -> None:
    with new_home(tmp_path / "home", engine) as home:
        player = a_player(pair, home)
        player.remember(SECOND_QUESTION)
        (conversation,) = player.look()["conversations"]
        ask = ["ask", "--json", "-c", conversation["id"]]
        first, second = pair.both(home, [*ask, ALLOWED.asks], [*ask, THIRD_QUESTION], {0: where})
        assert first.killed or "SESSION_IN_PROGRESS" in first.stderr, first.stderr
        if second.code != 0:
            assert (second.code, "SESSION_IN_PROGRESS" in second.stderr) == (5, True), second.stderr
        end_well(player, first, second)


@pytest.mark.parametrize("where", ["journal.before_finished", "journal.after_started", "writes.before_put:3"])
def test_torture_who_follows_a_run_sees_it_end_when_its_process_is_killed(
    pair: Pair, engine: str, tmp_path: Path, where: str
) -> None:
    with new_home(tmp_path / "home", engine) as home:
        player = a_player(pair, home)
        player.remember(SECOND_QUESTION)
        (conversation,) = player.look()["conversations"]
        ask = ["ask", "--json", "-c", conversation["id"], ALLOWED.asks]
        first, second = pair.both(home, ask, ["follow", conversation["id"], "--json"], {0: where})
        assert first.killed
        # It came before the run, or it saw the death: interrupted, or waiting where a call is uncertain.
        assert second.code in (0, 4, 5, 143), second.stderr
        end_well(player, first)


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize(
    "where", ["decision.before_commit", "decision.after_commit", "journal.after_started"]
)
def test_torture_of_two_that_decide_at_once_one_is_killed(
    pair: Pair, engine: str, tmp_path: Path, where: str, victim: int
) -> None:
    with new_home(tmp_path / "home", engine, approval=None) as home:
        player = a_player(pair, home, asked=True)
        player.expect(player.say(None, ASKED.asks), 4)
        (conversation,) = player.look()["conversations"]
        one, other = (asked["call"] for asked in conversation["asked"])
        player.history.decided.update({(one, "allow"), (other, "deny"), (other, "allow")})
        decide = ["decide", conversation["id"]]
        ended = pair.both(
            home, [*decide, one, "allow", "--json"], [*decide, other, "deny", "--json"], {victim: where}
        )
        for finished in ended:
            assert finished.killed or finished.code in (0, 4, 5), finished.stderr
        end_well(player, *ended)
