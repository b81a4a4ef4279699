"""A store that refuses in the middle of a run: the run ends with its code, and goes on when that is over."""

import asyncio
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from tests.core.store.store_fixture import connected, rows_of
from tests.support.core_fixture import (
    end_of,
    followed,
    open_test_core,
    paths_of,
    say,
    transcript,
    until_let_go,
)
from tests.support.guards import ExpectedLogs
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


async def limit_pages(core: Core, pages: int) -> None:
    """Let both connections believe that the disk has no more room."""
    stores = core.runs._stores
    async with stores.runs._database.write() as connection:
        await connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    async with stores.saver.conn.execute(f"PRAGMA max_page_count={pages}"):
        pass


async def test_a_lock_that_is_held_too_long_ends_the_run_and_a_resume_goes_on(
    data_dir: Path, server: OllamaServer, expected_logs: ExpectedLogs
) -> None:
    expected_logs("could not be recorded: STORE_BUSY")
    expected_logs("could not be stored: STORE_BUSY")
    async with open_test_core(data_dir, server, lock_wait_seconds=0.3) as core:
        server.script(Reply(pieces=("unheard",), hold_after=1))
        handle = await core.runs.start(None, "Hi")
        await server.wait_held()
        with connected(paths_of(data_dir).database) as other:
            other.execute("BEGIN IMMEDIATE")
            server.release()
            told = await followed(handle)
            end = end_of(told)
            with pytest.raises(SophosError) as caught:
                await core.runs.start(None, "Another")
            other.execute("ROLLBACK")
        assert caught.value.code is ErrorCode.STORE_BUSY
        assert (end.status, end.error_code, end.resumable) == ("failed", "STORE_BUSY", True)
        assert [event.seq for event in told] == list(range(1, len(told) + 1))
        await until_let_go(core, handle)
        events = await followed(await core.runs.resume(handle.conversation_id))
        assert end_of(events).status == "completed"
        assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Hello!")]
        assert len(await core.conversations.find_all()) == 1


async def test_a_lock_that_is_held_for_a_while_is_waited_for(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server) as core:
        server.script(Reply(pieces=("heard",), hold_after=1))
        handle = await core.runs.start(None, "Hi")
        await server.wait_held()
        with connected(paths_of(data_dir).database) as other:
            other.execute("BEGIN IMMEDIATE")
            server.release()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(handle.wait(), 0.5)
            other.execute("ROLLBACK")
        assert end_of(await followed(handle)).status == "completed"


async def test_a_full_disk_ends_the_run_and_a_resume_goes_on_when_there_is_room(
    core: Core, server: OllamaServer, data_dir: Path, expected_logs: ExpectedLogs
) -> None:
    expected_logs("STORE_FULL", at_least=0)
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    long_answer = "".join(chr(0x4E00 + (i * 7919) % 20_000) for i in range(60_000))
    server.script(Reply(pieces=(long_answer,)))
    (pages,) = rows_of(paths_of(data_dir).database, "PRAGMA page_count")[0]
    await limit_pages(core, pages + 8)
    handle, events = await say(core, handle.conversation_id, "At length, please")
    end = end_of(events)
    assert (end.status, end.error_code, end.resumable) == ("failed", "STORE_FULL", True)
    await until_let_go(core, handle)
    await limit_pages(core, 1_000_000)
    assert end_of(await followed(await core.runs.resume(handle.conversation_id))).status == "completed"
    assert [text for _, text in await transcript(core, handle.conversation_id)] == [
        "Hi",
        "Hello!",
        "At length, please",
        "Hello!",
    ]


async def test_a_bug_of_ours_ends_a_run_and_nobody_waits_for_ever(
    core: Core, monkeypatch: pytest.MonkeyPatch, expected_logs: ExpectedLogs
) -> None:
    expected_logs("(?s)could not be recorded.*ZeroDivisionError")

    async def finish(*_: object, **__: object) -> bool:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(core.runs._stores.runs, "finish", finish)
        handle, events = await say(core, None, "Hi")
    assert (end_of(events).status, end_of(events).error_code) == ("failed", "AGENT_FAILURE")
    await until_let_go(core, handle)
    _, events = await say(core, handle.conversation_id, "Are you well?")
    assert end_of(events).status == "completed"
