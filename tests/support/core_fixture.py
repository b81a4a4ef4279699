"""A real core over a scripted Ollama server, and the few things that tests ask of its runs.

Invariant: the core is the one that the program opens, with its own file, owner and tool servers; nothing of
this machine's settings reaches it, and no tool server runs but those that the test names.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from sophos_desktop.core.assembly import Core, CoreOptions, open_core
from sophos_desktop.core.domain.events import Event, RunEvent, SittingEnded, TextDelta
from sophos_desktop.core.runs.registry import RunHandle
from sophos_desktop.foundation.paths import AppPaths, resolve_paths
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

PROJECT = Path(__file__).parents[2]
PATIENCE_SECONDS = 20.0
OLLAMA = '[engine]\nkind = "ollama"\nmodel = "smol:latest"\n'
NO_SERVERS: Mapping[str, Mapping[str, Any]] = {}
LINES: Mapping[str, Mapping[str, Any]] = {
    "lines": {
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_servers.append_line"],
        "approval": "allow",
        "cwd": str(PROJECT),
    }
}
"""The server whose calls can be counted; its tools are `lines__append_line` and so on."""


def paths_of(data_dir: Path) -> AppPaths:
    """Where the core of a test keeps everything."""
    return resolve_paths(data_dir, {})


@asynccontextmanager
async def open_test_core(
    data_dir: Path,
    server: OllamaServer | str,
    *,
    mcp: Mapping[str, Mapping[str, Any]] = NO_SERVERS,
    settings: str = OLLAMA,
    lock_wait_seconds: float = 15.0,
) -> AsyncIterator[Core]:
    """The real core. `server`: where Ollama is said to be; `settings`: the text of `settings.toml`."""
    paths = paths_of(data_dir)
    await asyncio.to_thread(_write_configuration, paths, mcp, settings)
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    options = CoreOptions(
        paths,
        {**kept, "OLLAMA_HOST": server if isinstance(server, str) else server.url},
        tool_servers=bool(mcp),
        lock_wait_seconds=lock_wait_seconds,
    )
    async with open_core(options) as core:
        yield core


def _write_configuration(paths: AppPaths, mcp: Mapping[str, Mapping[str, Any]], settings: str) -> None:
    paths.config_dir.mkdir(parents=True, exist_ok=True)
    servers = {"fetch": {"disabled": True}, "memory": {"disabled": True}, **mcp}
    paths.mcp_file.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    paths.settings_file.write_text(settings, encoding="utf-8")


async def followed(handle: RunHandle, from_seq: int = 1) -> list[RunEvent]:
    """All events of a sitting, to its end."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [event async for event in handle.events(from_seq)]


async def ended(handle: RunHandle) -> SittingEnded:
    """The end of a sitting."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await handle.wait()


async def until_let_go(core: Core, handle: RunHandle) -> None:
    """Wait until the registry has let go of a run whose end was told."""
    gone = asyncio.Event()
    unsubscribe = core.runs.subscribe(lambda _: gone.set())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while core.runs.works_on(handle.run_id):
            gone.clear()
            await gone.wait()
    unsubscribe()


async def say(core: Core, conversation_id: str | None, text: str) -> tuple[RunHandle, list[RunEvent]]:
    """Send a message and follow its run to the end."""
    handle = await core.runs.start(conversation_id, text)
    return handle, await followed(handle)


async def until_event(handle: RunHandle, kind: type[Event], count: int = 1) -> Event:
    """The `count`th event of a kind."""
    seen = 0
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(handle.events()) as events:  # type: ignore[type-var]
        async for event in events:
            seen += isinstance(event.event, kind)
            if seen == count:
                return event.event
    raise AssertionError(f"the sitting ended with {seen} of {count} {kind.__name__}")


def facts(events: Sequence[RunEvent], kind: type[Event]) -> list[Any]:
    """The events of one kind."""
    return [event.event for event in events if isinstance(event.event, kind)]


def end_of(events: Sequence[RunEvent]) -> SittingEnded:
    """The last event, which is the end."""
    last = events[-1].event
    assert isinstance(last, SittingEnded)
    return last


def streamed_text(events: Sequence[RunEvent]) -> str:
    """What the deltas add up to."""
    return "".join(event.text for event in facts(events, TextDelta))


async def transcript(core: Core, conversation_id: str) -> list[tuple[str, str]]:
    """Role and text of every message, partial answers at the end."""
    return [(m.role.value, m.text) for m in await core.conversations.messages(conversation_id)]


def calls(*made: Mapping[str, Any], text: str = "", **fields: Any) -> Reply:
    """A reply that asks for tool calls."""
    return Reply(pieces=(text,) if text else (), calls=made, **fields)


def append(file: Path, text: str) -> dict[str, Any]:
    """A call that appends a line."""
    return {"name": "lines__append_line", "arguments": {"file": str(file), "text": text}}


def slow_append(file: Path, text: str, seconds: float = 60.0) -> dict[str, Any]:
    """A call that appends a line and does not answer for a long time."""
    arguments = {"file": str(file), "text": text, "seconds": seconds}
    return {"name": "lines__slow_append", "arguments": arguments}


def lines_of(file: Path) -> list[str]:
    """What the calls wrote."""
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


async def until_lines(file: Path, count: int) -> None:
    """Wait until a server has written so many lines."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(lines_of(file)) < count:  # noqa: ASYNC110 - another process writes them
            await asyncio.sleep(0.01)
