"""After a SIGKILL of the program, exactly its own tool servers and what they started are ended, by the next
start or by a living process's next claim; looked at process by process."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.domain.specs import ServerState
from sophos_desktop.foundation.child_processes import identify
from tests.durability.engine_process import engine_process
from tests.durability.program import ROOT, Finished, ForkServer, fork_server
from tests.durability.scenario import SECOND_QUESTION, Home, new_home
from tests.support.core_fixture import ended, open_test_core
from tests.support.processes import PATIENCE_SECONDS, is_alive, living

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="looks at /proc")]

# The two first leave a grandchild that ignores SIGTERM, in their session or in one of its own; they end with
# their stdin. The third ends neither with its stdin nor by SIGTERM.
SERVERS = {
    "attached": ("grandchild", ""),
    "detached": ("grandchild", "detached"),
    "stubborn": ("ignores-terminate", ""),
}
READY = "outcome.before_commit:1"
SETTINGS = '[engine]\nkind = "ollama"\nmodel = "scripted:latest"\n[tools]\nstart_wait_seconds = 60\n'


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    """One fork server for all of them."""
    with fork_server() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A user's folder with the three servers, and the scripted engine."""
    with engine_process(tmp_path) as engine, new_home(tmp_path / "home", engine) as made:
        configure(made)
        yield made
        # Whatever became of the test, it leaves nothing behind.
        for token in tokens_of(made):
            for pid in living(token):
                subprocess.run(["kill", "-9", str(pid)], check=False)


def entry(mode: str, argument: str) -> Mapping[str, Any]:
    return {
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_servers.hostile", mode, argument],
        "env": {"PYTHONPATH": str(ROOT)},
    }


def configure(home: Home) -> None:
    servers: dict[str, Any] = {"fetch": {"disabled": True}, "memory": {"disabled": True}}
    servers |= {name: entry(*parts) for name, parts in SERVERS.items()}
    (home.data / "config" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (home.data / "config" / "settings.toml").write_text(SETTINGS)


def start(server: ForkServer, home: Home, *argv: str, failpoint: str = "") -> Finished:
    env = home.env(SOPHOS_FAILPOINT=failpoint) if failpoint else home.env()
    return server.run(argv, env=env, cwd=home.root)


def query(home: Home, statement: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home.data / "sophos.db")) as connection, connection:
        return connection.execute(statement, values).fetchall()


def tokens_of(home: Home, owner: str | None = None) -> list[str]:
    """The tokens on record, of all owners but this one."""
    if not (home.data / "sophos.db").exists():
        return []
    rows = query(home, "SELECT token, owner FROM children ORDER BY rowid")
    return [token for token, by in rows if by != owner]


def processes(tokens: Sequence[str]) -> dict[int, str]:
    """All that is alive of them."""
    return {pid: command for token in tokens for pid, command in living(token).items()}


def killed_when_ready(server: ForkServer, home: Home, owner: str | None = None) -> list[str]:
    """The program is killed after an answer, while its three servers and two grandchildren live."""
    assert start(server, home, "ask", SECOND_QUESTION, failpoint=READY).killed
    tokens = tokens_of(home, owner)
    assert len(tokens) == 3
    deadline = time.monotonic() + PATIENCE_SECONDS
    # On a slow machine a server that was not waited for any longer may only now start its grandchild.
    while kinds_of(tokens) != {"grandchild": 2, "stubborn": 1}:
        assert time.monotonic() < deadline, processes(tokens)
        time.sleep(0.02)
    return tokens


def kinds_of(tokens: Sequence[str]) -> Counter[str]:
    """How many of each kind live, but for those that end with their stdin."""
    kinds: Counter[str] = Counter()
    for command in processes(tokens).values():
        if "grandchild ready" in command:
            kinds["grandchild"] += 1
        elif "ignores-terminate" in command:
            kinds["stubborn"] += 1
    return kinds


@contextmanager
def stranger() -> Iterator["subprocess.Popen[bytes]"]:
    """A process of this user that has nothing to do with the program, in a session of its own."""
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def test_servers_that_were_ready_are_ended_by_the_next_start(server: ForkServer, home: Home) -> None:
    with stranger() as bystander:
        tokens = killed_when_ready(server, home)
        before = processes(tokens)
        listed = start(server, home, "list", "--json").json()
        assert [pid for pid in before if is_alive(pid)] == []
        assert processes(tokens) == {}
        assert query(home, "SELECT * FROM children") == []
        assert len(listed) == 1
        assert is_alive(bystander.pid)


@pytest.mark.parametrize(
    "failpoint", [f"child.{word}:{count}" for word in ("announced", "spawned") for count in (1, 2, 3)]
)
def test_servers_that_were_just_being_spawned_are_ended_by_the_next_start(
    server: ForkServer, home: Home, failpoint: str
) -> None:
    assert start(server, home, "ask", SECOND_QUESTION, failpoint=failpoint).killed
    rows = query(home, "SELECT token, pid FROM children")
    assert any(pid is None for _, pid in rows)
    tokens = [token for token, _ in rows]
    if failpoint == "child.spawned:3":
        assert processes(tokens)  # the third at least: it ends with nothing
    assert start(server, home, "list").code == 0
    assert processes(tokens) == {}
    assert query(home, "SELECT * FROM children") == []


def test_orphans_are_gone_before_the_first_run_is_recovered(server: ForkServer, home: Home) -> None:
    tokens = killed_when_ready(server, home)
    assert start(server, home, "list", failpoint="outcome.before_commit").killed
    assert query(home, "SELECT status FROM runs") == [("running",)]
    assert processes(tokens) == {}
    assert start(server, home, "list").code == 0
    assert query(home, "SELECT status FROM runs") == [("completed",)]


def test_a_process_that_got_an_orphans_number_is_left_alone(server: ForkServer, home: Home) -> None:
    tokens = killed_when_ready(server, home)
    with stranger() as reused:
        started = identify(reused.pid)
        assert started is not None
        query(home, "UPDATE children SET pid = ?, start_time = ?", reused.pid, started - 60)
        assert start(server, home, "list").code == 0
        assert is_alive(reused.pid)
        assert processes(tokens) == {}  # these are known by their token


async def test_a_living_process_ends_the_orphans_of_another_at_its_claim_and_none_of_its_own(
    server: ForkServer, home: Home
) -> None:
    mcp = {name: entry(*parts) for name, parts in SERVERS.items()}
    async with open_test_core(home.data, home.engine, mcp=mcp, settings=SETTINGS) as core:
        await core.tool_host.settle(60)
        assert {status.state for status in core.servers.statuses() if status.pid} == {ServerState.READY}
        owner = core.runs._owner_id
        own = processes(tokens_of(home))
        assert len(own) == 5
        tokens = await asyncio.to_thread(killed_when_ready, server, home, owner)
        assert processes(tokens)
        assert own.keys() == processes([t for t in tokens_of(home) if t not in tokens]).keys()
        ((conversation_id,),) = query(home, "SELECT conversation_id FROM runs")
        handle = await core.runs.start(conversation_id, SECOND_QUESTION)
        assert processes(tokens) == {}
        assert (await ended(handle)).status == "completed"
        assert [pid for pid in own if not is_alive(pid)] == []
        assert [status.state for status in core.servers.statuses() if status.pid] == [ServerState.READY] * 3
        assert len(query(home, "SELECT * FROM children")) == 3
    assert [pid for pid in own if is_alive(pid)] == []
    assert query(home, "SELECT * FROM children") == []


async def test_a_start_and_an_end_of_another_process_leave_a_living_ones_servers_alone(
    server: ForkServer, home: Home
) -> None:
    mcp = {name: entry(*parts) for name, parts in SERVERS.items()}
    async with open_test_core(home.data, home.engine, mcp=mcp, settings=SETTINGS) as core:
        await core.tool_host.settle(60)
        own = processes(tokens_of(home))
        assert len(own) == 5
        asked = await asyncio.to_thread(start, server, home, "ask", SECOND_QUESTION)
        assert asked.code == 0
        assert [pid for pid in own if not is_alive(pid)] == []
        assert len(query(home, "SELECT * FROM children")) == 3
