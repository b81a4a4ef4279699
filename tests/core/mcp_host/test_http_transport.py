"""A session over streamable HTTP: what is sent, what comes back, what a call is told when it does not."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from mcp.shared.exceptions import McpError

from sophos_desktop.core.mcp_host.http_errors import SESSION_LOST, lost_words
from sophos_desktop.core.mcp_host.http_exchange import HttpLimits
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest
from tests.core.mcp_host.http_sessions import PATIENCE_SECONDS, connected, initialized
from tests.support.mcp_servers.http_scripted import Received, Reply, scripted_http

NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


async def hang(_request: Received, reply: Reply) -> None:
    """Takes the request and never answers."""
    await reply.until_gone()


async def test_the_session_id_and_the_version_are_kept_and_sent_and_the_session_is_deleted() -> None:
    async with scripted_http() as server:
        async with initialized(server.url, {"Authorization": "Bearer token-1"}) as session:
            assert await session.call(text="hello") == "hello"
            await server.until("GET")
        first, *others = server.received
        assert (first.kind, "mcp-session-id" in first.headers) == ("initialize", False)
        assert {request.headers["mcp-session-id"] for request in others} == {"session-1"}
        version = first.message["params"]["protocolVersion"]
        assert {request.headers["mcp-protocol-version"] for request in others} == {version}
        assert {request.headers["authorization"] for request in server.received} == {"Bearer token-1"}
        assert server.kinds()[:2] == ["initialize", "notifications/initialized"]
        assert server.kinds()[-1] == "DELETE"
        assert session.transport.end_words() is None
        assert session.notes == []


async def test_without_a_session_id_none_is_sent_and_nothing_is_deleted() -> None:
    async with scripted_http() as server:
        server.session_id = None
        async with initialized(server.url) as session:
            assert await session.call(text="x") == "x"
        assert not any("mcp-session-id" in request.headers for request in server.received)
        assert "DELETE" not in server.kinds()


async def test_an_answer_may_come_as_events_and_its_connection_is_used_again() -> None:
    async def events(request: Received, reply: Reply) -> None:
        await reply.begin_events()
        await reply.chunk(b": a comment\r\n\r\nevent: other\r\ndata: none of ours\r\n\r\n")
        await reply.event(NOTIFICATION)
        await reply.event(request.text("from events"))
        await reply.end_events()

    async with scripted_http(tools_call=events) as server, initialized(server.url) as session:
        await server.until("GET")
        before = server.connections
        for _ in range(5):
            assert await session.call() == "from events"
        assert await session.told.get() == "notifications/tools/list_changed"
        assert server.connections <= before + 1


async def test_calls_run_side_by_side() -> None:
    both = asyncio.Barrier(2)

    async def meet(request: Received, reply: Reply) -> None:
        await both.wait()
        await reply.json(request.text("met"))

    async with scripted_http(tools_call=meet) as server, initialized(server.url) as session:
        texts = await asyncio.gather(session.call(), session.call())
        assert list(texts) == ["met", "met"]


async def test_a_lost_session_ends_the_transport_and_the_call_is_not_repeated() -> None:
    async def forget(_request: Received, reply: Reply) -> None:
        await reply.json({"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "who?"}}, 404)

    async with scripted_http(tools_call=forget) as server:
        async with initialized(server.url) as session:
            sent = SentRequest()
            await session.failing_call(sent)
            assert sent.request_id is not None
            assert await session.end() == SESSION_LOST
            assert SESSION_LOST.again
        assert server.kinds().count("tools/call") == 1
        assert "DELETE" not in server.kinds()
        server.answers.clear()
        async with initialized(server.url) as again:
            assert await again.call(text="new session") == "new session"


async def test_a_400_that_names_the_session_is_a_lost_session_too() -> None:
    async def forget(_request: Received, reply: Reply) -> None:
        await reply.json({"error": {"message": "Bad Request: No valid session ID provided"}}, 400)

    async with scripted_http(tools_call=forget) as server, initialized(server.url) as session:
        await session.failing_call()
        assert await session.end() == SESSION_LOST


async def test_a_cut_stream_is_taken_up_after_the_last_event_with_an_id() -> None:
    async def cut(_request: Received, reply: Reply) -> None:
        await reply.begin_events()
        await reply.event(None, event_id="event-7", retry=10)
        reply.cut()

    async with scripted_http(tools_call=cut) as server, initialized(server.url) as session:
        await server.until("GET")
        resumed = 0

        async def resume(_request: Received, reply: Reply) -> None:
            nonlocal resumed
            resumed += 1
            await reply.begin_events()
            if resumed == 1:
                await reply.event(None, event_id="event-8")
                reply.cut()
            else:
                await reply.event(server.all_of("tools/call")[0].text("at last"), event_id="event-9")
                await reply.end_events()

        server.answers["GET"] = resume
        assert await session.call() == "at last"
        assert [request.headers.get("last-event-id") for request in server.all_of("GET")] == [
            None,
            "event-7",
            "event-8",
        ]
        assert server.kinds().count("tools/call") == 1


async def cut_before_any_id(request: Received, reply: Reply) -> None:
    await reply.begin_events()
    await reply.event(NOTIFICATION)
    reply.cut()


async def cut_before_the_head(_request: Received, reply: Reply) -> None:
    reply.cut()


async def cut_in_the_body(_request: Received, reply: Reply) -> None:
    await reply.write(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
    reply.cut()


async def answer_nothing(_request: Received, reply: Reply) -> None:
    await reply.whole(202)


async def fail(_request: Received, reply: Reply) -> None:
    await reply.whole(502)


async def answer_another(request: Received, reply: Reply) -> None:
    await reply.json({"jsonrpc": "2.0", "id": 4711, "result": {}})


@pytest.mark.parametrize(
    "answer",
    [cut_before_any_id, cut_before_the_head, cut_in_the_body, answer_nothing, fail, answer_another],
)
async def test_a_call_without_its_answer_is_lost_and_the_session_goes_on(answer: Any) -> None:
    async with scripted_http(tools_call=answer) as server, initialized(server.url) as session:
        sent = SentRequest()
        error = await session.failing_call(sent)
        assert sent.request_id is not None
        assert lost_words(error.error) == error.error.message != ""
        del server.answers["tools/call"]
        assert await session.call(text="next") == "next"
        assert server.kinds().count("tools/call") == 2


async def test_a_stream_that_cannot_be_taken_up_is_given_up_after_five_tries() -> None:
    async def cut(_request: Received, reply: Reply) -> None:
        await reply.begin_events()
        await reply.event(None, event_id="event-1")
        reply.cut()

    async with scripted_http(tools_call=cut) as server, initialized(server.url) as session:
        await server.until("GET")
        server.answers["GET"] = cut_before_the_head
        error = await session.failing_call()
        assert lost_words(error.error)
        assert server.kinds().count("GET") == 1 + 5


async def test_when_nobody_listens_nothing_was_sent() -> None:
    async with scripted_http() as server:
        async with initialized(server.url) as session:
            await server.until("GET")
        url = server.url
    async with connected(url) as session:
        sent = SentRequest()
        await session.failing_call(sent)
        assert sent.request_id is None
        end = await session.end()
        assert end.sentence.startswith("Nobody answers at 127.0.0.1:")
        assert end.again


async def test_a_request_withdrawn_before_it_is_written_is_never_written() -> None:
    async with scripted_http() as server, initialized(server.url) as session:
        sent = SentRequest(withdrawn=True)
        waiting = asyncio.ensure_future(session.call(sent=sent))
        assert await session.call(text="later") == "later"
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        assert sent.request_id is None
        assert server.kinds().count("tools/call") == 1


async def test_a_cancelled_call_loses_its_connection_and_the_server_is_told_its_id() -> None:
    gone = asyncio.Event()

    async def watch(_request: Received, reply: Reply) -> None:
        await reply.until_gone()
        gone.set()

    async with scripted_http(tools_call=watch) as server, initialized(server.url) as session:
        sent = SentRequest()
        waiting = asyncio.ensure_future(session.call(sent=sent))
        called = await server.until("tools/call")
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        session.withdraw(sent)
        told = await server.until("notifications/cancelled")
        assert told.message["params"]["requestId"] == called.message["id"] == sent.request_id
        async with asyncio.timeout(PATIENCE_SECONDS):
            await gone.wait()
        del server.answers["tools/call"]
        assert await session.call(text="alive") == "alive"


async def test_what_is_posted_last_still_arrives_before_the_session_is_deleted() -> None:
    async with scripted_http(tools_call=hang) as server:
        async with initialized(server.url) as session:
            sent = SentRequest()
            waiting = asyncio.ensure_future(session.call(sent=sent))
            await server.until("tools/call")
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting
            session.withdraw(sent)
        assert server.kinds()[-2:] == ["notifications/cancelled", "DELETE"]


@pytest.mark.parametrize("answer", ["JSON", "one event", "an endless line"])
async def test_a_message_over_the_bound_is_lost_and_its_connection_closed(answer: str) -> None:
    gone = asyncio.Event()

    async def flood(_request: Received, reply: Reply) -> None:
        kind = "application/json" if answer == "JSON" else "text/event-stream"
        await reply.write(f"HTTP/1.1 200 X\r\nContent-Type: {kind}\r\n\r\n".encode())
        with suppress(ConnectionError):
            await reply.write(b"id: 1\n\n" if kind != "application/json" else b"[")
            while True:
                await reply.write((b"data: " + b"x" * 1000 + b"\n") if answer == "one event" else b"x" * 1000)
        gone.set()
        reply.cut()

    async with scripted_http(tools_call=flood) as server:
        limits = HttpLimits(maximum_message_bytes=100_000)
        async with initialized(server.url, limits=limits) as session:
            await server.until("GET")
            error = await session.failing_call()
            assert lost_words(error.error) == "It sent a message that is too large"
            async with asyncio.timeout(PATIENCE_SECONDS):
                await gone.wait()
            assert server.kinds().count("GET") == 1


async def test_leaving_is_bounded_where_the_server_answers_nothing_and_finished_although_cancelled() -> None:
    async with scripted_http() as server:
        inside = asyncio.Event()

        async def stay() -> None:
            async with initialized(server.url, limits=HttpLimits(leave_seconds=1.0)):
                inside.set()
                await asyncio.Event().wait()

        server.answers["DELETE"] = hang
        staying = asyncio.ensure_future(stay())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await inside.wait()
            staying.cancel()
            await server.until("DELETE")
            staying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await staying


async def test_a_server_that_hangs_at_the_initialized_notification_holds_nothing_up_for_long() -> None:
    async with scripted_http() as server:
        server.answers["notifications/initialized"] = hang
        async with initialized(server.url, limits=HttpLimits(notify_seconds=0.1)) as session:
            assert await session.call(text="x") == "x"
            assert session.notes == ["it did not take a message within 0.1 seconds"]


async def test_garbage_in_a_stream_is_noted_and_survived() -> None:
    async def garbage(request: Received, reply: Reply) -> None:
        await reply.begin_events()
        await reply.chunk(b"data: Listening on port 3000 with token-secret\n\n")
        await reply.event(request.text("after"))
        await reply.end_events()

    headers = {"X-Key": "token-secret"}
    async with scripted_http(tools_call=garbage) as server, initialized(server.url, headers) as session:
        assert await session.call() == "after"
        assert session.notes == ["no message: Listening on port 3000 with [hidden]"]


async def test_an_answer_that_is_no_result_of_the_protocol_is_an_error_at_once() -> None:
    async def wrong(request: Received, reply: Reply) -> None:
        await reply.json({"jsonrpc": "1.0", "id": request.message["id"], "result": "text"})

    async with scripted_http(tools_call=wrong) as server, initialized(server.url) as session:
        with pytest.raises(McpError, match="no result of the protocol"):
            await session.call()
