"""Starting, failing, coming back and closing of servers: real child processes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import ToolCallLost, ToolServerDown
from sophos_desktop.core.domain.specs import ServerState, ToolSpec
from sophos_desktop.core.mcp_host.backoff import Backoff, RestartPolicy
from sophos_desktop.core.mcp_host.config import McpConfigSource, ServerConfig
from sophos_desktop.foundation import failpoints
from tests.core.mcp_host.harness import (
    LIMITS,
    PATIENCE_SECONDS,
    PROJECT,
    MemoryRecords,
    hostile,
    ready,
    running_host,
    scripted,
    status_of,
    tool,
    until,
    until_state,
)


def _spec(server: str) -> ToolSpec:
    return ToolSpec(f"{server}__hello", server, "hello", "", {})


async def test_starting_returns_at_once_and_one_bad_server_spoils_no_other() -> None:
    began = time.monotonic()
    configs = [hostile("never-initialize"), ServerConfig("missing", command="no-such-program")]
    async with running_host(scripted("good", "append_line"), *configs) as host:
        assert time.monotonic() - began < 0.5
        await ready(host, "good")
        assert status_of(host, "never-initialize").state is ServerState.STARTING
        assert [spec.server for spec in host.tools()] == ["good"] * 3
        assert status_of(host, "missing").state is ServerState.FAILED


async def test_a_command_that_is_not_there_says_where_it_was_looked_for() -> None:
    environ = {"PATH": os.pathsep.join(["/usr/bin", "/bin"])}
    async with running_host(ServerConfig("x", command="no-such-program"), environ=environ) as host:
        status = await until_state(host, "x", ServerState.FAILED)
        assert "no-such-program was not found in the 2 folders of PATH" in status.reason
        with pytest.raises(ToolServerDown, match="not found in the 2 folders"):
            await host.call(_spec("x"), {})


async def test_a_command_that_is_there_but_no_program_is_another_sentence(tmp_path: Path) -> None:
    plain, broken = tmp_path / "plain", tmp_path / "broken"
    plain.write_text("text")
    broken.write_bytes(b"\x7fELF no")
    broken.chmod(0o700)
    configs = [ServerConfig(path.name, command=str(path)) for path in (plain, broken)]
    configs.append(ServerConfig("nowhere", command=str(tmp_path / "nowhere")))
    configs.append(ServerConfig("folder", command=sys.executable, cwd=str(tmp_path / "no folder")))
    records = MemoryRecords()
    async with running_host(*configs, records=records) as host:
        await host.settle(20)
        assert "was found but cannot be started: it is not a program" in status_of(host, "plain").reason
        assert "was found but cannot be started: Exec format error" in status_of(host, "broken").reason
        assert "nowhere does not exist" in status_of(host, "nowhere").reason
        assert "no folder does not exist" in status_of(host, "folder").reason
        assert records.alive == {}


async def test_a_server_that_never_answers_fails_after_its_deadline_and_is_left_alone() -> None:
    async with running_host(hostile("never-initialize", initialize_timeout_seconds=0.3)) as host:
        status = await until_state(host, "never-initialize", ServerState.FAILED)
        assert "did not answer initialize within 0.3 seconds" in status.reason
        assert status.pid is None


async def test_a_slow_start_is_shown_and_calls_wait_for_it() -> None:
    limits = replace(LIMITS, still_starting_seconds=0.1)
    async with running_host(hostile("slow-start", "0.6"), limits=limits) as host:
        assert await host.settle(0.05) == ["slow-start"]
        await until(host, lambda: "Still starting" in status_of(host, "slow-start").reason)
        result = await host.call(_spec("slow-start"), {})
        assert result.text == "hello"
        assert status_of(host, "slow-start").reason == "Ready."
        assert await host.settle(0.05) == []


async def test_a_call_gives_up_on_a_server_that_is_still_starting() -> None:
    async with running_host(hostile("never-initialize", timeout_seconds=0.2)) as host:
        with pytest.raises(ToolServerDown, match="Starting"):
            await host.call(_spec("never-initialize"), {})


async def test_a_server_that_dies_at_every_start_is_given_up_with_its_last_words() -> None:
    records = MemoryRecords()
    async with running_host(hostile("dies-at-start"), records=records) as host:
        status = await until_state(host, "dies-at-start", ServerState.FAILED)
        assert "ended with exit status 3 before it was ready (no key was given)" in status.reason
        assert status.stderr_tail[-1] == "no key was given"
        assert len(records.tokens()) == 5
        with pytest.raises(ToolServerDown, match="no key was given"):
            await host.call(_spec("dies-at-start"), {})
        assert len(records.tokens()) == 6


async def test_a_server_that_dies_once_comes_back_by_itself(tmp_path: Path) -> None:
    async with running_host(hostile("dies-once", str(tmp_path / "flag"))) as host:
        await ready(host, "dies-once")
        assert [spec.tool for spec in host.tools()] == ["hello"]


async def test_a_server_killed_while_idle_is_seen_and_started_again() -> None:
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        pid = status_of(host, "lines").pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        status = await until_state(host, "lines", ServerState.RESTARTING)
        assert "signal 9" in status.reason or status.reason == "It ended."
        assert len(host.tools()) == 3
        await ready(host, "lines")
        assert status_of(host, "lines").pid != pid


async def test_a_call_right_after_a_death_waits_for_the_new_process(tmp_path: Path) -> None:
    limits = replace(LIMITS, restart=RestartPolicy(first_pause_seconds=60))
    async with running_host(scripted("lines", "append_line"), limits=limits) as host:
        await ready(host, "lines")
        spec = tool(host, "lines", "append_line")
        os.kill(status_of(host, "lines").pid or 0, signal.SIGKILL)
        await until_state(host, "lines", ServerState.RESTARTING)
        result = await host.call(spec, {"file": str(tmp_path / "f"), "text": "again"})
        assert result.text == "appended again"


async def test_a_server_that_closes_its_output_is_replaced() -> None:
    async with running_host(hostile("closes-stdout")) as host:
        await ready(host, "closes-stdout")
        with pytest.raises(ToolCallLost):
            await host.call(tool(host, "closes-stdout", "close"), {})
        await ready(host, "closes-stdout")


async def test_restart_on_demand_brings_a_new_process() -> None:
    async with running_host(scripted("lines", "append_line"), hostile("dies-at-start")) as host:
        await ready(host, "lines")
        old = status_of(host, "lines").pid
        status = await host.restart("lines")
        assert status.state is ServerState.READY
        assert status.pid not in (None, old)
        await until_state(host, "dies-at-start", ServerState.FAILED)
        assert "exit status 3" in (await host.restart("dies-at-start")).reason
        with pytest.raises(SophosError) as caught:
            await host.restart("nobody")
        assert caught.value.code is ErrorCode.NOT_FOUND


async def test_garbage_on_stdout_is_reported_by_line_and_survived() -> None:
    async with running_host(hostile("garbage")) as host:
        await ready(host, "garbage")
        result = await host.call(tool(host, "garbage", "chatty"), {})
        assert result.text == "fine"
        tail = status_of(host, "garbage").stderr_tail
        assert "[stdout line 1, no message: Welcome to the scripted server]" in tail
        assert "[stdout line 5, no message: Calling the tool now!]" in tail
        assert '[stdout line 6, no message: {"jsonrpc": "2.0", "id": 5]' in tail
        assert len(tail) == 4


async def test_a_flood_on_stderr_blocks_nothing_and_stays_bounded() -> None:
    async with running_host(hostile("stderr-flood")) as host:
        await ready(host, "stderr-flood")
        tail = status_of(host, "stderr-flood").stderr_tail
        assert len(tail) <= 200
        assert max(map(len, tail)) <= 2_000
        assert tail[-1] == "a line of noise"


@pytest.mark.parametrize(
    ("mode", "argument"),
    [("ignores-terminate", ""), ("deaf", ""), ("grandchild", ""), ("grandchild", "detached")],
)
async def test_closing_is_bounded_whatever_the_server_does(mode: str, argument: str) -> None:
    async with running_host(hostile(mode, argument), scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        if mode != "deaf":
            await ready(host, mode)
        began = time.monotonic()
        await host.close()
        assert time.monotonic() - began < 3.0
        assert all(status.state is ServerState.STOPPED for status in host.statuses())


@pytest.mark.parametrize("argument", ["", "detached"])
async def test_a_grandchild_dies_with_a_server_that_ended_by_itself(argument: str) -> None:
    async with running_host(hostile("grandchild", argument)) as host:
        await ready(host, "grandchild")
        pid = int((await host.call(tool(host, "grandchild", "pid"), {})).text)
        assert psutil.pid_exists(pid)
        with pytest.raises(ToolCallLost):
            await host.call(tool(host, "grandchild", "die"), {})
        await ready(host, "grandchild")
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_closing_goes_on_while_the_caller_is_cancelled() -> None:
    records = MemoryRecords()
    async with running_host(hostile("ignores-terminate"), records=records) as host:
        await ready(host, "ignores-terminate")
        closing = asyncio.ensure_future(host.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert records.alive == {}
        await host.close()


async def test_closing_while_servers_start_leaves_nothing() -> None:
    records = MemoryRecords()
    configs = [hostile("never-initialize"), hostile("slow-start", "5"), scripted("lines", "append_line")]
    async with running_host(*configs, records=records) as host:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(records.said) < 2:  # noqa: ASYNC110 - any moment will do
                await asyncio.sleep(0.001)
        await host.close()
        assert records.alive == {}


async def test_a_child_is_on_record_before_it_exists_and_off_it_after_its_end() -> None:
    records = MemoryRecords()
    async with running_host(scripted("lines", "append_line"), records=records) as host:
        await ready(host, "lines")
        assert list(records.alive.values()) == [status_of(host, "lines").pid]
    assert [word for word, _ in records.said] == ["announce", "spawned", "ended"]
    assert records.said[0] == ("announce", "mcp:lines")


async def test_the_windows_around_the_spawn_can_be_killed_in(tmp_path: Path) -> None:
    log = tmp_path / "failpoints"
    failpoints.arm({"SOPHOS_FAILPOINT_LOG": str(log)})
    try:
        async with running_host(scripted("lines", "append_line")) as host:
            await ready(host, "lines")
    finally:
        failpoints.arm({})
    assert log.read_text().split() == ["child.announced", "child.spawned"]


def test_the_host_itself_loads_no_protocol_library() -> None:
    code = (
        "import sys, sophos_desktop.core.mcp_host.host as h; print({'mcp', 'jsonschema'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


class _RefusingRecords(MemoryRecords):
    async def announce(self, what: str) -> str:
        raise SophosError(ErrorCode.STORE_FULL, "The disk is full")


async def test_a_child_that_cannot_be_put_on_record_is_not_started() -> None:
    async with running_host(scripted("lines", "append_line"), records=_RefusingRecords()) as host:
        status = await until_state(host, "lines", ServerState.FAILED)
        assert "cannot be put on record: The disk is full" in status.reason


async def test_servers_that_cannot_run_say_why() -> None:
    configs = [
        ServerConfig("off", disabled=True),
        ServerConfig("wrong", problem='"args" must be a list of texts'),
    ]
    async with running_host(*configs) as host:
        await host.settle(1)
        states = {status.name: (status.state, status.reason) for status in host.statuses()}
        assert states["off"] == (ServerState.STOPPED, "Switched off in mcp.json.")
        assert states["wrong"][0] is ServerState.FAILED
        assert '"args" must be a list of texts' in states["wrong"][1]
        with pytest.raises(ToolServerDown, match="Switched off"):
            await host.call(_spec("off"), {})
        with pytest.raises(ToolServerDown, match="no tool server"):
            await host.call(_spec("gone"), {})


async def test_the_shipped_fetch_server_starts(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[3] / "config" / "mcp.json"
    source = McpConfigSource(shipped, tmp_path / "mcp.json", os.environ, tmp_path / "memory.jsonl")
    shipped_fetch = [server for server in source.load().servers if server.name == "fetch"]
    async with running_host(*shipped_fetch) as host:
        await ready(host, "fetch")
        (spec,) = host.tools()
        assert (spec.name, spec.trusted) == ("fetch__fetch", True)


async def test_trust_given_and_taken_while_the_server_runs_counts_from_then_on() -> None:
    async with running_host(scripted("lines", "append_line")) as host:
        await ready(host, "lines")
        assert not tool(host, "lines", "read_lines").trusted
        host.trust("lines", trusted=True)
        name = tool(host, "lines", "read_lines").name
        found = host.find(name)
        assert found is not None
        assert (found.trusted, tool(host, "lines", "read_lines").trusted) == (True, True)
        await host.restart("lines")
        assert tool(host, "lines", "read_lines").trusted
        host.trust("lines", trusted=False)
        assert not tool(host, "lines", "read_lines").trusted
        host.trust("nobody", trusted=True)


class _Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> None:  # pragma: no cover - not asked
        raise NotImplementedError

    def monotonic(self) -> float:
        return self.seconds


def test_pauses_grow_and_five_failures_in_two_minutes_are_enough() -> None:
    clock = _Clock()
    backoff = Backoff(RestartPolicy(), clock)  # type: ignore[arg-type]
    assert [backoff.failed() for _ in range(5)] == [1, 2, 4, 8, None]
    clock.seconds = 121
    assert backoff.failed() == 1
    backoff.forget()
    assert backoff.failed() == 1
