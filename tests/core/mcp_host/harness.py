"""Runs a tool host over scripted servers, and proves that it leaves no process behind."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sophos_desktop.core.domain.specs import ServerState, ServerStatus, ToolSpec
from sophos_desktop.core.mcp_host.backoff import RestartPolicy
from sophos_desktop.core.mcp_host.child import CloseLimits
from sophos_desktop.core.mcp_host.command import TOKEN_VARIABLE
from sophos_desktop.core.mcp_host.config import LoadedConfig, ServerConfig
from sophos_desktop.core.mcp_host.host import ToolHost
from sophos_desktop.core.mcp_host.limits import HostLimits
from sophos_desktop.foundation.child_processes import find_by_token

PROJECT = Path(__file__).parents[3]
PATIENCE_SECONDS = 20.0
LIMITS = HostLimits(
    initialize_seconds=10.0,
    call_seconds=10.0,
    restart=RestartPolicy(first_pause_seconds=0.05),
    close=CloseLimits(stdin_seconds=0.5, terminate_seconds=0.3, pipes_seconds=0.3),
)


class MemoryRecords:
    """The port ChildRecords in memory, with everything that was said to it."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []
        self.alive: dict[str, int | None] = {}

    async def announce(self, what: str) -> str:
        token = f"{os.getpid()}-{id(self)}-{len(self.said)}"
        self.said.append(("announce", what))
        self.alive[token] = None
        return token

    async def spawned(self, token: str, pid: int, start_time: float) -> None:
        assert start_time > 0
        self.said.append(("spawned", token))
        self.alive[token] = pid

    async def ended(self, token: str) -> None:
        self.said.append(("ended", token))
        del self.alive[token]

    def tokens(self) -> list[str]:
        """All tokens that were spawned."""
        return [token for word, token in self.said if word == "spawned"]


def scripted(name: str, module: str, *args: str, **fields: Any) -> ServerConfig:
    """The entry of a scripted server."""
    command = ("-m", f"tests.support.mcp_servers.{module}", *args)
    return replace(ServerConfig(name, command=sys.executable, args=command, cwd=str(PROJECT)), **fields)


def hostile(mode: str, *args: str, **fields: Any) -> ServerConfig:
    """The entry of a hostile server, named like its mode."""
    return scripted(mode, "hostile", mode, *args, **fields)


def raise_bug(error: BaseException) -> None:
    """An error route that lets no bug pass: the loop's handler reports it as a log record."""
    raise error


@asynccontextmanager
async def running_host(
    *configs: ServerConfig,
    limits: HostLimits = LIMITS,
    records: MemoryRecords | None = None,
    environ: Mapping[str, str] = os.environ,
) -> AsyncIterator[ToolHost]:
    """A started host; after it, no process of it is left, not even a detached one."""
    records = records or MemoryRecords()
    host = ToolHost(
        LoadedConfig(configs), records=records, environ=environ, on_error=raise_bug, limits=limits
    )
    host.start()
    try:
        yield host
    finally:
        await host.close()
        left = [pid for token in records.tokens() for pid in find_by_token(token, TOKEN_VARIABLE)]
        assert left == []
        assert records.alive == {}


async def until(host: ToolHost, condition: Callable[[], bool]) -> None:
    """Wait for something that shows in the statuses."""
    changed = asyncio.Event()
    unsubscribe = host.subscribe(changed.set)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():
                changed.clear()
                await changed.wait()
    finally:
        unsubscribe()


async def until_state(host: ToolHost, name: str, state: ServerState) -> ServerStatus:
    """Wait for a server's state."""
    await until(host, lambda: status_of(host, name).state is state)
    return status_of(host, name)


def status_of(host: ToolHost, name: str) -> ServerStatus:
    """Where a server stands."""
    return next(status for status in host.statuses() if status.name == name)


async def ready(host: ToolHost, name: str) -> None:
    """Wait until a server is ready."""
    await until_state(host, name, ServerState.READY)


def tool(host: ToolHost, server: str, name: str) -> ToolSpec:
    """A tool by its server's own name."""
    return next(spec for spec in host.tools() if (spec.server, spec.tool) == (server, name))


async def until_file_has(path: Path, text: str) -> None:
    """Wait until a server has written something."""

    def is_there() -> bool:
        return path.exists() and text in path.read_text()

    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_there():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
