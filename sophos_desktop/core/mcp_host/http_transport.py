"""Carries JSON-RPC messages between a tool server at a URL and an `mcp.ClientSession`: streamable HTTP.

Written on httpx, not on the library's own client: that one cannot say whether a request was sent, tells
nobody of an answer that was cut, bounds no body, and waits without end for a server that is gone.
Invariant: a request that was withdrawn before it was written is never written; one that was written and
gets no answer is answered with `ExchangeLost`; nothing is ever sent twice; nothing is left after leaving.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from types import TracebackType

import anyio
import httpx
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from sophos_desktop.core.mcp_host.child import finish
from sophos_desktop.core.mcp_host.http_errors import (
    BROKEN,
    NO_ANSWER,
    SESSION_LOST,
    TOO_LARGE,
    ExchangeLost,
    HttpEnd,
    Refused,
    connection_problem,
    content_problem,
    is_unreached,
    shown_url,
    without_secrets,
)
from sophos_desktop.core.mcp_host.http_exchange import (
    EVENTS,
    JSON,
    Asked,
    HttpClient,
    HttpLimits,
    NotPossible,
    SessionHeaders,
    check,
    head_of,
    media_type,
)
from sophos_desktop.core.mcp_host.http_hearing import HttpHearing
from sophos_desktop.core.mcp_host.http_messages import MessageTooLarge
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)
_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)
_ACCEPTED_BODY_BYTES = 65536
_NO_STREAM = (404, 405)
# What is on its way at once without anybody waiting for it, each over a connection of its own. Replies are
# the server's to cause, by asking; the rest, such as that a call is cancelled, are as many as our own calls.
_MAXIMUM_REPLIES = 64
_MAXIMUM_NOTICES = 1_000


class _Withdrawn(Exception):
    """Nobody wants the request any more, and nothing of it was written."""


class HttpTransport:
    """The two streams of a session with one URL. Entered and left around the session."""

    read_stream: MemoryObjectReceiveStream[SessionMessage | Exception]
    write_stream: MemoryObjectSendStream[SessionMessage]
    _to_session: MemoryObjectSendStream[SessionMessage | Exception]
    _from_session: MemoryObjectReceiveStream[SessionMessage]
    _hearing: HttpHearing

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        note: Callable[[str], None],
        connect_seconds: float = 10.0,
        limits: HttpLimits | None = None,
    ) -> None:
        """`note` takes a line for the server's log. An address or a header that cannot be used raises
        nothing: the transport is then at its end as soon as it is entered."""
        self._url = url
        self._note_line = note
        self._connect_seconds = connect_seconds
        self._limits = limits or HttpLimits()
        self._client = HttpClient(url, headers, connect_seconds)
        self._tasks = TaskOwner(self._on_bug)
        self._requests: dict[RequestId, asyncio.Task[None]] = {}
        self._notices: set[asyncio.Task[None]] = set()
        self._session = SessionHeaders()
        self._end: HttpEnd | None = None
        self.ended = asyncio.Event()

    def __repr__(self) -> str:
        return f"HttpTransport({shown_url(self._url)})"

    async def __aenter__(self) -> "HttpTransport":
        self._to_session, self.read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        # Without a bound, so that posting never waits; what lies there is bounded by the calls of the runs.
        streams = anyio.create_memory_object_stream[SessionMessage](math.inf)
        self.write_stream, self._from_session = streams
        self._hearing = HttpHearing(self._to_session, self._session, self._limits, self._note)
        try:
            await self._client.start()
        except NotPossible as error:
            self._end_with(error.end)
        self._tasks.spawn(self._write(), "send a tool server's messages")
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.ended.set()
        await finish(TaskOwner(_report).spawn(self._leave(), "leave a tool server"))

    def post(self, message: JSONRPCMessage) -> None:
        """Send a message that needs no answer, without waiting. It is dropped after the end, and where too
        many are on their way. The request that a `notifications/cancelled` names loses its connection."""
        if self.ended.is_set():
            return
        root = message.root
        if isinstance(root, JSONRPCNotification) and root.method == "notifications/cancelled":
            request_id = (root.params or {}).get("requestId")
            if isinstance(request_id, int | str) and (task := self._requests.get(request_id)) is not None:
                task.cancel()
        self._begin(SessionMessage(message))

    def end_words(self) -> HttpEnd | None:
        """Why the transport ended by itself; None while it works, and if it was only left."""
        return self._end

    # Messages to the server.

    async def _write(self) -> None:
        async for item in self._from_session:
            if self.ended.is_set():
                continue  # whoever waits for an answer is told by the end of the other stream
            root = item.message.root
            if isinstance(root, JSONRPCNotification) and root.method == "notifications/initialized":
                # The server may refuse what comes before it has seen this.
                await self._exchange(item)
                self._tasks.spawn(self._listen(), "listen to a tool server")
            else:
                self._begin(item)

    def _begin(self, item: SessionMessage) -> None:
        root = item.message.root
        if isinstance(root, JSONRPCResponse | JSONRPCError):
            if len(self._notices) >= _MAXIMUM_REPLIES:
                self._note("it asks without taking our replies: one was dropped")
                return
        elif isinstance(root, JSONRPCNotification) and len(self._notices) >= _MAXIMUM_NOTICES:
            self._note("it takes nothing: a message to it was dropped")
            return
        task = self._tasks.spawn(self._exchange(item), "exchange messages with a tool server")
        if isinstance(root, JSONRPCRequest):
            self._requests[root.id] = task
            task.add_done_callback(lambda _: self._requests.pop(root.id, None))
        else:
            self._notices.add(task)
            task.add_done_callback(self._notices.discard)

    async def _exchange(self, item: SessionMessage) -> None:
        """Send one message and pass on what comes back. Every request is answered, or the transport ends."""
        root = item.message.root
        asked = Asked()
        patience = None
        if isinstance(root, JSONRPCRequest):
            asked.request_id, asked.initializes = root.id, root.method == "initialize"
        else:
            patience = self._limits.notify_seconds
        try:
            async with asyncio.timeout(patience):
                await self._carry(item, asked)
        except (_Withdrawn, *_CLOSED):
            return
        except TimeoutError:
            self._note(f"it did not take a message within {patience:g} seconds")
        except NotPossible as error:
            await self._fail(asked, Refused(error.end))
        except MessageTooLarge:
            await self._fail(asked, Refused(TOO_LARGE, lost=True))
        except Refused as error:
            await self._fail(asked, error)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = connection_problem(error, self._url, self._connect_seconds)
            if is_unreached(error) and not asked.is_sent:
                self._end_with(problem)
            else:
                await self._fail(asked, Refused(BROKEN, lost=True))

    async def _carry(self, item: SessionMessage, asked: Asked) -> None:
        body = item.message.model_dump_json(by_alias=True, exclude_none=True).encode()

        def on_send() -> None:
            if isinstance(item.metadata, SentRequest) and asked.request_id is not None:
                if item.metadata.withdrawn:
                    raise _Withdrawn
                item.metadata.request_id = asked.request_id
            asked.is_sent = True

        async with self._client.exchange("POST", self._session.for_post(), body, on_send) as response:
            await check(response, self._client.secrets)
            kind = media_type(response)
            if asked.request_id is None or response.status_code == 202:
                if kind != EVENTS:
                    await head_of(response, _ACCEPTED_BODY_BYTES)  # so that the connection can be used again
                if asked.request_id is not None:
                    raise Refused(NO_ANSWER, lost=True)
                return
            if kind not in (EVENTS, JSON):
                raise Refused(content_problem(kind), lost=True)
            if asked.initializes and not self._session.learn_id(response):
                self._note("its session id cannot be sent back, and is not used")
            if kind == EVENTS:
                await self._hearing.take_events(response, asked)
            else:
                await self._hearing.take_body(response, asked)
        if not asked.is_answered and kind == JSON:
            raise Refused(NO_ANSWER, lost=True)
        await self._resume(asked)

    async def _resume(self, asked: Asked) -> None:
        """Take up a stream that ended before the answer, after the last event that had an id."""
        failures = 0
        while not asked.is_answered:
            if asked.event_id is None or failures >= self._limits.attempts:
                raise Refused(BROKEN, lost=True)
            await asyncio.sleep(asked.pause_seconds(self._limits, failures))
            before = asked.events
            try:
                async with self._client.exchange("GET", self._session.for_stream(asked.event_id)) as response:
                    await check(response, self._client.secrets)
                    if media_type(response) != EVENTS:
                        raise Refused(BROKEN, lost=True)
                    await self._hearing.take_events(response, asked)
            except Refused as error:
                raise Refused(error.end, lost=True, ends=error.ends) from error
            except NotPossible as error:
                raise Refused(error.end, lost=True) from error
            except httpx.HTTPError as error:
                self._note(connection_problem(error, self._url, self._connect_seconds).sentence)
            failures = 0 if asked.events > before else failures + 1

    async def _fail(self, asked: Asked, refusal: Refused) -> None:
        """Tell whoever waits for the answer; end the transport where nothing more can come of it."""
        end = refusal.end
        if asked.request_id is None:
            self._note(f"a message to it was not taken: {end.sentence}")
        elif not (asked.initializes or asked.is_answered or end == SESSION_LOST):
            data = ExchangeLost(end.words) if refusal.lost else None
            error = ErrorData(code=INTERNAL_ERROR, message=end.words, data=data)
            answer = JSONRPCError(jsonrpc="2.0", id=asked.request_id, error=error)
            try:
                await self._to_session.send(SessionMessage(JSONRPCMessage(answer)))
            except _CLOSED:
                return
        if refusal.ends or asked.initializes:
            self._end_with(end)

    # Messages from the server.

    async def _listen(self) -> None:
        """Hear what the server says by itself, if it has a stream for that; take it up again when it ends."""
        asked, failures, was_open = Asked(), 0, False
        problem = BROKEN
        loop = asyncio.get_running_loop()
        while failures < self._limits.attempts:
            if was_open or failures:
                await asyncio.sleep(asked.pause_seconds(self._limits, failures))
            before, began, problem = asked.events, loop.time(), BROKEN
            try:
                async with self._client.exchange("GET", self._session.for_stream(asked.event_id)) as response:
                    if response.status_code in _NO_STREAM and not was_open:
                        return  # many servers have none
                    if response.status_code < 500:
                        await check(response, self._client.secrets)
                        if media_type(response) != EVENTS:
                            return
                        was_open = True
                        await self._hearing.take_events(response, asked)
            except _CLOSED:
                return
            except Refused as refusal:
                if refusal.end == SESSION_LOST:
                    self._end_with(SESSION_LOST)
                else:
                    self._note(f"its own messages are not heard: {refusal.end.sentence}")
                return
            except (NotPossible, MessageTooLarge) as error:
                self._note(f"its own messages are not heard: {error or TOO_LARGE.sentence}")
                return
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                problem = connection_problem(error, self._url, self._connect_seconds)
            lasted = loop.time() - began >= self._limits.lasting_seconds
            failures = 0 if asked.events > before or lasted else failures + 1
        if problem == BROKEN:
            self._note("its own messages are no longer heard: it keeps closing the stream")
        else:
            self._end_with(problem)

    # The end.

    def _end_with(self, end: HttpEnd) -> None:
        if self._end is None and not self.ended.is_set():
            self._end = end
        self.ended.set()
        self._to_session.close()

    async def _leave(self) -> None:
        deadline = asyncio.get_running_loop().time() + self._limits.leave_seconds
        if self._notices and self._end is None:
            # What was posted last, such as that a call is cancelled, is still on its way.
            await asyncio.wait(tuple(self._notices), timeout=self._limits.leave_seconds / 2)
        await self._tasks.close()
        if self._session.session_id is not None and (self._end is None or not self._end.again):
            await self._delete_session(deadline)
        await self._client.close()
        for stream in (self.write_stream, self.read_stream, self._from_session, self._to_session):
            stream.close()

    async def _delete_session(self, deadline: float) -> None:
        try:
            async with (
                asyncio.timeout_at(deadline),
                self._client.exchange("DELETE", self._session.for_delete()),
            ):
                return  # whatever it says: 405 means that it keeps its sessions
        except (TimeoutError, NotPossible, httpx.HTTPError) as error:
            self._note(f"its session was not ended: {type(error).__name__}")

    def _note(self, text: str) -> None:
        self._note_line(without_secrets(text, self._client.secrets))

    def _on_bug(self, error: BaseException) -> None:
        _report(error)
        self._end_with(HttpEnd("An error in Sophos ended the connection to it", again=True))


def _report(error: BaseException) -> None:
    _log.error("the connection to a tool server failed", exc_info=error)
