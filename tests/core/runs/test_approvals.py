"""A tool call that nobody allowed waits for the user: asked once, decided by a row, made at most once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sophos_desktop.core.agent.tools_node import DENIED
from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import Role, ToolStatus
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ApprovalNeeded, RunStarted, ToolCallStarted
from sophos_desktop.core.domain.policy import Policy
from sophos_desktop.core.domain.run import RunStatus
from tests.support.core_fixture import (
    LINES,
    append,
    calls,
    end_of,
    facts,
    followed,
    lines_of,
    open_test_core,
    say,
    transcript,
    until_let_go,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

ASKED = {"lines": {key: value for key, value in LINES["lines"].items() if key != "approval"}}
"""A server that the user said nothing about: its tools are asked about."""


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


@pytest.fixture(name="asking")
async def _asking(data_dir: Path, server: OllamaServer) -> AsyncIterator[Core]:
    async with open_test_core(data_dir, server, mcp=ASKED) as opened:
        yield opened


async def ask_for(core: Core, server: OllamaServer, *made: dict[str, object]) -> str:
    """A run that waits for a decision on these calls; gives its conversation."""
    server.script(calls(*made), Reply(pieces=("Done.",)))
    handle, events = await say(core, None, "Write")
    assert end_of(events).status == "waiting"
    assert len(facts(events, ApprovalNeeded)) == len(made)
    assert facts(events, ToolCallStarted) == []
    await until_let_go(core, handle)
    return handle.conversation_id


async def results(core: Core, conversation: str) -> list[tuple[ToolStatus | None, str]]:
    messages = await core.conversations.messages(conversation)
    return [(m.tool_status, m.text) for m in messages if m.role is Role.TOOL]


async def test_an_allowed_call_is_made_once_and_the_run_goes_on(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    assert (question.why, question.tool, question.attempt) == ("approval", "append_line", 0)
    assert "trust" in question.reason
    assert lines_of(file) == []
    await asking.decisions.decide(conversation, question.tool_call_id, "allow")
    events = await followed(await asking.runs.proceed(conversation))
    assert (end_of(events).status, len(facts(events, RunStarted))) == ("completed", 1)
    assert lines_of(file) == ["one"]
    assert await results(asking, conversation) == [(ToolStatus.OK, "appended one")]
    assert await asking.decisions.permissions() == []


async def test_a_denied_call_is_not_made_and_the_model_is_told_why(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    await asking.decisions.decide(conversation, question.tool_call_id, "deny", reason="Not today")
    assert end_of(await followed(await asking.runs.proceed(conversation))).status == "completed"
    assert lines_of(file) == []
    assert await results(asking, conversation) == [(ToolStatus.DENIED, f"{DENIED} Reason: Not today")]


async def test_changed_arguments_are_checked_and_are_those_that_are_sent(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    with pytest.raises(SophosError) as caught:
        await asking.decisions.decide(conversation, question.tool_call_id, "allow", args={"text": 7})
    assert caught.value.code is ErrorCode.BAD_REQUEST
    args = {**question.args, "text": "two"}
    await asking.decisions.decide(conversation, question.tool_call_id, "allow", args=args)
    await followed(await asking.runs.proceed(conversation))
    assert lines_of(file) == ["two"]
    (answer,) = [m for m in await asking.conversations.messages(conversation) if m.role is Role.TOOL]
    assert answer.sent_args == args


async def test_always_holds_for_the_next_call_and_can_be_taken_back(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    await asking.decisions.decide(conversation, question.tool_call_id, "allow", always=True)
    await followed(await asking.runs.proceed(conversation))
    (permission,) = await asking.decisions.permissions("lines")
    assert (permission.tool, permission.scope, permission.decision) == ("append_line", "", Policy.ALLOW)

    server.script(calls(append(file, "two")), Reply(pieces=("Done.",)))
    _, events = await say(asking, conversation, "Again")
    assert end_of(events).status == "completed"
    assert lines_of(file) == ["one", "two"]

    assert await asking.decisions.forget("lines", "append_line") == 1
    server.script(calls(append(file, "three")))
    _, events = await say(asking, conversation, "Again")
    assert end_of(events).status == "waiting"
    assert lines_of(file) == ["one", "two"]


async def test_several_calls_are_decided_one_by_one_in_any_order(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "a"), append(file, "b"), append(file, "c"))
    first, second, third = await asking.decisions.pending(conversation)
    await asking.decisions.decide(conversation, third.tool_call_id, "allow")
    handle = await asking.runs.proceed(conversation)
    assert end_of(await followed(handle)).status == "waiting"
    await until_let_go(asking, handle)
    left = [question.tool_call_id for question in await asking.decisions.pending(conversation)]
    assert left == [first.tool_call_id, second.tool_call_id]
    assert lines_of(file) == ["c"]
    await asking.decisions.decide(conversation, second.tool_call_id, "deny")
    await asking.decisions.decide(conversation, first.tool_call_id, "allow")
    assert end_of(await followed(await asking.runs.proceed(conversation))).status == "completed"
    assert lines_of(file) == ["c", "a"]
    assert await results(asking, conversation) == [
        (ToolStatus.OK, "appended a"),
        (ToolStatus.DENIED, DENIED),
        (ToolStatus.OK, "appended c"),
    ]


async def test_a_call_that_does_not_fit_the_tool_is_answered_without_asking(
    asking: Core, server: OllamaServer
) -> None:
    server.script(calls({"name": "lines__append_line", "arguments": {"text": 7}}), Reply(pieces=("Sorry.",)))
    _, events = await say(asking, None, "Write")
    assert end_of(events).status == "completed"
    assert facts(events, ApprovalNeeded) == []


async def test_a_forbidden_tool_is_not_made_and_not_offered(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    await asking.decisions.set_permission("lines", "append_line", Policy.DENY)
    server.script(calls(append(file, "one")), Reply(pieces=("Done.",)))
    handle, events = await say(asking, None, "Write")
    assert end_of(events).status == "completed"
    ((status, text),) = await results(asking, handle.conversation_id)
    assert status is ToolStatus.DENIED
    assert "forbid" in text
    offered = [tool["function"]["name"] for tool in server.chats[0].body["tools"]]
    assert "lines__append_line" not in offered
    assert "lines__slow_append" in offered


async def test_an_open_question_survives_a_restart(data_dir: Path, server: OllamaServer, file: Path) -> None:
    async with open_test_core(data_dir, server, mcp=ASKED) as core:
        conversation = await ask_for(core, server, append(file, "one"))
    async with open_test_core(data_dir, server, mcp=ASKED) as core:
        (question,) = await core.decisions.pending()
        assert (question.conversation_id, question.why) == (conversation, "approval")
        await core.decisions.decide(conversation, question.tool_call_id, "allow")
    async with open_test_core(data_dir, server, mcp=ASKED) as core:
        server.script(Reply(pieces=("Done.",)))
        assert end_of(await followed(await core.runs.proceed(conversation))).status == "completed"
        assert lines_of(file) == ["one"]


async def test_deny_all_and_send_answers_every_question_and_sends_the_message(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "a"), append(file, "b"))
    handle = await asking.queue.deny_all_and_send(conversation, "Never mind")
    assert end_of(await followed(handle)).status == "completed"
    assert lines_of(file) == []
    assert [status for status, _ in await results(asking, conversation)] == [ToolStatus.DENIED] * 2
    assert (await transcript(asking, conversation))[-2:] == [
        ("user", "Never mind"),
        ("assistant", "Done."),
    ]
    statuses = [run.status for run in await asking.conversations.runs(conversation)]
    assert statuses == [RunStatus.CANCELLED, RunStatus.COMPLETED]
    assert await asking.queue.get(conversation) is None


async def test_stop_ends_a_run_that_waits_and_leaves_its_work_to_be_continued(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    assert await asking.neighbours.request_stop(conversation)
    assert not await asking.neighbours.request_stop(conversation), "twice in a row"
    (run,) = await asking.conversations.runs(conversation)
    assert (run.status, run.unfinished) == (RunStatus.CANCELLED, True)
    last = (await asking.conversations.trace(run.id))[-1]
    assert (last["type"], last["status"], last["resumable"]) == ("end", "cancelled", True)
    assert list(await asking.decisions.pending()) == []
    again = await asking.runs.resume(conversation)
    assert end_of(await followed(again)).status == "waiting"
    assert lines_of(file) == []


async def test_a_queued_message_is_sent_once_and_is_queued_no_longer(
    asking: Core, server: OllamaServer
) -> None:
    server.script(Reply(pieces=("Hello.",)), Reply(pieces=("Yes.",)))
    handle, _ = await say(asking, None, "Hi")
    await until_let_go(asking, handle)
    conversation = handle.conversation_id
    await asking.queue.put(conversation, "And then?")
    await asking.queue.put(conversation, "And then? Really?")
    assert await asking.queue.get(conversation) == "And then? Really?"
    assert end_of(await followed(await asking.queue.send(conversation))).status == "completed"
    with pytest.raises(SophosError) as caught:
        await asking.queue.send(conversation)
    assert caught.value.code is ErrorCode.NOT_FOUND
    assert [text for role, text in await transcript(asking, conversation) if role == "user"] == [
        "Hi",
        "And then? Really?",
    ]
