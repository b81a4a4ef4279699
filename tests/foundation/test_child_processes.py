"""Children are known again, and ended with all that is theirs."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sophos_desktop.foundation.child_processes import (
    end_carriers,
    end_recorded,
    end_tree,
    find_by_token,
    identify,
)
from tests.support.processes import is_alive, living

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX'")

WAIT = "import sys; print('ready', flush=True); sys.stdin.read()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WAIT
# A child and a grandchild; the grandchild prints its pid.
FAMILY = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal, sys; signal.signal(signal.SIGTERM, "
                          "signal.SIG_IGN); print('up', flush=True); signal.pause()"], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
if sys.argv[1:] == ["leave"]:
    import os
    os._exit(0)
child.wait()
"""

# A child whose own child tries to end itself and its parent.
SELFISH = """
import subprocess, sys
code = "import os; from sophos_desktop.foundation.child_processes import end_tree, identify; "
code += "print(*(end_tree(pid, identify(pid), grace_seconds=0.1) for pid in (os.getpid(), os.getppid())))"
subprocess.run([sys.executable, "-c", code], check=True)
"""


# Hands over to a child fifty times a second, for a while; each ignores SIGTERM.
RELAY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
for _ in range(60):
    if os.fork():
        os._exit(0)
    {leave}
    time.sleep(0.02)
time.sleep(600)
"""

# A child that is no descendant, has no environment and is in the session of one that has.
STRIPPED = """
import os, subprocess, sys, time
code = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
code += "print(os.getpid(), flush=True)"
if os.fork() == 0:
    subprocess.Popen([sys.executable, "-c", code + "; time.sleep(600)"], env={})
    os._exit(0)
os.wait()
time.sleep(600)
"""


class Spawner:
    """Starts children for one test and ends what the test left."""

    def __init__(self) -> None:
        self.pids: list[int] = []
        self.tokens: list[str] = []
        self._children: list[subprocess.Popen[str]] = []

    def __call__(self, code: str, *arguments: str, **environment: str) -> "tuple[subprocess.Popen[str], str]":
        child = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        self._children.append(child)
        assert child.stdout is not None
        return child, child.stdout.readline().strip()

    def close(self) -> None:
        self.pids += [pid for token in self.tokens for pid in living(token)]
        for pid in self.pids:
            if psutil.pid_exists(pid):
                psutil.Process(pid).kill()
        for child in self._children:
            child.kill()
            child.communicate(timeout=10)


@pytest.fixture
def spawn() -> Iterator[Spawner]:
    spawner = Spawner()
    yield spawner
    spawner.close()


def start_time_of(pid: int) -> float:
    started = identify(pid)
    assert started is not None
    return started


def is_gone(pid: int) -> bool:
    return identify(pid) is None


def test_a_process_is_identified_by_its_start_time_while_it_runs(spawn: Spawner) -> None:
    child, _ = spawn(WAIT)
    assert identify(child.pid) == identify(child.pid) == psutil.Process(child.pid).create_time()
    child.kill()
    child.wait(10)
    assert identify(child.pid) is None


def test_a_process_is_ended_politely(spawn: Spawner) -> None:
    child, _ = spawn(WAIT)
    assert end_tree(child.pid, start_time_of(child.pid), grace_seconds=10)
    assert child.wait(10) == -15


def test_a_process_that_does_not_listen_is_killed_after_the_grace(spawn: Spawner) -> None:
    child, _ = spawn(STUBBORN)
    assert end_tree(child.pid, start_time_of(child.pid), grace_seconds=0.1)
    assert child.wait(10) == -9


def test_a_process_with_another_start_time_is_left_alone(spawn: Spawner) -> None:
    child, _ = spawn(WAIT)
    assert end_tree(child.pid, start_time_of(child.pid) - 60, grace_seconds=0.1)
    assert end_tree(child.pid, start_time_of(child.pid) - 60, grace_seconds=0.1, leaderless=True)
    assert child.poll() is None


def test_descendants_are_ended_too(spawn: Spawner) -> None:
    child, line = spawn(FAMILY)
    grandchild = int(line)
    spawn.pids.append(grandchild)
    assert end_tree(child.pid, start_time_of(child.pid), grace_seconds=0.1)
    assert is_gone(grandchild)


def test_the_group_of_a_leader_that_is_gone_is_ended_only_when_asked(spawn: Spawner) -> None:
    child, line = spawn(FAMILY, "leave")
    grandchild = int(line)
    spawn.pids.append(grandchild)
    started = start_time_of(grandchild)
    child.wait(10)
    assert end_tree(child.pid, started, grace_seconds=0.1)
    assert not is_gone(grandchild)
    assert end_tree(child.pid, started, grace_seconds=0.1, leaderless=True)
    assert is_gone(grandchild)


def test_a_process_that_does_not_exist_needs_no_end() -> None:
    assert identify(2**22 + 1) is None
    assert end_tree(2**22 + 1, 1.0, grace_seconds=1)
    assert end_tree(2**22 + 1, 1.0, grace_seconds=1, leaderless=True)


def test_a_process_never_ends_itself_or_its_parents(spawn: Spawner) -> None:
    child, line = spawn(SELFISH, PYTHONPATH=str(Path(__file__).parents[2]))
    assert line == "False False"
    assert child.wait(10) == 0


async def test_the_exit_status_stays_with_asyncio(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WAIT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    started = start_time_of(process.pid)
    assert await asyncio.to_thread(end_tree, process.pid, started, grace_seconds=10)
    assert await asyncio.wait_for(process.wait(), 10) == -15


def test_a_process_is_found_by_the_token_in_its_environment(spawn: Spawner) -> None:
    child, _ = spawn(WAIT, SOPHOS_CHILD="token-1")
    other, _ = spawn(WAIT, SOPHOS_CHILD="token-2")
    assert find_by_token("token-1", "SOPHOS_CHILD") == [child.pid]
    assert find_by_token("token-2", "SOPHOS_CHILD") == [other.pid]
    assert find_by_token("token", "SOPHOS_CHILD") == []
    assert find_by_token("token-1", "SOPHOS_OTHER") == []


@pytest.mark.parametrize("leave", ["pass", "os.setsid()"])
def test_a_process_that_hands_over_to_a_child_all_the_time_is_ended(spawn: Spawner, leave: str) -> None:
    token = f"relay-{leave}-{os.getpid()}"
    spawn.tokens.append(token)
    child, _ = spawn(RELAY.replace("{leave}", leave), SOPHOS_CHILD_TOKEN=token)
    child.wait(10)
    assert end_carriers(token, "SOPHOS_CHILD_TOKEN", grace_seconds=0)
    assert living(token) == {}


def test_whoever_shares_a_session_with_a_carrier_is_ended_with_it(spawn: Spawner) -> None:
    child, line = spawn(STRIPPED, SOPHOS_CHILD="stripped")
    spawn.pids.append(int(line))
    assert find_by_token("stripped", "SOPHOS_CHILD") == [child.pid]
    assert end_carriers("stripped", "SOPHOS_CHILD", grace_seconds=0.1)
    assert not is_alive(int(line))
    assert child.wait(10) == -15


def test_a_carrier_in_the_session_of_this_process_is_ended_alone() -> None:
    for token in ("carrier", "other"):
        assert find_by_token(token, "SOPHOS_CHILD") == []
    environment = {**os.environ, "SOPHOS_CHILD": "carrier"}
    with (
        subprocess.Popen(["sleep", "600"], env=environment) as carrier,
        subprocess.Popen(["sleep", "600"]) as other,
    ):
        assert end_carriers("carrier", "SOPHOS_CHILD", grace_seconds=10)
        assert carrier.wait(10) == -15
        assert other.poll() is None
        other.kill()


def test_what_is_on_record_is_ended_by_number_and_by_token(spawn: Spawner) -> None:
    by_number, _ = spawn(STUBBORN)
    by_token, _ = spawn(WAIT, SOPHOS_CHILD="recorded")
    stays, _ = spawn(WAIT, SOPHOS_CHILD="another")
    started = start_time_of(by_number.pid)
    assert end_recorded(by_number.pid, started, "recorded", "SOPHOS_CHILD", grace_seconds=0.1)
    assert (by_number.wait(10), by_token.wait(10)) == (-9, -15)
    assert stays.poll() is None
    assert end_recorded(None, None, "another", "SOPHOS_CHILD", grace_seconds=10)
    assert stays.wait(10) == -15
    assert end_recorded(None, None, "another", "SOPHOS_CHILD", grace_seconds=10)
