"""Turns with tools on a real server: each call runs once, in its place, and no error of a tool ends a run."""

from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import ToolStatus
from sophos_desktop.core.domain.events import MessageStored, ToolCallFinished, ToolCallStarted
from tests.support.core_fixture import (
    LINES,
    OLLAMA,
    append,
    calls,
    end_of,
    facts,
    followed,
    lines_of,
    open_test_core,
    say,
    slow_append,
    transcript,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


@pytest.mark.parametrize("with_ids", [True, False])
async def test_two_calls_alike_in_one_turn_both_run(
    tool_core: Core, server: OllamaServer, file: Path, with_ids: bool
) -> None:
    same = append(file, "same")
    server.script(calls(same, same, calls_have_ids=with_ids), "Done.")
    handle, events = await say(tool_core, None, "Twice, please")
    assert end_of(events).status == "completed"
    assert lines_of(file) == ["same", "same"]
    messages = await tool_core.conversations.messages(handle.conversation_id)
    ids = [message.tool_call_id for message in messages if message.tool_call_id]
    assert ids == [call.id for call in messages[1].tool_calls] == [f"{messages[1].id}:{i}" for i in (0, 1)]


async def test_an_id_that_the_server_gives_again_and_again_confuses_nothing(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    for text in ("one", "two", "three"):
        server.script(calls(append(file, text)))
    server.script("Done.")
    handle, events = await say(tool_core, None, "Three, one by one")
    assert end_of(events).usage.tool_calls == 3
    assert lines_of(file) == ["one", "two", "three"]
    results = [text for role, text in await transcript(tool_core, handle.conversation_id) if role == "tool"]
    assert results == ["appended one", "appended two", "appended three"]
    sent = server.chats[-1].body["messages"]
    assert len({m["tool_call_id"] for m in sent if m["role"] == "tool"}) == 3


async def test_four_calls_at_once_are_told_and_stored_in_their_order(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    server.script(calls(slow_append(file, "a", 0.3), append(file, "b"), append(file, "c"), append(file, "d")))
    handle, events = await say(tool_core, None, "Four")
    assert sorted(lines_of(file)) == ["a", "b", "c", "d"]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    thread = await tool_core.conversations.messages(handle.conversation_id)
    assert [fact.message for fact in facts(events, MessageStored)] == thread
    assert [m.text for m in thread if m.tool_call_id] == [
        "appended a, slowly",
        "appended b",
        "appended c",
        "appended d",
    ]
    started = {fact.tool_call_id for fact in facts(events, ToolCallStarted)}
    finished = {fact.tool_call_id for fact in facts(events, ToolCallFinished)}
    assert started == finished == {call.id for call in thread[1].tool_calls}
    conversation = await tool_core.conversations.find(handle.conversation_id)
    assert conversation.message_count == len(thread) == 7


async def test_after_its_checkpoint_no_result_is_left_in_the_journal(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    server.script(calls(append(file, "a"), append(file, "b")))
    handle, _ = await say(tool_core, None, "Two")
    attempts = await tool_core.runs._stores.journal.attempts(handle.conversation_id)
    assert [(attempt.state, attempt.result) for attempt in attempts] == [("finished", None)] * 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"name": "lines__append_line", "arguments": {"file": 7}}, "do not fit the tool's schema"),
        ({"name": "lines__append_line", "arguments": "{oops"}, "no JSON"),
        ({"name": "lines__append_line", "arguments": {"file": "f", "text": 10**30}}, "more than 64 bits"),
        ({"name": "lines__forget", "arguments": {}}, "There is no tool called lines__forget"),
    ],
)
async def test_a_call_that_cannot_be_made_is_an_error_and_the_run_goes_on(
    tool_core: Core, server: OllamaServer, file: Path, call: dict[str, Any], said: str
) -> None:
    server.script(calls(call, append(file, "fine")), "I see.")
    handle, events = await say(tool_core, None, "Try")
    assert end_of(events).status == "completed"
    results = [m for m in await tool_core.conversations.messages(handle.conversation_id) if m.tool_call_id]
    assert [m.tool_status for m in results] == [ToolStatus.ERROR, ToolStatus.OK]
    assert said in results[0].text
    assert lines_of(file) == ["fine"]


async def test_arguments_in_a_string_are_taken_if_they_are_an_object(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    arguments = f'{{"file": "{file}", "text": "from a string"}}'
    server.script(calls({"name": "lines__append_line", "arguments": arguments}), "Done.")
    await say(tool_core, None, "Go")
    assert lines_of(file) == ["from a string"]


async def test_the_step_limit_ends_a_run_and_a_resume_gives_it_as_many_again(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    settings = OLLAMA + "[answer]\nstep_limit = 4\n"
    async with open_test_core(data_dir, server, mcp=LINES, settings=settings) as core:
        for number in range(5):
            server.script(calls(append(file, str(number))))
        server.script("At last.")
        handle, events = await say(core, None, "Go")
        for written in (2, 4):
            end = end_of(events)
            assert (end.status, end.error_code, end.resumable) == ("failed", "RECURSION_LIMIT", True)
            assert "4 steps" in str(end.error_message)
            assert len(lines_of(file)) == written
            events = await followed(await core.runs.resume(handle.conversation_id))
        assert end_of(events).status == "completed"
        assert lines_of(file) == ["0", "1", "2", "3", "4"]
        assert (await transcript(core, handle.conversation_id))[-1] == ("assistant", "At last.")


@pytest.mark.parametrize("limit", [3, 5])
async def test_a_run_that_ends_with_its_last_step_is_complete(
    data_dir: Path, server: OllamaServer, file: Path, limit: int
) -> None:
    settings = OLLAMA + f"[answer]\nstep_limit = {limit}\n"
    async with open_test_core(data_dir, server, mcp=LINES, settings=settings) as core:
        server.script(*(calls(append(file, str(number))) for number in range(limit // 2)), "At last.")
        _, events = await say(core, None, "Go")
        assert end_of(events).status == "completed"
        assert len(server.chats) == limit // 2 + 1


async def test_a_plain_answer_needs_a_step_limit_of_one(data_dir: Path, server: OllamaServer) -> None:
    async with open_test_core(data_dir, server, settings=OLLAMA + "[answer]\nstep_limit = 1\n") as core:
        handle, events = await say(core, None, "Go")
        assert end_of(events).status == "completed", end_of(events).error_message
        _, events = await say(core, handle.conversation_id, "Again")
        assert end_of(events).status == "completed", end_of(events).error_message


async def test_an_answer_with_text_and_calls_shows_both(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    server.script(Reply(pieces=("I write ", "it."), calls=(append(file, "x"),)), "Written.")
    handle, _ = await say(tool_core, None, "Go")
    assert await transcript(tool_core, handle.conversation_id) == [
        ("user", "Go"),
        ("assistant", "I write it."),
        ("tool", "appended x"),
        ("assistant", "Written."),
    ]
