"""Quitting: the step that runs is finished, or ended when time is up; the run can be resumed afterwards."""

import asyncio
from pathlib import Path

import pytest

from sophos_desktop.core.domain.conversation import ToolStatus
from sophos_desktop.core.domain.errors import SophosError
from tests.support.core_fixture import (
    LINES,
    append,
    calls,
    end_of,
    ended,
    followed,
    lines_of,
    open_test_core,
    say,
    slow_append,
    transcript,
    until_lines,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


async def test_a_drain_lets_the_step_finish_and_the_rest_is_resumed(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    server.script(calls(slow_append(file, "slow", 0.4), append(file, "quick")))
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        handle = await core.runs.start(None, "Write")
        await until_lines(file, 2)
        await core.runs.drain(10.0)
        end = await ended(handle)
        assert (end.status, end.error_code, end.resumable) == ("interrupted", None, True)
        with pytest.raises(SophosError, match="closing"):
            await core.runs.start(None, "Another")
        with pytest.raises(SophosError, match="closing"):
            await core.runs.resume(handle.conversation_id)
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        assert core.recovered == ()
        messages = await core.conversations.messages(handle.conversation_id)
        assert [message.tool_status for message in messages[2:]] == [ToolStatus.OK, ToolStatus.OK]
        assert end_of(await followed(await core.runs.resume(handle.conversation_id))).status == "completed"
    assert sorted(lines_of(file)) == ["quick", "slow"]
    assert len(server.chats) == 2


async def test_a_drain_that_takes_too_long_ends_the_step(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    server.script(calls(slow_append(file, "slow")))
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        handle = await core.runs.start(None, "Write")
        await until_lines(file, 1)
        await core.runs.drain(0.1)
        end = await ended(handle)
        assert (end.status, end.resumable) == ("interrupted", True)
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        end = end_of(await followed(await core.runs.resume(handle.conversation_id)))
        assert end.status == "waiting"
    assert lines_of(file) == ["slow"]


async def test_a_drain_keeps_what_had_arrived_of_an_answer(data_dir: Path, server: OllamaServer) -> None:
    server.script(Reply(pieces=("Half", "more"), hold_after=1))
    async with open_test_core(data_dir, server) as core:
        handle = await core.runs.start(None, "Hi")
        await server.wait_held()
        await core.runs.drain(0.1)
        assert (await ended(handle)).status == "interrupted"
        assert (await server.wait_ended()).disconnected
    async with open_test_core(data_dir, server) as core:
        assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Half")]


async def test_an_answer_that_was_complete_by_then_is_complete(data_dir: Path, server: OllamaServer) -> None:
    server.script(Reply(pieces=("All", " of it"), hold_after=1))
    async with open_test_core(data_dir, server) as core:
        handle = await core.runs.start(None, "Hi")
        await server.wait_held()
        draining = asyncio.ensure_future(core.runs.drain(10.0))
        await asyncio.sleep(0)
        server.release()
        await draining
        assert (await ended(handle)).status == "completed"


async def test_a_core_that_is_closed_drains_by_itself(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server) as core:
        handle = await core.runs.start(None, "Hi")
    async with open_test_core(data_dir, server) as core:
        assert core.recovered == ()
        record = await core.conversations.find_run(handle.run_id)
        assert record.status.value in ("completed", "interrupted")
        _, events = await say(core, handle.conversation_id, "And now?")
        assert end_of(events).status == "completed"
        assert (await transcript(core, handle.conversation_id))[0] == ("user", "Hi")
