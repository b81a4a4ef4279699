"""What a server says by itself over streamable HTTP, and how its stream is taken up again."""

import asyncio
from contextlib import suppress

import pytest

from sophos_desktop.core.mcp_host.http_errors import SESSION_LOST
from sophos_desktop.core.mcp_host.http_exchange import Asked, HttpLimits
from tests.core.mcp_host.http_sessions import PATIENCE_SECONDS, initialized
from tests.support.mcp_servers.http_scripted import HttpScript, Received, Reply, scripted_http

NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
PING = {"jsonrpc": "2.0", "id": "ping-1", "method": "ping"}


async def test_the_servers_own_messages_arrive_and_its_requests_are_answered() -> None:
    async def speak(_request: Received, reply: Reply) -> None:
        await reply.begin_events()
        await reply.event(NOTIFICATION)
        await reply.event(PING)
        await reply.until_gone()

    async with scripted_http(GET=speak) as server, initialized(server.url) as session:
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await session.told.get() == "notifications/tools/list_changed"
        replied = await server.until("reply")
        assert replied.message == {"jsonrpc": "2.0", "id": "ping-1", "result": {}}
        assert server.all_of("GET")[0].headers["accept"] == "text/event-stream"


async def test_a_stream_that_ends_is_taken_up_after_its_last_event() -> None:
    async with scripted_http() as server:

        async def speak(request: Received, reply: Reply) -> None:
            await reply.begin_events()
            if len(server.all_of("GET")) <= 10:
                await reply.event(NOTIFICATION, event_id=f"event-{len(server.all_of('GET'))}")
                reply.cut()
            else:
                await reply.until_gone()

        server.answers["GET"] = speak
        async with initialized(server.url) as session:
            last = await server.until("GET", times=11)
            assert last.headers["last-event-id"] == "event-10"
            async with asyncio.timeout(PATIENCE_SECONDS):
                for _ in range(10):
                    assert await session.told.get() == "notifications/tools/list_changed"
            assert session.notes == []


async def close_at_once(_request: Received, reply: Reply) -> None:
    await reply.begin_events()
    await reply.end_events()


async def fail(_request: Received, reply: Reply) -> None:
    await reply.whole(503)


async def only_set_the_pause(_request: Received, reply: Reply) -> None:
    await reply.begin_events()
    await reply.chunk(b"retry: 0\n\n")
    await reply.end_events()


@pytest.mark.parametrize("answer", [close_at_once, fail, only_set_the_pause])
async def test_a_stream_that_brings_nothing_is_given_up_after_five_tries(answer: object) -> None:
    async with scripted_http() as server:
        server.answers["GET"] = answer  # type: ignore[assignment]
        async with initialized(server.url) as session:
            await _until_noted(session.notes)
            assert session.notes == ["its own messages are no longer heard: it keeps closing the stream"]
            assert server.kinds().count("GET") == 5
            assert await session.call(text="still there") == "still there"


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_without_a_stream_of_its_own_is_fine(status: int) -> None:
    async def refuse(_request: Received, reply: Reply) -> None:
        await reply.whole(status)

    async with scripted_http(GET=refuse) as server, initialized(server.url) as session:
        await server.until("GET")
        assert await session.call(text="x") == "x"
        assert session.notes == []
        assert server.kinds().count("GET") == 1


async def test_a_session_that_is_gone_when_the_stream_is_taken_up_ends_the_transport() -> None:
    async with scripted_http() as server:

        async def speak(_request: Received, reply: Reply) -> None:
            if len(server.all_of("GET")) == 1:
                await close_at_once(_request, reply)
            else:
                await reply.whole(404)

        server.answers["GET"] = speak
        async with initialized(server.url) as session:
            assert await session.end() == SESSION_LOST


async def test_a_server_that_is_gone_for_good_ends_the_transport_after_five_tries() -> None:
    stopped: list[HttpScript] = []
    opened = asyncio.Event()
    stop = asyncio.Event()

    async def serve() -> None:
        async with scripted_http() as server:

            async def speak(_request: Received, reply: Reply) -> None:
                await reply.begin_events()
                opened.set()
                await stop.wait()
                reply.cut()

            server.answers["GET"] = speak
            stopped.append(server)
            ready.set()
            await stop.wait()

    ready = asyncio.Event()
    serving = asyncio.ensure_future(serve())
    async with asyncio.timeout(PATIENCE_SECONDS):
        await ready.wait()

    # The connection that initialize left idle is closed by its server, as a process that ends does it.
    async def answer_once(request: Received, reply: Reply) -> None:
        await stopped[0].honest(request, reply)
        reply.cut()

    stopped[0].answers |= {"initialize": answer_once, "notifications/initialized": answer_once}
    async with initialized(stopped[0].url) as session:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await opened.wait()
        stop.set()
        end = await session.end()
        assert end.sentence.startswith("Nobody answers at")
        assert end.again
    await serving


async def test_a_server_that_asks_without_end_and_takes_no_reply_is_not_answered_without_end() -> None:
    async def ask(_request: Received, reply: Reply) -> None:
        await reply.begin_events()
        with suppress(ConnectionError):
            for number in range(300):
                await reply.event({"jsonrpc": "2.0", "id": number, "method": "ping"})
        await reply.event(NOTIFICATION)
        await reply.until_gone()

    async def hang(_request: Received, reply: Reply) -> None:
        await reply.until_gone()

    async with scripted_http(GET=ask, reply=hang) as server:
        limits = HttpLimits(leave_seconds=0.2)
        async with initialized(server.url, limits=limits) as session:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await session.told.get()
            assert await session.call(text="x") == "x"
            assert set(session.notes) == {"it asks without taking our replies: one was dropped"}
            assert len(server.all_of("reply")) <= 64


def test_pauses_grow_from_what_the_server_wants_and_stay_within_their_bounds() -> None:
    limits = HttpLimits()
    eager, patient, unasked = Asked(retry_seconds=0.0), Asked(retry_seconds=3600.0), Asked()
    assert [eager.pause_seconds(limits, failures) for failures in range(4)] == [0.1, 0.2, 0.4, 0.8]
    assert [unasked.pause_seconds(limits, failures) for failures in range(4)] == [0.5, 1.0, 2.0, 4.0]
    assert patient.pause_seconds(limits, 0) == 30.0


async def _until_noted(notes: list[str]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not notes:  # noqa: ASYNC110 - a list that has no event
            await asyncio.sleep(0.01)
