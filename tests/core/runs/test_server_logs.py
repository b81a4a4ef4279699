"""What servers wrote is kept for other processes while its owner lives, and requests reach every process."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ApprovalNeeded, Notice
from sophos_desktop.core.domain.specs import ServerState, ServerStatus
from sophos_desktop.core.domain.trust import Trust
from sophos_desktop.core.runs.server_logs import MAXIMUM_BYTES, ServerLog, ServerLogs
from sophos_desktop.foundation.owner_lock import OwnerLock
from tests.support.core_fixture import (
    LINES,
    calls,
    end_of,
    facts,
    followed,
    lines_of,
    open_test_core,
    slow_append,
    until_lines,
)
from tests.support.ollama_server import OllamaServer

NOBODY = "127.0.0.1:1"
PATIENCE_SECONDS = 30.0


class Servers:
    """A directory of servers that the test sets."""

    def __init__(self, *names: str) -> None:
        self.current = [ServerStatus(name, "stdio", ServerState.READY, "Ready.", "2026") for name in names]

    def statuses(self) -> Sequence[ServerStatus]:
        return self.current

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def write(self, *lines: str) -> None:
        """Let every server have written these lines."""
        self.current = [replace(status, stderr_tail=lines) for status in self.current]


@pytest.fixture
def owners_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "owners"
    folder.mkdir()
    return folder


@asynccontextmanager
async def keeping(tmp_path: Path, servers: Servers) -> AsyncIterator[tuple[ServerLogs, OwnerLock]]:
    """A process that keeps what these servers write."""
    owner = OwnerLock.acquire(tmp_path / "owners")
    logs = ServerLogs(tmp_path / "logs", tmp_path / "owners", owner.id, servers)
    logs.start()
    try:
        yield logs, owner
    finally:
        await logs.close()
        owner.release()


async def kept(tmp_path: Path, server: str, condition: Callable[[ServerLog], bool]) -> ServerLog:
    """What a third process reads, once it is as it should be."""
    reader = ServerLogs(tmp_path / "logs", tmp_path / "owners", "0" * 36, Servers())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            for log in await reader.of_others(server):
                if condition(log):
                    return log
            await asyncio.sleep(0.02)


async def test_another_process_reads_the_newest_lines_whole_and_bounded(
    tmp_path: Path, owners_dir: Path
) -> None:
    servers = Servers("notes")
    async with keeping(tmp_path, servers) as (_, owner):
        log = await kept(tmp_path, "notes", lambda log: log.lines == ())
        assert (log.owner, log.state, log.reason) == (owner.id, ServerState.READY, "Ready.")
        servers.write(*(f"line {number} " + "ä" * 1000 for number in range(200)), "half \ud83d a face")
        log = await kept(tmp_path, "notes", lambda log: len(log.lines) > 0)
        assert log.lines[-1] == "half ? a face"
        assert log.lines[-2].startswith("line 199 ")
        (file,) = (tmp_path / "logs").iterdir()
        assert MAXIMUM_BYTES - 3000 < file.stat().st_size <= MAXIMUM_BYTES
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        servers.write("other words")
        assert (await kept(tmp_path, "notes", lambda log: len(log.lines) == 1)).lines == ("other words",)
    assert list((tmp_path / "logs").iterdir()) == []


async def test_hostile_and_similar_names_have_files_of_their_own_in_the_folder(
    tmp_path: Path, owners_dir: Path
) -> None:
    names = ["../up", "a/b", "a_b", "A_b", "a\nb", "x" * 100, "x" * 99, "*", "ñ"]
    async with keeping(tmp_path, Servers(*names)):
        for name in names:
            assert (await kept(tmp_path, name, lambda log: True)).server == name
        files = list((tmp_path / "logs").iterdir())
        assert len({path.name.lower() for path in files}) == len(files) == len(names)
    assert list((tmp_path / "logs").iterdir()) == []


async def test_files_of_dead_owners_go_and_those_of_living_ones_stay(
    tmp_path: Path, owners_dir: Path
) -> None:
    dead = "0197f0f0-0000-7000-8000-000000000000"
    (tmp_path / "logs").mkdir()
    for name in (f"notes-{dead}.log", f"notes-{dead}.part", "something else.txt"):
        (tmp_path / "logs" / name).write_text(json.dumps({"server": "notes"}) + "\na conversation\n")
    async with keeping(tmp_path, Servers("notes")) as (_, first):
        await kept(tmp_path, "notes", lambda log: log.owner == first.id)
        async with keeping(tmp_path, Servers("notes")) as (_, second):
            await kept(tmp_path, "notes", lambda log: log.owner == second.id)
            names = {path.name for path in (tmp_path / "logs").iterdir()}
            assert names == {
                f"notes-{first.id}.log",
                f"notes-{second.id}.log",
                "something else.txt",
            }


async def test_a_folder_that_cannot_be_made_stops_nothing(tmp_path: Path, owners_dir: Path) -> None:
    (tmp_path / "logs").write_text("a file in its place")
    async with keeping(tmp_path, Servers("notes")) as (logs, _):
        assert await logs.of_others("notes") == []
    assert (tmp_path / "logs").read_text() == "a file in its place"


async def restarts_of(core: Core) -> str:
    """The time of the newest start of the server `lines`."""
    return next(status.since for status in core.servers.statuses() if status.name == "lines")


async def test_a_restart_is_done_by_every_other_process_that_keeps_the_server(data_dir: Path) -> None:
    async with (
        open_test_core(data_dir, NOBODY, mcp=LINES) as first,
        open_test_core(data_dir, NOBODY, mcp=LINES) as second,
    ):
        for core in (first, second):
            await core.tool_host.settle(PATIENCE_SECONDS)
        before = [await restarts_of(core) for core in (first, second)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(await first.server_logs.of_others("lines")) != 1:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            (log,) = await first.server_requests.ask_others("lines")
        assert log.state is ServerState.READY
        after = [await restarts_of(core) for core in (first, second)]
        # The request reaches whoever keeps the server; who asked is one of them here.
        assert after[1] > before[1]
        assert await first.server_requests.ask_others("nobody keeps this") == ()


async def test_the_users_word_counts_from_the_next_start_until_the_command_changes(data_dir: Path) -> None:
    async def trusted() -> tuple[set[bool], list[str]]:
        async with open_test_core(data_dir, NOBODY, mcp=servers) as core:
            await core.tool_host.settle(PATIENCE_SECONDS)
            hints = {tool.trusted for tool in core.tool_host.tools()}
            return hints, [notice.code for notice in core.notices]

    servers = dict(LINES)
    assert await trusted() == ({False}, [])
    async with open_test_core(data_dir, NOBODY, mcp=servers) as core:
        await core.trust.trust("lines")
        with pytest.raises(SophosError) as refused:
            await core.trust.trust("nope")
        assert refused.value.code is ErrorCode.NOT_FOUND
    assert await trusted() == ({True}, [])
    servers["lines"] = {**LINES["lines"], "args": [*LINES["lines"]["args"], str(data_dir / "log")]}
    assert await trusted() == ({False}, ["TRUST_LOST"])
    servers["lines"] = {**servers["lines"], "trusted": True}
    assert await trusted() == ({True}, [])


async def test_a_word_given_in_another_process_counts_at_once(data_dir: Path) -> None:
    async with (
        open_test_core(data_dir, NOBODY, mcp=LINES) as window,
        open_test_core(data_dir, NOBODY, mcp=LINES) as command_line,
    ):
        await window.tool_host.settle(PATIENCE_SECONDS)
        told: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()
        window.trust.subscribe(lambda name, counts: told.put_nowait((name, counts)))
        assert {tool.trusted for tool in window.tool_host.tools()} == {False}
        async with asyncio.timeout(PATIENCE_SECONDS):
            await command_line.trust.trust("lines")
            assert await told.get() == ("lines", True)
            assert window.trust.of("lines") is Trust.USER
            assert {tool.trusted for tool in window.tool_host.tools()} == {True}
            await command_line.trust.revoke("lines")
            assert await told.get() == ("lines", False)
        assert {tool.trusted for tool in window.tool_host.tools()} == {False}


async def test_what_a_restart_from_the_command_line_cuts_off_is_asked_about_with_the_reason(
    data_dir: Path, server: OllamaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sophos_desktop.core.runs.server_requests.CALLS_END_SECONDS", 0.1)
    file = tmp_path / "lines.txt"
    server.script(calls(slow_append(file, "once")))
    async with (
        open_test_core(data_dir, server, mcp=LINES) as window,
        open_test_core(data_dir, NOBODY, mcp=LINES) as command_line,
    ):
        await window.tool_host.settle(PATIENCE_SECONDS)
        handle = await window.runs.start(None, "Go")
        await until_lines(file, 1)
        async with asyncio.timeout(PATIENCE_SECONDS):
            logs = await command_line.server_requests.ask_others("lines")
        assert [log.state for log in logs] == [ServerState.READY]
        events = await followed(handle)
        assert end_of(events).status == "waiting"
        (question,) = facts(events, ApprovalNeeded)
        assert question.why == "uncertain"
        said = [notice.text for notice in facts(events, Notice)]
        assert any('"lines" was restarted by the command line during the call' in text for text in said)
        assert lines_of(file) == ["once"]
