"""What is deleted is gone from every byte on the disk, and what is taken back is all there again."""

import asyncio
import logging
import re
import shutil
import sqlite3
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import TextDelta
from sophos_desktop.foundation.log_setup import set_up_logging
from tests.core.store.store_fixture import connected, rows_of
from tests.durability.program import ForkServer, fork_server
from tests.support.core_fixture import (
    LINES,
    append,
    calls,
    end_of,
    ended,
    followed,
    open_test_core,
    paths_of,
    say,
    transcript,
    until_event,
    until_let_go,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

MARKER = re.compile(rb"QJX-([a-z]+)-")
ASKING = {"lines": {key: value for key, value in LINES["lines"].items() if key != "approval"}}
EVERYWHERE = {
    "title",
    "question",
    "thinking",
    "args",
    "big",
    "reason",
    "answer",
    "error",
    "partial",
    "draft",
    "queued",
    "attached",
    "beside",
    "queuedfile",
}
STEPS = ("tombstone", "final", "thread", "attachments", "rows")


def mark(place: str, size: int = 0) -> str:
    """A text that is found again wherever it lies."""
    return f"QJX-{place}- {'padding ' * (size // 8)}".strip()


def markers_in(data: bytes) -> set[str]:
    """The places whose text is in these bytes, also where it was compressed."""
    found = {name.decode() for name in MARKER.findall(data)}
    for start in (match.start() for match in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data)):
        found |= {name.decode() for name in MARKER.findall(_unpacked(data[start : start + 65536]))}
    return found


def _unpacked(data: bytes) -> bytes:
    """What can be unpacked: the rest of a blob may lie on other pages."""
    unpacker, out = zlib.decompressobj(), bytearray()
    for start in range(0, len(data), 128):
        try:
            out += unpacker.decompress(data[start : start + 128])
        except zlib.error:
            break
        if unpacker.eof or (start > 512 and not out):
            break
    return bytes(out)


def markers_on_disk(data_dir: Path) -> dict[str, set[str]]:
    """Each file that still holds something, with what it is."""
    files = [path for path in sorted(data_dir.rglob("*")) if path.is_file()]
    found = {str(path.relative_to(data_dir)): markers_in(path.read_bytes()) for path in files}
    return {name: places for name, places in found.items() if places}


async def fill(core: Core, server: OllamaServer, file: Path) -> str:
    """A conversation that has left text wherever a conversation can, between others."""
    for number in range(3):
        await until_let_go(core, (await say(core, None, f"Another conversation {number}"))[0])
    server.script(
        calls(
            append(file, mark("args")),
            append(file, mark("big", 1_000_000)),
            thinking=(mark("thinking"),),
        )
    )
    attached = await core.attachments.add(None, "a.txt", mark("attached", 3000).encode())
    handle = await core.runs.start(None, mark("question"), attachments=[attached])
    assert end_of(await followed(handle)).status == "waiting"
    await until_let_go(core, handle)
    conversation_id = handle.conversation_id
    denied, allowed = sorted(
        await core.decisions.pending(conversation_id), key=lambda question: len(str(question.args))
    )
    await core.decisions.decide(conversation_id, denied.tool_call_id, "deny", reason=mark("reason"))
    await core.decisions.decide(conversation_id, allowed.tool_call_id, "allow")
    server.script(Reply(pieces=(mark("answer"), mark("answer", 3000))))
    going_on = await core.runs.proceed(conversation_id)
    assert end_of(await followed(going_on)).status == "completed"
    await until_let_go(core, going_on)
    server.script(Reply(status=500, error=mark("error")))
    failing, events = await say(core, conversation_id, mark("question", 2000))
    assert end_of(events).status == "failed"
    await until_let_go(core, failing)
    server.script(Reply(pieces=(mark("partial"), "never"), hold_after=1))
    stopped = await core.runs.start(conversation_id, mark("question"))
    await until_event(stopped, TextDelta)
    core.runs.stop(conversation_id)
    assert (await ended(stopped)).status == "cancelled"
    await until_let_go(core, stopped)
    await core.conversations.rename(conversation_id, mark("title"))
    await core.conversations.save_draft(conversation_id, mark("draft", 500))
    waiting = await core.attachments.add(conversation_id, "b.txt", mark("queuedfile").encode())
    await core.attachments.add(conversation_id, "c.txt", mark("beside", 9000).encode())
    await core.queue.put(conversation_id, mark("queued"), [waiting])
    for number in range(3):
        await until_let_go(core, (await say(core, None, f"A later conversation {number}"))[0])
    return conversation_id


@asynccontextmanager
async def filled(data_dir: Path, server: OllamaServer, file: Path) -> AsyncIterator[tuple[Core, str]]:
    """An open core on a file with such a conversation, logging as the program does."""
    close_log = set_up_logging(paths_of(data_dir).log_dir)
    try:
        async with open_test_core(data_dir, server, mcp=ASKING) as core:
            yield core, await fill(core, server, file)
        logging.getLogger("tests").info("the end")
    finally:
        close_log()


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


@pytest.fixture
def programs() -> Iterator[ForkServer]:
    """The real command line, forked from a process that has its imports."""
    with fork_server() as made:
        yield made


async def test_the_texts_of_a_conversation_lie_where_this_test_looks_for_them(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    async with filled(data_dir, server, file):
        pass
    found = markers_on_disk(data_dir)
    assert found == {"sophos.db": EVERYWHERE}, "only the database holds what was said"
    assert (paths_of(data_dir).log_dir / "sophos.log").stat().st_size > 0


async def test_nothing_of_a_deleted_conversation_is_left_once_the_file_is_closed(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    backup = paths_of(data_dir).backups_dir / "sophos-schema-1.db"
    async with filled(data_dir, server, file) as (core, conversation_id):
        backup.write_text(mark("title"))
        await core.conversations.delete(conversation_id)
        assert len(await core.conversations.find_all()) == 6
    assert markers_on_disk(data_dir) == {}
    assert rows_of(paths_of(data_dir).database, "PRAGMA integrity_check") == [("ok",)]


async def test_nothing_is_left_either_when_another_process_read_meanwhile(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    async with filled(data_dir, server, file) as (core, conversation_id):
        reader = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            READER,
            str(paths_of(data_dir).database),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert reader.stdout is not None
        assert await asyncio.wait_for(reader.stdout.readline(), 20) == b"reading\n"
        await core.conversations.delete(conversation_id)
    held = markers_on_disk(data_dir)
    await asyncio.wait_for(reader.communicate(b"\n"), 20)
    assert held, "the reader kept the log from being folded in"
    async with open_test_core(data_dir, server):
        pass
    assert markers_on_disk(data_dir) == {}


READER = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1].replace('%', '%25').replace('#', '%23')}?mode=ro", uri=True)
connection.isolation_level = None
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM checkpoints").fetchall()
print("reading", flush=True)
sys.stdin.readline()
connection.close()
"""


async def test_a_deletion_that_is_killed_anywhere_is_finished_by_the_next_start(
    data_dir: Path, server: OllamaServer, file: Path, programs: ForkServer, tmp_path: Path
) -> None:
    async with filled(data_dir, server, file) as (_, conversation_id):
        pass
    for step in STEPS:
        for when in ("before", "after"):
            home = tmp_path / f"{when} {step}"
            shutil.copytree(data_dir, home)
            killed = run(
                programs, home, "delete", conversation_id, "--yes", failpoint=f"delete.{when}_{step}"
            )
            assert killed.killed, (step, when)
            assert run(programs, home, "list").code == 0
            left = markers_on_disk(home)
            if (when, step) == ("before", "tombstone"):
                assert left == {"sophos.db": EVERYWHERE}
            else:
                assert left == {}, (when, step)
            shutil.rmtree(home)


def run(programs: ForkServer, home: Path, *argv: str, failpoint: str = "") -> Any:
    env = {"SOPHOS_DATA_DIR": str(home), "OLLAMA_HOST": "127.0.0.1:1", "SOPHOS_FAILPOINT": failpoint}
    return programs.run(argv, env=env, cwd=home.parent)


def everything(data_dir: Path) -> list[str]:
    """All rows of all tables, as statements."""
    with closing(sqlite3.connect(paths_of(data_dir).database)) as connection:
        return list(connection.iterdump())


async def test_taking_a_deletion_back_loses_nothing(data_dir: Path, server: OllamaServer, file: Path) -> None:
    async with filled(data_dir, server, file) as (core, conversation_id):
        before, said = everything(data_dir), await transcript(core, conversation_id)
        assert await core.conversations.bury(conversation_id) == 10.0
        with pytest.raises(SophosError) as caught:
            await core.conversations.find(conversation_id)
        assert caught.value.code is ErrorCode.NOT_FOUND
        async with open_test_core(data_dir, server) as beside:
            assert len(await beside.conversations.find_all()) == 6
        await core.conversations.restore(conversation_id)
        assert everything(data_dir) == before
        assert await transcript(core, conversation_id) == said
        assert await core.queue.get(conversation_id) == mark("queued")
        await core.conversations.finish_deletion(conversation_id)
        assert everything(data_dir) == before, "there is nothing to finish"


async def test_a_deletion_that_was_finished_cannot_be_taken_back(core: Core) -> None:
    handle, _ = await say(core, None, "Go")
    await until_let_go(core, handle)
    await core.conversations.bury(handle.conversation_id)
    await core.conversations.finish_deletion(handle.conversation_id)
    with pytest.raises(SophosError, match="too late"):
        await core.conversations.restore(handle.conversation_id)


async def test_a_run_that_began_in_spite_of_the_deletion_is_not_written_over(
    data_dir: Path, core: Core
) -> None:
    handle, _ = await say(core, None, "Go")
    await until_let_go(core, handle)
    await core.conversations.bury(handle.conversation_id)
    database = paths_of(data_dir).database
    with connected(database) as other:
        other.execute("UPDATE runs SET status = 'running'")
    await core.conversations.finish_deletion(handle.conversation_id)
    assert rows_of(database, "SELECT count(*) > 0 FROM checkpoints") == [(1,)]
    with connected(database) as other:
        other.execute("UPDATE runs SET status = 'completed'")
    await core.conversations.finish_deletion(handle.conversation_id)
    assert rows_of(database, "SELECT count(*) > 0 FROM checkpoints") == [(0,)]


@pytest.mark.parametrize("moment", ["2026-01-01T00:00:00.000Z", "9999-01-01T00:00:00.000Z"])
async def test_a_deletion_nobody_took_back_in_time_is_finished_by_the_next_start(
    data_dir: Path, server: OllamaServer, moment: str
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, mark("question"))
        await until_let_go(core, handle)
        await core.conversations.bury(handle.conversation_id)
    with connected(paths_of(data_dir).database) as other:
        other.execute("UPDATE conversations SET deleted_at = ?", (moment,))
    async with open_test_core(data_dir, server) as core:
        assert await core.conversations.find_all() == []
    assert markers_on_disk(data_dir) == {}
