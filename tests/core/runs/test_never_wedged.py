"""A conversation is never wedged: what was decided goes on or gives way, of two resumes one wins, and where a
state cannot be read, it is said which can.
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.runs.registry import RunHandle
from sophos_desktop.foundation.ids import new_id
from tests.core.runs.test_recovery import CUT, change, left_run, told
from tests.core.store.store_fixture import rows_of
from tests.support.core_fixture import (
    LINES,
    calls,
    end_of,
    ended,
    followed,
    lines_of,
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

HELD = Reply(pieces=("Once upon", " a time"), hold_after=1)


async def decided_and_left(core: Core, server: OllamaServer, file: Path) -> tuple[str, str]:
    """A run that waited on an interrupted call, which was decided; whoever did so was killed then."""
    server.script(calls(slow_append(file, "x")))
    handle = await core.runs.start(None, "Go")
    await until_lines(file, 1)
    core.runs.stop(handle.conversation_id)
    await ended(handle)
    await until_let_go(core, handle)
    waiting = await core.runs.resume(handle.conversation_id)
    assert end_of(await followed(waiting)).status == "waiting"
    await until_let_go(core, waiting)
    (question,) = await core.decisions.pending(handle.conversation_id)
    await core.decisions.decide(handle.conversation_id, question.tool_call_id, "result", result="by hand")
    return handle.conversation_id, waiting.run_id


async def test_a_run_whose_decision_was_its_process_last_deed_is_shown_as_resumable(
    data_dir: Path, server: OllamaServer, tmp_path: Path
) -> None:
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        conversation_id, run_id = await decided_and_left(core, server, tmp_path / "lines.txt")
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        (found,) = core.recovered
        assert (found.run_id, found.status.value) == (run_id, "waiting")
        assert found.what == "everything is decided; it can be resumed"
        assert end_of(await followed(await core.runs.resume(conversation_id))).status == "completed"
        assert [run.id for run in await core.conversations.runs(conversation_id)][-1] == run_id
        said = await transcript(core, conversation_id)
        assert said == [("user", "Go"), ("assistant", ""), ("tool", "by hand"), ("assistant", "Hello!")]
        with pytest.raises(SophosError) as caught:
            await core.runs.proceed(conversation_id)
        assert caught.value.code is ErrorCode.RUN_NOT_RESUMABLE


async def test_a_message_typed_after_such_a_decision_is_answered_and_the_decision_is_kept(
    server: OllamaServer, tool_core: Core, tmp_path: Path
) -> None:
    conversation_id, run_id = await decided_and_left(tool_core, server, tmp_path / "lines.txt")
    _, events = await say(tool_core, conversation_id, "And now?")
    assert end_of(events).status == "completed"
    assert [text for _, text in await transcript(tool_core, conversation_id)] == [
        "Go",
        "",
        "by hand",
        "And now?",
        "Hello!",
    ]
    assert (await tool_core.conversations.find_run(run_id)).status.value == "interrupted"
    assert lines_of(tmp_path / "lines.txt") == ["x"]


async def test_a_run_that_waits_though_nothing_is_asked_ends_at_the_next_start(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
    change(data_dir, "UPDATE runs SET status = 'waiting', owner = NULL, finished_at = NULL")
    async with open_test_core(data_dir, server) as core:
        assert [(found.run_id, found.status.value) for found in core.recovered] == [
            (handle.run_id, "interrupted")
        ]
        assert await told(core, handle.run_id) == ["nothing was asked"]
        _, events = await say(core, handle.conversation_id, "And now?")
        assert end_of(events).status == "completed"


async def test_a_question_that_is_open_still_keeps_messages_out(
    server: OllamaServer, tool_core: Core, tmp_path: Path
) -> None:
    conversation_id, _ = await decided_and_left(tool_core, server, tmp_path / "lines.txt")
    change(tool_core.paths.data_dir, "DELETE FROM decisions")
    with pytest.raises(SophosError) as caught:
        await tool_core.runs.start(conversation_id, "And now?")
    assert caught.value.code is ErrorCode.APPROVAL_PENDING


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("waits", [True, False])
async def test_of_two_resumes_at_once_one_wins_and_the_other_is_told(
    data_dir: Path, server: OllamaServer, tmp_path: Path, processes: int, waits: bool
) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(open_test_core(data_dir, server, mcp=LINES))
        if waits:
            conversation_id, _ = await decided_and_left(first, server, tmp_path / "lines.txt")
        else:
            server.script(CUT)
            handle, _ = await say(first, None, "Hi")
            await until_let_go(first, handle)
            conversation_id = handle.conversation_id
        second = first
        if processes == 2:  # one of its own, as far as the file and the owners' locks go
            second = await stack.enter_async_context(open_test_core(data_dir, server))
        server.script(HELD)
        outcomes = await asyncio.gather(
            first.runs.resume(conversation_id), second.runs.resume(conversation_id), return_exceptions=True
        )
        (winner,) = [outcome for outcome in outcomes if isinstance(outcome, RunHandle)]
        (refused,) = [outcome for outcome in outcomes if isinstance(outcome, SophosError)]
        assert refused.code is ErrorCode.SESSION_IN_PROGRESS
        await server.wait_held()
        server.release()
        assert end_of(await followed(winner)).status == "completed"


async def test_of_a_damaged_thread_the_newest_state_that_can_be_read_is_named_and_nothing_is_changed(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
        await until_let_go(core, handle)
        await say(core, handle.conversation_id, "Again")
    database = paths_of(data_dir).database
    (newest,), (older,) = rows_of(
        database, "SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 2"
    )
    change(data_dir, "UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id = ?", newest)
    left_run(data_dir, handle.conversation_id, "lost words", new_id())
    before = rows_of(database, "SELECT checkpoint_id, checkpoint FROM checkpoints")
    async with open_test_core(data_dir, server) as core:
        conversation = await core.conversations.find(handle.conversation_id)
        assert conversation.last_run is not None
        assert conversation.last_run.error_code == "THREAD_UNREADABLE"
        assert f"(3 messages, checkpoint {older})" in (conversation.last_run.error_message or "")
        with pytest.raises(SophosError) as caught:
            await core.conversations.messages(handle.conversation_id)
        assert caught.value.code is ErrorCode.THREAD_UNREADABLE
        assert f"(3 messages, checkpoint {older})" in caught.value.remedy, "whoever shows it says so"
        (threads,) = [check for check in await core.doctor.examine() if check.id == "threads"]
        assert not threads.ok
        assert f"(3 messages, checkpoint {older}) in {handle.conversation_id}" in threads.remedy
    assert rows_of(database, "SELECT checkpoint_id, checkpoint FROM checkpoints") == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE checkpoints SET parent_checkpoint_id = 'gone' WHERE checkpoint_id = ?",
        "DELETE FROM checkpoints WHERE checkpoint_id <> ?",
        "DELETE FROM writes WHERE channel = 'messages' AND checkpoint_id < ?",
        "DELETE FROM writes WHERE rowid = (SELECT min(rowid) FROM writes WHERE channel = 'messages'"
        " AND checkpoint_id < ?)",
    ],
)
async def test_a_thread_whose_older_rows_are_gone_is_reported_and_never_read_as_a_shorter_one(
    data_dir: Path, server: OllamaServer, damage: str
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
        await until_let_go(core, handle)
        await say(core, handle.conversation_id, "Again")
        assert len(await core.conversations.messages(handle.conversation_id)) == 4
    database = paths_of(data_dir).database
    ((newest,),) = rows_of(
        database, "SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1"
    )
    change(data_dir, damage, newest)
    async with open_test_core(data_dir, server) as core:
        for refused in (
            core.conversations.messages(handle.conversation_id),
            core.exports.write([handle.conversation_id], data_dir / "out.md", ExportFormat.MARKDOWN),
        ):
            with pytest.raises(SophosError) as caught:
                await refused
            assert caught.value.code is ErrorCode.THREAD_UNREADABLE
            assert "is not in the file" in caught.value.details
        (threads,) = [check for check in await core.doctor.examine() if check.id == "threads"]
        assert not threads.ok


async def test_a_run_that_waits_over_a_damaged_thread_waits_no_longer(
    data_dir: Path, server: OllamaServer, tmp_path: Path
) -> None:
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        conversation_id, run_id = await decided_and_left(core, server, tmp_path / "lines.txt")
    change(data_dir, "UPDATE checkpoints SET checkpoint = x'c1'")
    async with open_test_core(data_dir, server) as core:
        record = await core.conversations.find_run(run_id)
        assert (record.status.value, record.error_code) == ("interrupted", "THREAD_UNREADABLE")
        conversation = await core.conversations.find(conversation_id)
        assert (conversation.resumable, conversation.active_run_id) == (False, None)
