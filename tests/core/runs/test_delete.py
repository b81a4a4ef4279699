"""Deleting removes all of a conversation and nothing else, also when it was cut off."""

from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from tests.core.store.store_fixture import connected, rows_of
from tests.support.core_fixture import (
    append,
    calls,
    end_of,
    ended,
    followed,
    open_test_core,
    paths_of,
    say,
    slow_append,
    transcript,
    until_let_go,
    until_lines,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

TABLES = {
    "conversations": "id",
    "runs": "conversation_id",
    "tool_attempts": "conversation_id",
    "decisions": "conversation_id",
    "checkpoints": "thread_id",
    "writes": "thread_id",
}


def left_of(data_dir: Path, conversation_id: str) -> list[str]:
    """The tables that still have something of a conversation."""
    database = paths_of(data_dir).database
    found = [
        table
        for table, column in TABLES.items()
        if rows_of(database, f"SELECT 1 FROM {table} WHERE {column} = '{conversation_id}'")
    ]
    orphans = "SELECT 1 FROM {} WHERE run_id NOT IN (SELECT id FROM runs)"
    return found + [
        table for table in ("trace_events", "run_partials") if rows_of(database, orphans.format(table))
    ]


async def test_all_of_a_conversation_goes_and_the_others_stay(
    data_dir: Path, tool_core: Core, server: OllamaServer, tmp_path: Path
) -> None:
    server.script(calls(append(tmp_path / "lines.txt", "x")), Reply(pieces=("Half",), ending="cut"))
    handle, _ = await say(tool_core, None, "Go")
    kept, _ = await say(tool_core, None, "Stay")
    await until_let_go(tool_core, handle)
    assert left_of(data_dir, handle.conversation_id)
    await tool_core.conversations.delete(handle.conversation_id)
    assert left_of(data_dir, handle.conversation_id) == []
    assert [entry.id for entry in await tool_core.conversations.find_all()] == [kept.conversation_id]
    assert len(await transcript(tool_core, kept.conversation_id)) == 2
    with pytest.raises(SophosError) as caught:
        await tool_core.conversations.delete(handle.conversation_id)
    assert caught.value.code is ErrorCode.NOT_FOUND


async def test_a_conversation_with_an_active_run_is_not_deleted(core: Core, server: OllamaServer) -> None:
    server.script(Reply(pieces=("late",), hold_after=0))
    handle = await core.runs.start(None, "Hi")
    await server.wait_held()
    with pytest.raises(SophosError) as caught:
        await core.conversations.delete(handle.conversation_id)
    assert caught.value.code is ErrorCode.SESSION_IN_PROGRESS
    server.release()
    assert (await ended(handle)).status == "completed"
    await until_let_go(core, handle)
    await core.conversations.delete(handle.conversation_id)


async def test_a_conversation_that_waits_for_a_decision_may_be_deleted(
    data_dir: Path, tool_core: Core, server: OllamaServer, tmp_path: Path
) -> None:
    server.script(calls(slow_append(tmp_path / "lines.txt", "x")))
    handle = await tool_core.runs.start(None, "Go")
    await until_lines(tmp_path / "lines.txt", 1)
    tool_core.runs.stop(handle.conversation_id)
    await ended(handle)
    await until_let_go(tool_core, handle)
    waiting = await tool_core.runs.resume(handle.conversation_id)
    assert end_of(await followed(waiting)).status == "waiting"
    await until_let_go(tool_core, waiting)
    await tool_core.conversations.delete(handle.conversation_id)
    assert left_of(data_dir, handle.conversation_id) == []
    assert list(await tool_core.decisions.pending()) == []


async def test_a_deletion_that_was_cut_off_is_finished_at_the_next_start(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Go")
    with connected(paths_of(data_dir).database) as other:
        other.execute("UPDATE conversations SET deleted_at = '2026-01-01T00:00:00.000Z'")
    async with open_test_core(data_dir, server) as core:
        assert await core.conversations.find_all() == []
        assert left_of(data_dir, handle.conversation_id) == []


async def test_the_run_of_a_dead_process_does_not_keep_a_conversation_from_being_deleted(
    data_dir: Path, core: Core
) -> None:
    handle, _ = await say(core, None, "Go")
    await until_let_go(core, handle)
    with connected(paths_of(data_dir).database) as other:
        other.execute("UPDATE runs SET status = 'running', owner = 'dead'")
    await core.conversations.delete(handle.conversation_id)
    assert left_of(data_dir, handle.conversation_id) == []
