"""An answer and the end of its call's waiting may come in any order of turns of the loop."""

import asyncio
from typing import Self

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCRequest, JSONRPCResponse

from sophos_desktop.core.mcp_host.connection import ServerIdentity
from sophos_desktop.core.mcp_host.session import open_session
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest
from sophos_desktop.foundation.clock import SystemClock

TURNS = 12
PATIENCE_SECONDS = 3.0


class _Hand:
    """A transport whose other end is the test."""

    def __init__(self) -> None:
        streams = anyio.create_memory_object_stream[SessionMessage | Exception](10)
        self.to_session, self.read_stream = streams
        self.write_stream, self.from_session = anyio.create_memory_object_stream[SessionMessage](10)
        self.ended = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for stream in (self.to_session, self.read_stream, self.write_stream, self.from_session):
            stream.close()

    def post(self, message: JSONRPCMessage) -> None:
        """What needs no answer is of no interest here."""

    async def answer(self) -> None:
        """Take the next request off the stream as a transport does, and answer it."""
        while True:
            sent = await self.from_session.receive()
            request = sent.message.root
            if isinstance(request, JSONRPCRequest) and isinstance(sent.metadata, SentRequest):
                break
        sent.metadata.request_id = request.id
        result = {"content": [{"type": "text", "text": "answer"}]}
        reply = JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result)
        await self.to_session.send(SessionMessage(JSONRPCMessage(reply)))


@pytest.mark.parametrize("turns", range(TURNS))
async def test_an_answer_in_the_moment_of_the_cancellation_does_not_end_the_session(turns: int) -> None:
    hand = _Hand()
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        open_session(
            hand,
            ServerIdentity("by hand"),
            clock=SystemClock(),
            tail=StderrTail(),
            on_list_changed=lambda kind: None,
        ) as session,
    ):
        cancelled = asyncio.ensure_future(session.call("tool", {}, PATIENCE_SECONDS))
        await hand.answer()
        for _ in range(turns):
            await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.wait([cancelled])
        after = asyncio.ensure_future(session.call("tool", {}, PATIENCE_SECONDS))
        answering = asyncio.ensure_future(hand.answer())
        result = await after
        await answering
        assert result.text == "answer"
