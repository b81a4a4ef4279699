"""A disk that fills up: the run stops at its last stored step with a plain sentence, and resumes later."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.durability.engine_process import engine_process
from tests.durability.player import Player
from tests.durability.program import Finished, ForkServer, fork_server
from tests.durability.rules import History
from tests.durability.scenario import SECOND_QUESTION, Home, new_home
from tests.durability.scripts import SCRIPTS

pytestmark = pytest.mark.long

SCRIPT = SCRIPTS["write-4"]
TMPFS_BYTES = 3 << 20


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    """One fork server for all of them."""
    with fork_server() as made:
        yield made


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[str]:
    """The scripted engine."""
    with engine_process(tmp_path) as made:
        yield made


def player_in(server: ForkServer, home: Home) -> Player:
    """Somebody who has said something here already."""
    player = Player(server, home, SCRIPT, History(), chance=random.Random("full"), kill=None)
    player.remember(SECOND_QUESTION)
    return player


def judge_refusal(player: Player, ended: Finished) -> bool:
    """What a full disk looks like; True if it came in the middle of the run."""
    assert ended.code == 7, f"{ended.code}: {ended.stderr}"
    assert "STORE_FULL: There is no space left for" in ended.stderr
    assert "Free some space on the disk, then " in ended.stderr
    player.judge(finished=False)
    ends = [event for event in ended.events() if event.get("type") == "end"]
    assert all((end["status"], end["error_code"]) == ("failed", "STORE_FULL") for end in ends)
    return bool(ends)


def test_torture_where_files_may_not_grow_the_run_stops_at_its_last_stored_step_and_resumes(
    server: ForkServer, engine: str, tmp_path: Path
) -> None:
    in_the_middle = 0
    for number, kilobytes in enumerate(range(96, 480, 96)):
        with new_home(tmp_path / f"home-{number}", engine) as home:
            player = player_in(server, home)
            (conversation,) = player.look()["conversations"]
            ended = player.say(conversation["id"], SCRIPT.asks, limit_file_bytes=kilobytes << 10)
            if ended.code != 0:
                in_the_middle += judge_refusal(player, ended)
            if SCRIPT.asks not in player.history.asked:
                player.expect(player.say(conversation["id"], SCRIPT.asks), 0)
            player.go_on()
    assert in_the_middle >= 2


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of its own, of three megabytes."""
    folder.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES},mode=0700", "tmpfs", str(folder)]
    if subprocess.run(options, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="only root may mount a small disk"
)
@pytest.mark.parametrize("free_kilobytes", [16, 180, 360])
def test_torture_a_disk_that_is_really_full_stops_the_run_and_it_resumes_after_space_is_freed(
    server: ForkServer, engine: str, tmp_path: Path, free_kilobytes: int
) -> None:
    root = tmp_path / "home"
    root.mkdir()
    with small_disk(tmp_path / "disk") as disk:
        (root / "data").symlink_to(disk)
        with new_home(root, engine) as home:
            player = player_in(server, home)
            (conversation,) = player.look()["conversations"]
            ballast = disk / "ballast"
            fill(ballast, disk, free_kilobytes << 10)
            ended = player.start(["ask", "--json", "-c", conversation["id"], SCRIPT.asks])
            ballast.unlink()
            if not player.notice(SCRIPT.asks):
                judge_refusal(player, ended)
                player.expect(player.say(conversation["id"], SCRIPT.asks), 0)
            else:
                assert judge_refusal(player, ended)
            player.go_on()


def fill(ballast: Path, disk: Path, left_bytes: int) -> None:
    """Let only so much be free."""
    state = os.statvfs(disk)
    with ballast.open("wb") as file:
        file.write(b"\0" * (state.f_bavail * state.f_frsize - left_bytes))
