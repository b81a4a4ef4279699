"""Stop ends a run at once, wherever it is; what arrived is kept, and what had begun is told honestly."""

import asyncio
from pathlib import Path

import pytest

from sophos_desktop.core.agent.tools_node import OUTCOME_UNKNOWN, SKIPPED
from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import MessageState, Role, ToolStatus
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import (
    ApprovalNeeded,
    RunStarted,
    SittingEnded,
    TextDelta,
    ToolCallFinished,
    ToolDecided,
)
from sophos_desktop.core.runs import sitting
from sophos_desktop.core.runs.model_choice import ModelChoice
from tests.support.core_fixture import (
    PATIENCE_SECONDS,
    append,
    calls,
    end_of,
    ended,
    facts,
    followed,
    lines_of,
    say,
    slow_append,
    transcript,
    until_event,
    until_let_go,
    until_lines,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


async def test_stop_while_the_engine_is_silent_closes_the_connection(
    core: Core, server: OllamaServer
) -> None:
    server.script(Reply(pieces=("never",), hold_after=0))
    handle = await core.runs.start(None, "Hi")
    await server.wait_held()
    assert core.runs.stop(handle.conversation_id)
    end = await ended(handle)
    assert (end.status, end.error_code, end.resumable) == ("cancelled", None, True)
    request = await server.wait_ended()
    assert request.disconnected
    assert await transcript(core, handle.conversation_id) == [("user", "Hi")]


async def test_stop_while_text_flows_keeps_what_was_read(core: Core, server: OllamaServer) -> None:
    server.script(Reply(thinking=("Hm",), pieces=("one ", "two ", "never"), hold_after=3))
    handle = await core.runs.start(None, "Count")
    await until_event(handle, TextDelta, 2)
    core.runs.stop(handle.conversation_id)
    assert (await ended(handle)).status == "cancelled"
    partial = (await core.conversations.messages(handle.conversation_id))[-1]
    assert (partial.text, partial.thinking, partial.state) == ("one two ", "Hm", MessageState.STOPPED)
    await until_let_go(core, handle)
    await say(core, handle.conversation_id, "Go on")
    assert await transcript(core, handle.conversation_id) == [
        ("user", "Count"),
        ("assistant", "one two "),
        ("user", "Go on"),
        ("assistant", "Hello!"),
    ]


async def test_stop_before_anything_happened_gives_the_text_back_or_keeps_it(core: Core) -> None:
    handle = await core.runs.start(None, "Hi")
    assert core.runs.stop(handle.conversation_id)
    events = await followed(handle)
    assert [type(event.event) for event in events if isinstance(event.event, RunStarted | SittingEnded)] == [
        RunStarted,
        SittingEnded,
    ]
    assert isinstance(events[0].event, RunStarted)
    assert end_of(events).status == "cancelled"
    kept = [text for _, text in await transcript(core, handle.conversation_id)]
    draft = await core.conversations.draft(handle.conversation_id)
    assert [*kept, draft] in (["Hi", ""], ["Hi"])


async def test_stop_where_nothing_runs_says_so(core: Core) -> None:
    handle, _ = await say(core, None, "Hi")
    await until_let_go(core, handle)
    assert not core.runs.stop(handle.conversation_id)
    assert not core.runs.stop("no such conversation")


async def test_stop_when_the_answer_is_already_complete_leaves_it_complete(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = core.runs._stores.graph
    read = graph.read

    async def read_and_stop(thread_id: str) -> object:
        thread = await read(thread_id)
        if thread.message_count == 2:
            core.runs.stop(thread_id)
        return thread

    monkeypatch.setattr(graph, "read", read_and_stop)
    handle, events = await say(core, None, "Hi")
    assert (end_of(events).status, end_of(events).resumable) == ("completed", False)
    assert (await core.conversations.find_run(handle.run_id)).status.value == "completed"
    assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Hello!")]


async def stop_in_a_hanging_call(core: Core, server: OllamaServer, file: Path) -> str:
    """A run that was stopped while one of its two calls hung; the other is done."""
    server.script(calls(slow_append(file, "slow"), append(file, "quick")))
    handle = await core.runs.start(None, "Write")
    await until_lines(file, 2)
    await until_event(handle, ToolCallFinished)
    core.runs.stop(handle.conversation_id)
    end = await ended(handle)
    assert (end.status, end.resumable) == ("cancelled", True)
    await until_let_go(core, handle)
    return handle.conversation_id


async def test_a_message_after_a_stopped_call_settles_it_as_unknown(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await stop_in_a_hanging_call(tool_core, server, file)
    _, events = await say(tool_core, conversation, "What happened?")
    assert end_of(events).status == "completed"
    messages = await tool_core.conversations.messages(conversation)
    assert [message.role for message in messages] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.TOOL,
        Role.USER,
        Role.ASSISTANT,
    ]
    assert (messages[2].tool_status, messages[2].text) == (ToolStatus.INTERRUPTED, OUTCOME_UNKNOWN)
    assert messages[3].tool_call_id == messages[1].tool_calls[1].id
    assert sorted(lines_of(file)) == ["quick", "slow"]
    assert [m["role"] for m in server.chats[-1].body["messages"][1:]] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]


async def test_a_resume_after_a_stopped_call_asks_what_became_of_it(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await stop_in_a_hanging_call(tool_core, server, file)
    handle = await tool_core.runs.resume(conversation)
    events = await followed(handle)
    assert (end_of(events).status, end_of(events).resumable) == ("waiting", False)
    (asked,) = facts(events, ApprovalNeeded)
    (question,) = await tool_core.decisions.pending()
    assert question.tool_call_id == asked.tool_call_id
    assert (question.run_id, question.tool, question.why) == (handle.run_id, "slow_append", "uncertain")
    await until_let_go(tool_core, handle)

    for refused in (tool_core.runs.start(conversation, "No"), tool_core.runs.resume(conversation)):
        with pytest.raises(SophosError) as caught:
            await refused
        assert caught.value.code is ErrorCode.APPROVAL_PENDING
    with pytest.raises(SophosError) as caught:
        await tool_core.decisions.decide(conversation, asked.tool_call_id, "allow")
    assert caught.value.code is ErrorCode.BAD_REQUEST
    with pytest.raises(SophosError) as caught:
        await tool_core.decisions.decide(conversation, "nonsense", "skip")
    assert caught.value.code is ErrorCode.DECISION_STALE

    await tool_core.decisions.decide(conversation, asked.tool_call_id[-2:], "skip")
    with pytest.raises(SophosError) as caught:
        await tool_core.decisions.decide(conversation, asked.tool_call_id, "run-again")
    assert caught.value.code is ErrorCode.DECISION_STALE
    going_on = await tool_core.runs.proceed(conversation)
    assert going_on.run_id == handle.run_id
    more = await followed(going_on, events[-1].seq + 1)
    assert [event.seq for event in more] == [events[-1].seq + 1 + i for i in range(len(more))]
    assert [type(event.event) for event in more[:2]] == [ToolDecided, RunStarted]
    assert end_of(more).status == "completed"
    results = [m for m in await tool_core.conversations.messages(conversation) if m.role is Role.TOOL]
    assert [(m.tool_status, m.text) for m in results] == [
        (ToolStatus.SKIPPED, SKIPPED),
        (ToolStatus.OK, "appended quick"),
    ]
    assert sorted(lines_of(file)) == ["quick", "slow"]


async def test_a_stopped_call_that_the_user_runs_again_runs_once_more(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await stop_in_a_hanging_call(tool_core, server, file)
    await followed(await tool_core.runs.resume(conversation))
    (question,) = await tool_core.decisions.pending(conversation)
    args = {**question.args, "seconds": 0}
    await tool_core.decisions.decide(conversation, question.tool_call_id, "run-again", args=args)
    assert end_of(await followed(await tool_core.runs.proceed(conversation))).status == "completed"
    assert sorted(lines_of(file)) == ["quick", "slow", "slow"]
    results = [m for m in await tool_core.conversations.messages(conversation) if m.role is Role.TOOL]
    assert results[0].text == "appended slow, slowly"
    assert list(await tool_core.decisions.pending()) == []


async def test_a_decision_while_another_call_runs_is_taken_up_by_the_same_sitting(
    tool_core: Core, server: OllamaServer, file: Path
) -> None:
    server.script(calls(slow_append(file, "one"), slow_append(file, "two")))
    handle = await tool_core.runs.start(None, "Write")
    await until_lines(file, 2)
    tool_core.runs.stop(handle.conversation_id)
    await ended(handle)
    await until_let_go(tool_core, handle)
    waiting = await tool_core.runs.resume(handle.conversation_id)
    assert len(facts(await followed(waiting), ApprovalNeeded)) == 2
    await until_let_go(tool_core, waiting)
    first, second = await tool_core.decisions.pending()
    args = {**first.args, "seconds": 0.5}
    await tool_core.decisions.decide(handle.conversation_id, first.tool_call_id, "run-again", args=args)
    going_on = await tool_core.runs.proceed(handle.conversation_id)
    await until_lines(file, 3)
    assert tool_core.runs.works_on(going_on.run_id)
    await tool_core.decisions.decide(
        handle.conversation_id, second.tool_call_id, "result", result="It was written"
    )
    end = end_of(await followed(going_on))
    assert end.status == "completed"
    results = [
        m.text for m in await tool_core.conversations.messages(handle.conversation_id) if m.role is Role.TOOL
    ]
    assert results == [f"appended {first.args['text']}, slowly", "It was written"]
    assert len(lines_of(file)) == 3


async def test_a_second_stop_changes_nothing(core: Core, server: OllamaServer) -> None:
    server.script(Reply(pieces=("never",), hold_after=0))
    handle = await core.runs.start(None, "Hi")
    await server.wait_held()
    core.runs.stop(handle.conversation_id)
    core.runs.stop(handle.conversation_id)
    assert (await ended(handle)).status == "cancelled"


async def test_a_stop_whose_first_cancellation_is_swallowed_ends_the_run_all_the_same(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitting, "CANCEL_AGAIN_SECONDS", 0.01)
    reached, swallowed = asyncio.Event(), asyncio.Event()

    async def swallow_the_first(_: object) -> None:
        reached.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            swallowed.set()  # as a library may
        await asyncio.Event().wait()

    monkeypatch.setattr(ModelChoice, "make", swallow_the_first)
    handle = await core.runs.start(None, "Hi")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await reached.wait()
    core.runs.stop(handle.conversation_id)
    assert (await ended(handle)).status == "cancelled"
    assert swallowed.is_set()
    await until_let_go(core, handle)
