"""Servers that others wrote, over streamable HTTP: the `mcp` library's and the reference server from npm."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from sophos_desktop.core.domain.ports import ToolCallLost, ToolServerDown
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.host import ToolHost
from sophos_desktop.core.mcp_host.http_errors import SESSION_LOST
from sophos_desktop.core.mcp_host.http_exchange import HttpLimits
from tests.core.mcp_host.harness import ready, running_host, status_of, tool
from tests.core.mcp_host.http_sessions import PATIENCE_SECONDS, initialized
from tests.support.node_packages import server_command

PROJECT = Path(__file__).parents[3]
FASTMCP = (sys.executable, "-m", "tests.support.mcp_servers.http_fastmcp")
# Goes on asking until the server is there again.
PERSISTENT = HttpLimits(least_pause_seconds=0.05, longest_pause_seconds=0.1, attempts=10_000)


@contextmanager
def serving(command: Sequence[str], **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A server in a process of its own, killed with the block."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **variables},
        cwd=PROJECT,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def fastmcp_port(process: "subprocess.Popen[bytes]") -> int:
    """Where it can be asked; it says so itself."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr.read().decode() if process.stderr else ""
    return int(line)


@contextmanager
def fastmcp(port: int = 0, *arguments: str) -> Iterator[str]:
    """The URL of a running server of the library's."""
    with serving((*FASTMCP, str(port), *arguments)) as process:
        yield f"http://127.0.0.1:{fastmcp_port(process)}/mcp"


@contextmanager
def everything(port: int = 0) -> Iterator[int]:
    """The port of the running reference server."""
    with serving(server_command("server-everything", "streamableHttp"), PORT=str(port)) as process:
        assert process.stderr is not None
        while b"listening" not in (line := process.stderr.readline()):
            assert line, "it ended"
        listening = [
            connection.laddr.port
            for connection in psutil.Process(process.pid).net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN
        ]
        yield listening[0]


async def test_the_librarys_server_answers_in_events_and_is_left_cleanly() -> None:
    with fastmcp() as url:
        async with initialized(url) as session:
            texts = await asyncio.gather(
                *(session.call("echo", text=f"hé 🦉 {number}") for number in range(20))
            )
            assert texts == [f"hé 🦉 {number}" for number in range(20)]
            assert session.notes == []
        assert session.notes == []


async def test_the_librarys_server_answers_in_json_without_a_session() -> None:
    with fastmcp(0, "stateless") as url:
        async with initialized(url) as session:
            assert await session.call("echo", text="stateless") == "stateless"
        assert session.notes == []


async def test_the_librarys_address_with_a_slash_too_many_is_redirected_and_works() -> None:
    with fastmcp() as url:
        async with initialized(f"{url}/") as session:
            assert await session.call("echo", text="moved") == "moved"


async def test_a_stream_that_the_librarys_server_closes_on_purpose_is_taken_up() -> None:
    with fastmcp() as url:
        async with initialized(url) as session:
            assert await session.call("interrupted") == "after the interruption"


async def test_the_librarys_server_is_heard_on_its_own_stream() -> None:
    with fastmcp() as url:
        async with initialized(url) as session:
            # It forgets what it says while nobody listens yet.
            async with asyncio.timeout(PATIENCE_SECONDS):
                while session.told.empty():
                    assert await session.call("announce") == "announced"
            assert session.told.get_nowait() == "notifications/tools/list_changed"


async def test_a_librarys_server_that_was_started_again_has_lost_the_session_and_takes_a_new_one() -> None:
    with serving((*FASTMCP, "0")) as process:
        port = fastmcp_port(process)
        async with initialized(f"http://127.0.0.1:{port}/mcp", limits=PERSISTENT) as session:
            assert await session.call("echo", text="old") == "old"
            process.kill()
            process.wait()
            with fastmcp(port) as url:
                assert await session.end() == SESSION_LOST
                async with initialized(url) as again:
                    assert await again.call("echo", text="new") == "new"


async def test_the_host_loses_the_call_under_way_and_makes_a_new_session_for_the_next_one() -> None:
    with serving((*FASTMCP, "0", "stateless")) as process:
        port = fastmcp_port(process)
        async with running_host(ServerConfig("web", url=f"http://127.0.0.1:{port}/mcp")) as host:
            await ready(host, "web")
            assert status_of(host, "web").transport == "http"
            hanging = asyncio.ensure_future(host.call(tool(host, "web", "hang"), {}))
            assert await _echoed(host, "one") == "one"
            process.kill()
            process.wait()
            with pytest.raises(ToolCallLost):
                await hanging
            assert await _echoed_or_nothing(host, "nobody is there") is None
            with fastmcp(port, "stateless"):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while (answer := await _echoed_or_nothing(host, "two")) is None:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                assert answer == "two"


async def _echoed(host: ToolHost, text: str) -> str:
    return (await host.call(tool(host, "web", "echo"), {"text": text})).text


async def _echoed_or_nothing(host: ToolHost, text: str) -> str | None:
    try:
        return await _echoed(host, text)
    except (ToolServerDown, ToolCallLost):
        return None


@pytest.mark.needs_node
async def test_the_reference_server_from_npm_works() -> None:
    with everything() as port:
        async with initialized(f"http://localhost:{port}/mcp") as session:
            assert await session.call("echo", message="hello") == "Echo: hello"
            text = await session.call("trigger-long-running-operation", duration=0.2, steps=2)
            assert "completed" in text
        assert session.notes == []


@pytest.mark.needs_node
async def test_the_reference_server_says_400_for_a_session_that_it_lost() -> None:
    with everything() as port:
        opened = initialized(f"http://localhost:{port}/mcp", limits=PERSISTENT)
        session = await opened.__aenter__()
    try:
        with everything(port):
            assert await session.end() == SESSION_LOST
    finally:
        await opened.__aexit__(None, None, None)
