"""What was decided is a fact of the trace: when, what, for how long; told once, whoever decided it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import Role
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import RunStarted, ToolCallStarted, ToolDecided
from sophos_desktop.core.domain.policy import Policy
from sophos_desktop.core.domain.projection import steps_of
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.trace_rows import rows_of
from sophos_desktop.core.runs.following import current_sitting
from tests.core.runs.test_approvals import ASKED, ask_for
from tests.support.core_fixture import (
    append,
    calls,
    end_of,
    facts,
    followed,
    lines_of,
    open_test_core,
    paths_of,
    say,
    slow_append,
    until_event,
    until_let_go,
    until_lines,
)
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


@pytest.fixture(name="asking")
async def _asking(data_dir: Path, server: OllamaServer) -> AsyncIterator[Core]:
    async with open_test_core(data_dir, server, mcp=ASKED) as opened:
        yield opened


async def trace_of(core: Core, conversation: str) -> list[dict[str, Any]]:
    """All stored events of the conversation's only run."""
    (record,) = await core.conversations.runs(conversation)
    return await core.conversations.trace(record.id)


async def decided(core: Core, conversation: str) -> list[dict[str, Any]]:
    return [event for event in await trace_of(core, conversation) if event["type"] == "tool_decided"]


async def test_a_decision_is_in_the_trace_of_the_waiting_run_at_once_and_opens_its_next_sitting(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    args = {**question.args, "text": "two"}
    await asking.decisions.decide(conversation, question.tool_call_id, "allow", args=args, always=True)

    events = await trace_of(asking, conversation)
    assert [event["type"] for event in events[-2:]] == ["end", "tool_decided"]
    (told,) = await decided(asking, conversation)
    assert told["tool_call_id"] == question.tool_call_id
    assert (told["decision"], told["why"], told["edited"], told["always"]) == (
        "allow",
        "approval",
        True,
        True,
    )
    assert (told["left_open"], told["reason"], told["at"]) == (0, None, told["decided_at"])
    records = await asking.conversations.call_records(conversation)
    (decision,) = records[question.tool_call_id].decisions
    assert decision.decided_at == told["decided_at"]

    more = await followed(await asking.runs.proceed(conversation))
    assert [type(event.event) for event in more[:2]] == [ToolDecided, RunStarted]
    assert [event.seq for event in more] == list(range(told["seq"], told["seq"] + len(more)))
    assert len(await decided(asking, conversation)) == 1, "it is told once"


async def test_the_trace_shows_when_it_was_asked_and_decided(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    await asking.decisions.decide(conversation, question.tool_call_id, "deny", reason="Not now")
    for goes_on in (True, False):  # before the run went on, and after it
        events = await trace_of(asking, conversation)
        began = events[0]["at"]
        made = [row for step in steps_of(events) for row in rows_of(step, began, is_running=False)]
        (row,) = [row for row in made if row.kind == "question"]
        told = next(event for event in events if event["type"] == "tool_decided")
        assert (row.state, row.answer, row.reason) == ("done", "denied", "Not now")
        assert (row.began_at, row.ended_at) == (question.asked_at, told["decided_at"])
        if goes_on:
            await followed(await asking.runs.proceed(conversation))


async def test_deny_all_tells_each_decision_and_how_many_are_left(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "a"), append(file, "b"))
    assert await asking.decisions.deny_all(conversation, "No") == 2
    told = await decided(asking, conversation)
    assert [(event["decision"], event["reason"], event["left_open"]) for event in told] == [
        ("deny", "No", 1),
        ("deny", "No", 0),
    ]


async def test_a_run_that_waits_with_everything_decided_says_that_a_resume_goes_on(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "a"), append(file, "b"))
    stamps = await asking.conversations.stamps()
    for question, is_last in zip(await asking.decisions.pending(), (False, True), strict=True):
        found = await asking.conversations.find(conversation)
        assert (found.decided, found.resumable) == (False, False)
        await asking.decisions.decide(conversation, question.tool_call_id, "allow")
        (listed,) = await asking.conversations.find_all()
        assert (listed.decided, listed.resumable) == (is_last, is_last)
        assert listed.to_json()["decided"] is is_last
    assert await asking.conversations.stamps() != stamps, "every list looks again"
    await followed(await asking.runs.resume(conversation))
    (listed,) = await asking.conversations.find_all()
    assert (listed.decided, listed.resumable) == (False, False)
    assert sorted(lines_of(file)) == ["a", "b"]


async def test_what_is_decided_while_the_run_goes_on_is_told_by_the_run_with_its_time(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    async with open_test_core(data_dir, server, mcp=ASKED) as core:
        conversation = await ask_for(core, server, slow_append(file, "slow", 1.0), append(file, "b"))
        slow, other = await core.decisions.pending(conversation)
        await core.decisions.decide(conversation, slow.tool_call_id, "allow")
        handle = await core.runs.proceed(conversation)
        await until_lines(file, 1)
        async with open_test_core(data_dir, server, mcp=ASKED) as neighbour:
            await neighbour.decisions.decide(conversation, other.tool_call_id, "allow", always=True)
        events = await followed(handle)
        assert end_of(events).status == "completed"
        assert lines_of(file) == ["slow", "b"]
        first, second = facts(events, ToolDecided)
        assert (first.tool_call_id, second.tool_call_id) == (slow.tool_call_id, other.tool_call_id)
        assert (second.decision, second.always, second.edited) == ("allow", True, False)
        (decision,) = (await core.conversations.call_records(conversation))[other.tool_call_id].decisions
        assert second.decided_at == decision.decided_at
        numbers = [event["seq"] for event in await trace_of(core, conversation)]
        assert numbers == sorted(set(numbers))
        assert len(await decided(core, conversation)) == 2


async def test_a_decision_of_a_version_that_told_none_is_told_by_the_run_that_goes_on(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    async with open_test_core(data_dir, server, mcp=ASKED) as core:
        conversation = await ask_for(core, server, append(file, "one"))
        (question,) = await core.decisions.pending(conversation)
        await core.decisions.decide(conversation, question.tool_call_id, "allow")
    connection = sqlite3.connect(paths_of(data_dir).database)
    with connection:
        connection.execute("DELETE FROM trace_events WHERE event = 'tool_decided'")
    connection.close()
    async with open_test_core(data_dir, server, mcp=ASKED) as core:
        assert not (await core.conversations.find(conversation)).decided
        events = await followed(await core.runs.resume(conversation))
        (told,) = facts(events, ToolDecided)
        (decision,) = (await core.conversations.call_records(conversation))[question.tool_call_id].decisions
        assert (told.decision, told.decided_at) == ("allow", decision.decided_at)
        kinds = [type(event.event) for event in events]
        assert kinds.index(ToolDecided) < kinds.index(ToolCallStarted)


async def test_what_the_journal_has_of_a_call_shows_each_attempt_and_what_was_changed(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"), append(file, "same"))
    first, second = await asking.decisions.pending(conversation)
    args = {**first.args, "text": "two"}
    await asking.decisions.decide(conversation, first.tool_call_id, "allow", args=args)
    await asking.decisions.decide(conversation, second.tool_call_id, "allow")
    await followed(await asking.runs.proceed(conversation))
    records = await asking.conversations.call_records(conversation)
    asked = {
        call.id: call.args
        for message in await asking.conversations.messages(conversation)
        if message.role is Role.ASSISTANT
        for call in message.tool_calls
    }
    edited = records[first.tool_call_id]
    assert (edited.is_edited(asked[first.tool_call_id]), edited.sent_args) == (True, args)
    assert not records[second.tool_call_id].is_edited(asked[second.tool_call_id])
    shown = edited.to_json(asked[first.tool_call_id])
    ((attempt,), (decision,)) = shown["attempts"], shown["decisions"]
    assert shown["edited"]
    assert decision["edited"]
    assert attempt["started_at"] <= attempt["finished_at"]
    assert decision["decided_at"] <= attempt["started_at"]
    assert (attempt["args"], attempt["state"]) == (args, "finished")


def kinds_of(*names: str, running: bool) -> list[str]:
    events = [{"seq": seq, "type": name} for seq, name in enumerate(names, 1)]
    return [event["type"] for event in current_sitting(events, running=running)]


def test_what_was_decided_between_two_sittings_belongs_to_neither() -> None:
    first = ("run_started", "approval_needed", "end")
    assert kinds_of(*first, "tool_decided", running=False) == list(first)
    assert kinds_of(*first, "tool_decided", running=True) == []
    assert kinds_of(*first, "tool_decided", "run_started", running=True) == ["run_started"]
    assert kinds_of(*first, "tool_decided", "run_started", "end", running=False) == ["run_started", "end"]
    assert kinds_of(*first, "tool_decided", "end", running=False) == ["end"], "stopped while it waited"
    assert kinds_of("run_started", "tool_decided", "end", running=False)[1] == "tool_decided"


# A tool that is denied after it was asked about


async def deny(core: Core) -> None:
    await core.decisions.set_permission("lines", "append_line", Policy.DENY)


async def test_a_tool_that_was_denied_since_cannot_be_allowed_until_that_is_taken_back(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    await deny(asking)
    for always in (False, True):
        with pytest.raises(SophosError) as caught:
            await asking.decisions.decide(conversation, question.tool_call_id, "allow", always=always)
        assert caught.value.code is ErrorCode.DECISION_STALE
        assert "You forbid this tool since 20" in caught.value.title
        assert "Take that back first" in caught.value.remedy
    assert [open_.tool_call_id for open_ in await asking.decisions.pending()] == [question.tool_call_id]
    assert await decided(asking, conversation) == []
    assert await asking.decisions.forget("lines", "append_line") == 1
    await asking.decisions.decide(conversation, question.tool_call_id, "allow")
    assert end_of(await followed(await asking.runs.proceed(conversation))).status == "completed"
    assert lines_of(file) == ["one"]


async def test_a_tool_that_was_denied_after_a_call_was_allowed_is_not_sent(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    conversation = await ask_for(asking, server, append(file, "one"))
    (question,) = await asking.decisions.pending(conversation)
    await asking.decisions.decide(conversation, question.tool_call_id, "allow")
    await deny(asking)
    events = await followed(await asking.runs.proceed(conversation))
    assert end_of(events).status == "completed"
    assert facts(events, ToolCallStarted) == []
    assert lines_of(file) == []
    (answer,) = [m for m in await asking.conversations.messages(conversation) if m.role is Role.TOOL]
    assert answer.text == "This call is not allowed: You forbid this tool."


async def test_an_uncertain_call_of_a_tool_that_was_denied_since_is_not_run_again(
    asking: Core, server: OllamaServer, file: Path
) -> None:
    server.script(calls(slow_append(file, "slow")), Reply(pieces=("Done.",)))
    handle, events = await say(asking, None, "Write")
    assert end_of(events).status == "waiting"
    conversation = handle.conversation_id
    (question,) = await asking.decisions.pending(conversation)
    await asking.decisions.decide(conversation, question.tool_call_id, "allow")
    await until_let_go(asking, handle)
    going_on = await asking.runs.proceed(conversation)
    await until_event(going_on, ToolCallStarted)
    await until_lines(file, 1)
    asking.runs.stop(conversation)
    await asyncio.wait_for(going_on.wait(), 20)
    await until_let_go(asking, going_on)
    again = await asking.runs.resume(conversation)
    assert end_of(await followed(again)).status == "waiting"
    await until_let_go(asking, again)
    await asking.decisions.set_permission("lines", "slow_append", Policy.DENY)
    with pytest.raises(SophosError) as caught:
        await asking.decisions.decide(conversation, question.tool_call_id, "run-again")
    assert caught.value.code is ErrorCode.DECISION_STALE
    await asking.decisions.decide(conversation, question.tool_call_id, "skip")
    assert end_of(await followed(await asking.runs.proceed(conversation))).status == "completed"
    assert lines_of(file) == ["slow"]
    statuses = [run.status for run in await asking.conversations.runs(conversation)]
    assert statuses == [RunStatus.CANCELLED, RunStatus.COMPLETED]
