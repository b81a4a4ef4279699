"""What a killed process left behind is made true again: its children, and its runs, each by its thread."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ToolCallFinished
from sophos_desktop.core.runs.questions import OpenStep
from sophos_desktop.core.runs.recovery import CHILD_TOKEN_VARIABLE
from sophos_desktop.foundation.ids import new_id
from tests.core.store.store_fixture import connected, rows_of
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
    slow_append,
    transcript,
    until_event,
    until_let_go,
    until_lines,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

CUT = Reply(pieces=("Half",), ending="cut")
LEFT_RUNNING = "UPDATE runs SET status = 'running', owner = 'dead', finished_at = NULL"


def change(data_dir: Path, statement: str, *values: object) -> None:
    """What a process that was killed left in the file."""
    with connected(paths_of(data_dir).database) as other:
        other.execute(statement, values)


def left_run(data_dir: Path, conversation_id: str, text: str, message_id: str) -> str:
    """A claim whose process was killed right after its commit."""
    run_id = new_id()
    change(
        data_dir,
        """INSERT INTO runs (id, conversation_id, branch_id, kind, status, input_text, input_message_id,
           owner, unfinished, started_at) VALUES (?, ?, 'main', 'message', 'running', ?, ?, 'dead', 1, ?)""",
        run_id,
        conversation_id,
        text,
        message_id,
        "2100-01-01T00:00:00.000Z",
    )
    return run_id


async def told(core: Core, run_id: str) -> list[str]:
    """What recovery added to the trace of a run."""
    events = await core.conversations.trace(run_id)
    assert events[-1]["type"] == "end"
    return [event["what"] for event in events if event["type"] == "recovered"]


async def test_a_run_whose_answer_is_complete_is_completed(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
    change(data_dir, LEFT_RUNNING)
    async with open_test_core(data_dir, server) as core:
        (found,) = core.recovered
        assert (found.run_id, found.status.value) == (handle.run_id, "completed")
        assert await told(core, handle.run_id) == ["its answer was complete"]
        conversation = await core.conversations.find(handle.conversation_id)
        assert (conversation.resumable, conversation.active_run_id) == (False, None)
        with pytest.raises(SophosError) as caught:
            await core.runs.resume(handle.conversation_id)
        assert caught.value.code is ErrorCode.RUN_NOT_RESUMABLE


async def test_a_run_with_work_left_is_interrupted_and_can_be_resumed(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script(CUT)
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
    change(data_dir, LEFT_RUNNING)
    async with open_test_core(data_dir, server) as core:
        assert [found.status.value for found in core.recovered] == ["interrupted"]
        assert (await core.conversations.find(handle.conversation_id)).resumable
        assert await told(core, handle.run_id) == ["it was interrupted and can be resumed"]
        assert await core.conversations.draft(handle.conversation_id) == ""
        assert end_of(await followed(await core.runs.resume(handle.conversation_id))).status == "completed"


async def test_a_message_that_no_checkpoint_holds_is_in_the_composer_again(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
        await core.conversations.save_draft(handle.conversation_id, "typed meanwhile")
    run_id = left_run(data_dir, handle.conversation_id, "lost words", new_id())
    async with open_test_core(data_dir, server) as core:
        (found,) = core.recovered
        assert (found.run_id, found.status.value) == (run_id, "interrupted")
        draft = await core.conversations.draft(handle.conversation_id)
        assert draft == "lost words\n\ntyped meanwhile"
        conversation = await core.conversations.find(handle.conversation_id)
        assert (conversation.resumable, conversation.message_count) == (False, 2)
    assert rows_of(paths_of(data_dir).database, "SELECT input_text FROM runs") == [(None,), (None,)]


async def test_a_message_that_is_stored_as_input_alone_is_there_once_and_is_answered(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script(CUT)
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
    change(data_dir, "DELETE FROM writes")
    change(data_dir, 'DELETE FROM checkpoints WHERE CAST(metadata AS TEXT) NOT LIKE \'%"source": "input"%\'')
    change(data_dir, LEFT_RUNNING + ", input_text = 'Hi'")
    async with open_test_core(data_dir, server) as core:
        assert [found.status.value for found in core.recovered] == ["interrupted"]
        assert await core.conversations.draft(handle.conversation_id) == ""
        assert [text for role, text in await transcript(core, handle.conversation_id) if role == "user"] == [
            "Hi"
        ]
        assert end_of(await followed(await core.runs.resume(handle.conversation_id))).status == "completed"
        assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Hello!")]


async def test_a_message_typed_after_one_that_is_stored_as_input_alone_keeps_both(
    data_dir: Path, server: OllamaServer
) -> None:
    server.script(CUT)
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "First")
    change(data_dir, "DELETE FROM writes")
    change(data_dir, 'DELETE FROM checkpoints WHERE CAST(metadata AS TEXT) NOT LIKE \'%"source": "input"%\'')
    change(data_dir, "DELETE FROM run_partials")
    change(data_dir, LEFT_RUNNING)
    async with open_test_core(data_dir, server) as core:
        await say(core, handle.conversation_id, "Second")
        assert await transcript(core, handle.conversation_id) == [
            ("user", "First"),
            ("user", "Second"),
            ("assistant", "Hello!"),
        ]
        assert len(server.chats) == 2


async def test_a_run_with_an_open_question_waits(
    data_dir: Path, server: OllamaServer, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    server.script(calls(slow_append(file, "x")))
    async with open_test_core(data_dir, server, mcp=LINES) as core:
        handle = await core.runs.start(None, "Go")
        await until_lines(file, 1)
        core.runs.stop(handle.conversation_id)
        await ended(handle)
        await until_let_go(core, handle)
        waiting = await core.runs.resume(handle.conversation_id)
        await followed(waiting)
    change(data_dir, LEFT_RUNNING + " WHERE id = ?", waiting.run_id)
    async with open_test_core(data_dir, server) as core:
        assert [(found.run_id, found.status.value) for found in core.recovered] == [
            (waiting.run_id, "waiting")
        ]
        (question,) = await core.decisions.pending()
        assert question.run_id == waiting.run_id


@pytest.mark.parametrize("writes_are_there", [True, False])
async def test_recovery_counts_the_calls_of_the_open_step_and_the_messages(
    data_dir: Path, server: OllamaServer, tmp_path: Path, writes_are_there: bool
) -> None:
    file = tmp_path / "lines.txt"
    slow = {**slow_append(file, "c"), "name": "other__slow_append"}
    server.script(calls(append(file, "a"), append(file, "b"), slow))
    async with open_test_core(data_dir, server, mcp={**LINES, "other": LINES["lines"]}) as core:
        handle = await core.runs.start(None, "Go")
        await until_event(handle, ToolCallFinished, 2)
        await until_lines(file, 3)
        core.runs.stop(handle.conversation_id)
        await ended(handle)
        await until_let_go(core, handle)
    if not writes_are_there:  # killed between the journal and the checkpointer
        change(data_dir, "DELETE FROM writes WHERE task_path LIKE '%push%' AND channel = 'messages'")
    change(data_dir, LEFT_RUNNING + ", unfinished = 0")
    change(data_dir, "UPDATE conversations SET message_count = 1")
    async with open_test_core(data_dir, server) as core:
        (found,) = core.recovered
        assert found.what == (
            "it was interrupted and can be resumed: 2 finished results are taken over, 1 call is uncertain"
        )
        assert await told(core, handle.run_id) == [found.what]
        thread = await core.runs._stores.graph.read(handle.conversation_id)
        conversation = await core.conversations.find(handle.conversation_id)
        assert conversation.message_count == thread.message_count
        assert conversation.resumable


def test_the_calls_of_an_open_step_in_words() -> None:
    assert OpenStep().words() == ""
    words = OpenStep(finished=1, uncertain=2, not_sent=1).words()
    assert words == "1 finished result is taken over, 2 calls are uncertain, 1 call is not made yet"


async def test_a_thread_that_cannot_be_read_fails_its_run_alone_and_gives_the_text_back(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        handle, _ = await say(core, None, "Hi")
        other, _ = await say(core, None, "Another")
    change(data_dir, "UPDATE checkpoints SET checkpoint = x'c1' WHERE thread_id = ?", handle.conversation_id)
    left_run(data_dir, handle.conversation_id, "lost words", new_id())
    async with open_test_core(data_dir, server) as core:
        assert [found.status.value for found in core.recovered] == ["failed"]
        conversation = await core.conversations.find(handle.conversation_id)
        assert conversation.last_run is not None
        assert conversation.last_run.error_code == "THREAD_UNREADABLE"
        assert conversation.draft == "lost words"
        for read in (
            core.conversations.messages(handle.conversation_id),
            core.runs.resume(handle.conversation_id),
        ):
            with pytest.raises(SophosError) as caught:
                await read
            assert caught.value.code is ErrorCode.THREAD_UNREADABLE
        _, events = await say(core, handle.conversation_id, "Hello?")
        assert (end_of(events).status, end_of(events).error_code) == ("failed", "THREAD_UNREADABLE")
        conversation = await core.conversations.find(handle.conversation_id)
        assert conversation.draft == "Hello?\n\nlost words"
        assert not conversation.resumable
        assert conversation.active_run_id is None
        assert len(await transcript(core, other.conversation_id)) == 2


async def test_a_process_that_dies_while_the_window_is_open_is_noticed_at_the_next_message(
    data_dir: Path, core: Core
) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    run_id = left_run(data_dir, handle.conversation_id, "lost words", new_id())
    _, events = await say(core, handle.conversation_id, "And now?")
    assert end_of(events).status == "completed"
    assert (await core.conversations.find_run(run_id)).status.value == "interrupted"
    assert await told(core, run_id) == ["your message was not sent; it is in the composer again"]


async def test_a_row_of_this_process_without_a_task_counts_as_dead(data_dir: Path, core: Core) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    change(data_dir, LEFT_RUNNING + ", owner = ?", core.runs._owner_id)
    _, events = await say(core, handle.conversation_id, "And now?")
    assert end_of(events).status == "completed"


async def test_the_files_of_dead_owners_are_swept(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server):
        owners = paths_of(data_dir).owners_dir
        (owners / "dead.lock").touch()
        async with open_test_core(data_dir, server):
            assert len(list(owners.glob("*.lock"))) == 2
            assert not (owners / "dead.lock").exists()


@contextmanager
def child_of(token: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A child process as the tool host starts it, in a group of its own."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"],
        env={**os.environ, CHILD_TOKEN_VARIABLE: token},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    try:
        yield child
    finally:
        child.kill()
        child.wait(10)
        child.stdout.close()


@pytest.mark.parametrize("with_pid", [True, False])
async def test_children_of_dead_owners_are_ended_and_those_of_the_living_are_not(
    data_dir: Path, server: OllamaServer, with_pid: bool
) -> None:
    async with open_test_core(data_dir, server) as core:
        with child_of("orphan") as orphan, child_of("alive") as alive:
            for token, child, owner in (("orphan", orphan, "dead"), ("alive", alive, core.runs._owner_id)):
                pid = child.pid if with_pid else None
                started = psutil.Process(child.pid).create_time() if with_pid else None
                change(
                    data_dir, "INSERT INTO children VALUES (?, ?, 'tool', ?, ?)", token, owner, pid, started
                )
            async with open_test_core(data_dir, server):
                await asyncio.to_thread(orphan.wait, 10)
                assert alive.poll() is None
                database = paths_of(data_dir).database
                assert rows_of(database, "SELECT token FROM children") == [("alive",)]
        change(data_dir, "DELETE FROM children")


async def test_a_process_that_only_has_the_number_of_an_orphan_is_left_alone(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server):
        pass
    with child_of("another") as stranger:
        change(data_dir, "INSERT INTO children VALUES ('t', 'dead', 'tool', ?, 1.0)", stranger.pid)
        async with open_test_core(data_dir, server):
            assert stranger.poll() is None
            assert rows_of(paths_of(data_dir).database, "SELECT * FROM children") == []


async def test_any_claim_ends_the_children_of_a_process_that_died_meanwhile(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        with child_of("orphan") as orphan:
            started = psutil.Process(orphan.pid).create_time()
            change(
                data_dir,
                "INSERT INTO children VALUES ('orphan', 'dead', 'tool', ?, ?)",
                orphan.pid,
                started,
            )
            await say(core, None, "A new conversation")
            await asyncio.to_thread(orphan.wait, 10)
        assert rows_of(paths_of(data_dir).database, "SELECT * FROM children") == []
