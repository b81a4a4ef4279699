"""Stop, at each moment of a run: whoever works for it is told at once, and the rest can be continued."""

import asyncio
import json
from asyncio import StreamWriter
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp.types import CallToolRequest

from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.conversation import Role, ToolStatus
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import RunStarted, TextDelta, ToolCallFinished
from tests.core.store.store_fixture import rows_of
from tests.support.core_fixture import (
    LINES,
    PATIENCE_SECONDS,
    append,
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
    until_event,
    until_let_go,
    until_lines,
)
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import NDJSON, OllamaServer, RecordedRequest, _head


class Holding(OllamaServer):
    """Keeps the next request to `held_path` waiting for ever; with `sends_head` after the answer began."""

    def __init__(self, held_path: str, *, sends_head: bool = False) -> None:
        super().__init__((FakeModel("smol:latest", ("completion", "tools", "thinking")),))
        self.held_path: str | None = held_path
        self.sends_head = sends_head
        self.arrived = asyncio.Event()
        self.request: RecordedRequest | None = None

    async def _reply(self, request: RecordedRequest, writer: StreamWriter) -> None:
        if request.path == self.held_path:
            self.held_path, self.request = None, request
            if self.sends_head:
                writer.write(_head(200, NDJSON, chunked=True))
                await writer.drain()
            self.arrived.set()
            await asyncio.Event().wait()
        await super()._reply(request, writer)


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


@pytest.mark.parametrize(
    ("held_path", "sends_head"),
    [("/api/tags", False), ("/api/chat", False), ("/api/chat", True)],
    ids=["the model is looked up", "the model loads", "the prompt is read"],
)
async def test_stop_before_the_first_token_closes_the_connection_and_leaves_the_message(
    data_dir: Path, held_path: str, *, sends_head: bool
) -> None:
    engine = Holding(held_path, sends_head=sends_head)
    async with engine, open_test_core(data_dir, engine) as core:
        handle = await core.runs.start(None, "Hi")
        await asyncio.wait_for(engine.arrived.wait(), PATIENCE_SECONDS)
        assert core.runs.stop(handle.conversation_id)
        end = await ended(handle)
        assert (end.status, end.error_code, end.resumable) == ("cancelled", None, True)
        assert engine.request is not None
        await asyncio.wait_for(engine.request.ended.wait(), PATIENCE_SECONDS)
        assert engine.request.disconnected
        await until_let_go(core, handle)
        assert await transcript(core, handle.conversation_id) == [("user", "Hi")]
        assert end_of(await followed(await core.runs.resume(handle.conversation_id))).status == "completed"
        assert await transcript(core, handle.conversation_id) == [("user", "Hi"), ("assistant", "Hello!")]


async def test_stop_while_tokens_flow_closes_the_connection_and_nothing_comes_after_it(
    core: Core, server: OllamaServer
) -> None:
    server.script(Reply(pieces=("one ", "two ", "three"), hold_after=2))
    handle = await core.runs.start(None, "Count")
    await until_event(handle, TextDelta, 2)
    core.runs.stop(handle.conversation_id)
    assert end_of(await followed(handle)).status == "cancelled"
    assert (await server.wait_ended()).disconnected
    server.release()
    await until_let_go(core, handle)
    resumed = await followed(await core.runs.resume(handle.conversation_id))
    assert isinstance(resumed[0].event, RunStarted)
    assert await transcript(core, handle.conversation_id) == [("user", "Count"), ("assistant", "Hello!")]


def logged(tmp_path: Path) -> dict[str, Any]:
    """The server with a log of everything it is sent."""
    lines = LINES["lines"]
    return {"lines": {**lines, "args": [*lines["args"], str(tmp_path / "messages.log")]}}


def messages_in(tmp_path: Path, method: str) -> list[dict[str, Any]]:
    """What the server was sent of one kind."""
    log = tmp_path / "messages.log"
    sent = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [message for message in sent if message.get("method") == method]


async def until_cancelled(tmp_path: Path, count: int) -> list[Any]:
    """The request ids that the server was told to cancel, once there are so many."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            told = messages_in(tmp_path, "notifications/cancelled")
            if len(told) >= count:
                return [message["params"]["requestId"] for message in told]
            await asyncio.sleep(0.01)


async def test_stop_while_tools_hang_cancels_each_request_and_drops_the_late_answers(
    data_dir: Path, server: OllamaServer, file: Path, tmp_path: Path
) -> None:
    async with open_test_core(data_dir, server, mcp=logged(tmp_path)) as core:
        server.script(calls(slow_append(file, "one", 1.0), slow_append(file, "two", 1.0), append(file, "x")))
        handle = await core.runs.start(None, "Write")
        await until_lines(file, 3)
        await until_event(handle, ToolCallFinished)
        core.runs.stop(handle.conversation_id)
        end = await ended(handle)
        assert (end.status, end.resumable) == ("cancelled", True)
        hanging = [
            message["id"]
            for message in messages_in(tmp_path, "tools/call")
            if message["params"]["name"] == "slow_append"
        ]
        assert sorted(await until_cancelled(tmp_path, 2)) == sorted(hanging)
        # Longer than the late answers take: they are there when this call is answered.
        late = {"file": str(file), "text": "later", "seconds": 1.5}
        assert not (await core.direct_calls.call("lines", "slow_append", late)).is_error
        await until_let_go(core, handle)
        rows = rows_of(
            paths_of(data_dir).database, "SELECT tool, state, result IS NULL FROM tool_attempts ORDER BY tool"
        )
        assert [row[:2] for row in rows] == [
            ("append_line", "finished"),
            ("slow_append", "started"),
            ("slow_append", "started"),
        ]
        _, events = await say(core, handle.conversation_id, "What happened?")
        assert end_of(events).status == "completed"
        told = [m for m in await core.conversations.messages(handle.conversation_id) if m.role is Role.TOOL]
        assert [message.tool_status for message in told] == [
            ToolStatus.INTERRUPTED,
            ToolStatus.INTERRUPTED,
            ToolStatus.OK,
        ]
        assert sorted(lines_of(file)) == ["later", "one", "two", "x"]


async def test_a_request_whose_id_is_0_is_cancelled_too(
    data_dir: Path, server: OllamaServer, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = mcp.ClientSession.send_request

    async def send_request(self: Any, request: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(request.root, CallToolRequest):
            self._request_id = 0
        return await original(self, request, *arguments, **options)

    monkeypatch.setattr(mcp.ClientSession, "send_request", send_request)
    async with open_test_core(data_dir, server, mcp=logged(tmp_path)) as core:
        server.script(calls(slow_append(file, "slow")))
        handle = await core.runs.start(None, "Write")
        await until_lines(file, 1)
        core.runs.stop(handle.conversation_id)
        assert (await ended(handle)).status == "cancelled"
        assert await until_cancelled(tmp_path, 1) == [0]


async def test_stop_while_a_call_waits_for_approval_leaves_the_question_to_the_resume(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    asking = {"lines": {key: value for key, value in LINES["lines"].items() if key != "approval"}}
    async with open_test_core(data_dir, server, mcp=asking) as core:
        server.script(calls(append(file, "x")))
        handle, events = await say(core, None, "Write")
        assert end_of(events).status == "waiting"
        await until_let_go(core, handle)
        assert not core.runs.stop(handle.conversation_id), "nothing runs"
        assert await core.neighbours.request_stop(handle.conversation_id)
        assert (await core.conversations.find_run(handle.run_id)).status.value == "cancelled"
        assert await core.decisions.pending() == []
        assert not await core.neighbours.request_stop(handle.conversation_id), "twice changes nothing"
        assert (await core.conversations.find(handle.conversation_id)).resumable
        again = await core.runs.resume(handle.conversation_id)
        assert end_of(await followed(again)).status == "waiting"
        await until_let_go(core, again)
        (question,) = await core.decisions.pending(handle.conversation_id)
        await core.decisions.decide(handle.conversation_id, question.tool_call_id, "allow")
        going_on = await core.runs.proceed(handle.conversation_id)
        assert end_of(await followed(going_on)).status == "completed"
        assert lines_of(file) == ["x"]


async def test_after_a_stop_while_it_waits_a_new_message_settles_the_call_as_never_made(
    data_dir: Path, server: OllamaServer, file: Path
) -> None:
    asking = {"lines": {key: value for key, value in LINES["lines"].items() if key != "approval"}}
    async with open_test_core(data_dir, server, mcp=asking) as core:
        server.script(calls(append(file, "x")))
        handle, _ = await say(core, None, "Write")
        await until_let_go(core, handle)
        with pytest.raises(SophosError) as caught:
            await core.runs.start(handle.conversation_id, "Something else")
        assert caught.value.code is ErrorCode.APPROVAL_PENDING
        assert await core.neighbours.request_stop(handle.conversation_id)
        _, events = await say(core, handle.conversation_id, "Something else")
        assert end_of(events).status == "completed"
        answered = [
            m for m in await core.conversations.messages(handle.conversation_id) if m.role is Role.TOOL
        ]
        assert [message.tool_status for message in answered] == [ToolStatus.INTERRUPTED]
        assert "not" in answered[0].text
        assert lines_of(file) == []


async def test_two_stops_in_a_row_in_a_hanging_call_end_it_once(
    data_dir: Path, server: OllamaServer, file: Path, tmp_path: Path
) -> None:
    async with open_test_core(data_dir, server, mcp=logged(tmp_path)) as core:
        server.script(calls(slow_append(file, "slow")))
        handle = await core.runs.start(None, "Write")
        await until_lines(file, 1)
        assert core.runs.stop(handle.conversation_id)
        assert core.runs.stop(handle.conversation_id)
        events = await followed(handle)
        assert end_of(events).status == "cancelled"
        await until_let_go(core, handle)
        assert not core.runs.stop(handle.conversation_id)
        assert len(await until_cancelled(tmp_path, 1)) == 1
        assert [record.status.value for record in await core.conversations.runs(handle.conversation_id)] == [
            "cancelled"
        ]
