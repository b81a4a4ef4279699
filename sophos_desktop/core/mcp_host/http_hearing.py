"""Hands on what a tool server at a URL says: the messages of its bodies and event streams.

Invariant: an answer that cannot be read is one all the same: whoever asked gets an error at once, and not a
time-out; what answers nobody is noted and survived.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import httpx
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

from sophos_desktop.core.mcp_host.http_errors import UNREADABLE, Refused
from sophos_desktop.core.mcp_host.http_exchange import Asked, HttpLimits, SessionHeaders, body_of, chunks_of
from sophos_desktop.core.mcp_host.http_messages import EventParser, ServerEvent, messages_in
from sophos_desktop.core.mcp_host.wire_messages import looks_like_an_answer, refusal

_SHOWN_BYTES = 200


class HttpHearing:
    """What one transport hears. Lives as long as the transport's session."""

    def __init__(
        self,
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
        session: SessionHeaders,
        limits: HttpLimits,
        note: Callable[[str], None],
    ) -> None:
        self._to_session = to_session
        self._session = session
        self._limits = limits
        self._note = note

    async def take_body(self, response: httpx.Response, asked: Asked) -> None:
        """Pass on the messages of a body. Raises MessageTooLarge, Refused, httpx.HTTPError."""
        await self._take(
            await body_of(response, self._limits.maximum_message_bytes), asked, is_all_there_is=True
        )

    async def take_events(self, response: httpx.Response, asked: Asked) -> None:
        """Pass on what a stream says until it ends or breaks. Raises MessageTooLarge, Refused."""
        parser = EventParser(self._limits.maximum_message_bytes)
        try:
            async with asyncio.timeout(None) as patience, aclosing(chunks_of(response)) as chunks:
                async for chunk in chunks:
                    for event in parser.feed(chunk):
                        await self._take_event(event, asked)
                    if asked.is_answered and patience.when() is None:
                        # To its end, so that the connection can be used again; but not for long.
                        now = asyncio.get_running_loop().time()
                        patience.reschedule(now + self._limits.rest_seconds)
        except (TimeoutError, httpx.HTTPError):
            return

    async def _take_event(self, event: ServerEvent, asked: Asked) -> None:
        # An event that only sets the pause brings nothing: else it could make us ask for ever.
        asked.events += bool(event.data.strip()) or event.event_id not in (None, asked.event_id)
        asked.event_id = event.event_id or asked.event_id
        if event.retry_seconds is not None:
            asked.retry_seconds = event.retry_seconds
        if event.name in ("", "message") and event.data.strip():
            await self._take(event.data, asked, is_all_there_is=False)

    async def _take(self, data: bytes, asked: Asked, *, is_all_there_is: bool) -> None:
        try:
            messages = messages_in(data, asked.request_id)
        except ValueError:
            shown = data[:_SHOWN_BYTES].decode("utf-8", "replace")
            self._note(f"no message: {' '.join(shown.split())}")
            is_answer = is_all_there_is or looks_like_an_answer(data)
            if asked.request_id is None or asked.is_answered or not is_answer:
                return
            if asked.initializes:
                raise Refused(UNREADABLE, lost=True) from None
            messages = [refusal(asked.request_id)]
        for message in messages:
            await self._hand_on(message, asked)

    async def _hand_on(self, message: JSONRPCMessage, asked: Asked) -> None:
        root = message.root
        if isinstance(root, JSONRPCResponse | JSONRPCError) and str(root.id) == str(asked.request_id):
            asked.is_answered = True
            if asked.initializes and isinstance(root, JSONRPCResponse):
                self._session.learn_version(root.result)
        await self._to_session.send(SessionMessage(message))
