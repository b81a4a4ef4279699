"""What a tool server at a URL says that cannot be read, or that nobody takes: told at once, and bounded."""

from typing import Any

import pytest
from mcp.shared.exceptions import McpError
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from sophos_desktop.core.mcp_host.http_errors import lost_words
from sophos_desktop.core.mcp_host.http_exchange import HttpLimits
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest
from tests.core.mcp_host.http_sessions import initialized, refusal
from tests.support.mcp_servers.http_scripted import Answer, Received, Reply, scripted_http


async def hang(_request: Received, reply: Reply) -> None:
    """Says no more."""
    await reply.until_gone()


def as_body(text: str) -> Answer:
    """A whole body; `ID` in it is replaced by the request's."""

    async def whole(request: Received, reply: Reply) -> None:
        body = text.replace("ID", str(request.message["id"])).encode()
        await reply.whole(200, body, content_type="application/json")

    return whole


def as_event(text: str) -> Answer:
    """The same as an event of a stream that does not end by itself."""

    async def events(request: Received, reply: Reply) -> None:
        await reply.begin_events()
        await reply.chunk(f"data: {text.replace('ID', str(request.message['id']))}\n\n".encode())
        await hang(request, reply)

    return events


@pytest.mark.parametrize("answer", [as_body, as_event])
@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc": "2.0", "id": ID, "result": {"content": [',
        '{"content": [{"type": "text", "text": "no envelope"}]}',
        '{"jsonrpc": "2.0", "result": {"content": []}}',
        '{"jsonrpc": "2.0", "id": true, "result": {}}',
        '{"jsonrpc": "2.0", "id": ID, "result": "text"}',
        "[" * 100_000,
    ],
    ids=["cut", "bare", "without an id", "with a wrong id", "no object", "deep"],
)
async def test_an_answer_that_cannot_be_read_ends_its_call_at_once(text: str, answer: Any) -> None:
    limits = HttpLimits(rest_seconds=0.1)
    scripted = scripted_http(tools_call=answer(text))
    async with scripted as server, initialized(server.url, limits=limits) as session:
        error = await session.failing_call(SentRequest())
        assert "no result of the protocol" in error.error.message
        assert lost_words(error.error) is None, "an answer came, so nothing is uncertain"
        del server.answers["tools/call"]
        assert await session.call(text="next") == "next"
        assert server.kinds().count("tools/call") == 2


async def test_a_body_that_is_no_json_at_all_is_an_answer_that_cannot_be_read() -> None:
    async with scripted_http(tools_call=as_body("Oops")) as server, initialized(server.url) as session:
        with pytest.raises(McpError, match="no result of the protocol"):
            await session.call()
        assert session.notes == ["no message: Oops"]


async def test_half_an_event_at_the_end_of_a_stream_is_an_answer_that_was_lost() -> None:
    async def half(request: Received, reply: Reply) -> None:
        await reply.begin_events()
        await reply.chunk(b'data: {"jsonrpc": "2.0", "id": 2, "result": {}}\n')
        await reply.end_events()

    async with scripted_http(tools_call=half) as server, initialized(server.url) as session:
        error = await session.failing_call()
        assert lost_words(error.error) == "The connection to it broke before it had answered"


@pytest.mark.parametrize("answer", [as_body("{"), as_event("{")], ids=["body", "stream"])
async def test_an_unreadable_answer_to_initialize_ends_the_transport_with_what_to_do(answer: Answer) -> None:
    async with scripted_http(initialize=answer) as server:
        end = await refusal(server.url)
        assert end.sentence == "It answered with something that is no message of the protocol"
        assert '"url" in mcp.json' in end.remedy
        assert not end.again


async def test_replies_that_the_server_does_not_take_are_bounded() -> None:
    reply = JSONRPCMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
    limits = HttpLimits(leave_seconds=0.1)
    async with scripted_http() as server, initialized(server.url, limits=limits) as session:
        for _ in range(100):
            session.transport.post(reply)
        assert session.notes == ["it asks without taking our replies: one was dropped"] * 36


async def test_messages_that_the_server_does_not_take_are_bounded() -> None:
    told = JSONRPCMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/x"))
    limits = HttpLimits(leave_seconds=0.1)
    async with scripted_http() as server, initialized(server.url, limits=limits) as session:
        for _ in range(1_001):
            session.transport.post(told)
        assert session.notes == ["it takes nothing: a message to it was dropped"]
