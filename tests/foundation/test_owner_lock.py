"""An owner is alive exactly as long as its process."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sophos_desktop.foundation.ids import new_id
from sophos_desktop.foundation.owner_lock import OwnerLock, is_alive, sweep

OWNER = """
import sys
from pathlib import Path
from sophos_desktop.foundation.owner_lock import OwnerLock
owner = OwnerLock.acquire(Path(sys.argv[1]))
print(owner.id, flush=True)
sys.stdin.readline()
owner.release()
"""

# Says, over and over, whether it ever saw a lock file that is not locked.
OBSERVER = """
import sys
from pathlib import Path
from sophos_desktop.foundation.owner_lock import is_alive
folder = Path(sys.argv[1])
alive = [path.stem for path in folder.glob("*.lock")]
print("ready", flush=True)
seen = set()
while not (folder / "stop").exists():
    for path in folder.glob("*.lock"):
        if path.stem not in seen and not is_alive(folder, path.stem) and path.exists():
            print("found dead:", path.stem, flush=True)
        seen.add(path.stem)
print("seen", len(seen), flush=True)
"""


@contextmanager
def other_process(code: str, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_an_owner_is_alive_until_it_releases(tmp_path: Path) -> None:
    owner = OwnerLock.acquire(tmp_path)
    assert is_alive(tmp_path, owner.id)
    assert is_alive(tmp_path, owner.id), "asking must not take the lock away, also within one process"
    owner.release()
    owner.release()
    assert not is_alive(tmp_path, owner.id)
    assert list(tmp_path.iterdir()) == []


def test_an_owner_in_another_process_is_alive_until_that_is_killed(tmp_path: Path) -> None:
    with other_process(OWNER, tmp_path) as process:
        owner_id = said(process)
        for _ in range(100):
            assert is_alive(tmp_path, owner_id)
        sweep(tmp_path)
        assert is_alive(tmp_path, owner_id)
        process.kill()
        process.wait(10)
        assert not is_alive(tmp_path, owner_id)
        assert (tmp_path / f"{owner_id}.lock").exists()
        sweep(tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert not is_alive(tmp_path, owner_id)


@pytest.mark.skipif(sys.platform == "win32", reason="no stopping of processes there")
def test_an_owner_that_is_stopped_is_alive(tmp_path: Path) -> None:
    with other_process(OWNER, tmp_path) as process:
        owner_id = said(process)
        process.send_signal(signal.SIGSTOP)
        assert is_alive(tmp_path, owner_id)


def test_an_unknown_owner_is_dead_and_leaves_no_file(tmp_path: Path) -> None:
    assert not is_alive(tmp_path, new_id())
    assert not is_alive(tmp_path / "missing", new_id())
    assert list(tmp_path.iterdir()) == []


def test_a_child_process_does_not_inherit_the_life_of_its_parent(tmp_path: Path) -> None:
    owner = OwnerLock.acquire(tmp_path)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner._lock.release()  # as the end of the process does, which leaves the file
    assert not is_alive(tmp_path, owner.id)
    child.communicate(b"\n")


def test_those_who_ask_at_the_same_moment_all_find_a_dead_owner_dead(tmp_path: Path) -> None:
    owner = OwnerLock.acquire(tmp_path)
    owner._lock.release()
    answers: list[bool] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait(10)
        answers.extend(is_alive(tmp_path, owner.id) for _ in range(200))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [False] * 1600


def test_nobody_ever_finds_the_file_of_a_new_owner_unlocked(tmp_path: Path) -> None:
    with other_process(OBSERVER, tmp_path) as observer:
        assert said(observer) == "ready"
        owners = []
        for _ in range(300):
            owners.append(OwnerLock.acquire(tmp_path))
            sweep(tmp_path)
        (tmp_path / "stop").touch()
        assert said(observer).startswith("seen ")
        assert all(is_alive(tmp_path, owner.id) for owner in owners)
        for owner in owners:
            owner.release()


def test_what_a_process_killed_while_it_became_an_owner_left_is_swept_when_it_is_old(tmp_path: Path) -> None:
    young, old = tmp_path / f"{new_id()}.unborn", tmp_path / f"{new_id()}.unborn"
    young.touch()
    old.touch()
    os.utime(old, (1, 1))
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [young]


def test_no_owner_can_be_made_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        OwnerLock.acquire(tmp_path / "file")
