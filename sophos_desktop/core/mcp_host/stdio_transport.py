"""Carries JSON-RPC messages between a child's pipes and an `mcp.ClientSession`.

Invariant: a line that is no message is noted with its number and survived; a request that was withdrawn
before it was written is never written, and one that was written is known by its id (`SentRequest`).
"""

import asyncio
import logging
import math
from dataclasses import dataclass
from types import TracebackType

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCRequest, RequestId

from sophos_desktop.core.mcp_host.child import ServerChild
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.core.mcp_host.wire_messages import load, message_of, refusal, unread_answer_id
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)
_SHOWN_CHARACTERS = 200
_MAXIMUM_WAITING_MESSAGES = 1_000


@dataclass
class SentRequest(ClientMessageMetadata):
    """Rides on one request to the pipe. `request_id` is set when the request is about to be written,
    never before; a request `withdrawn` until then stays unwritten."""

    request_id: RequestId | None = None
    withdrawn: bool = False


class StdioTransport:
    """The two streams of a session over one child. Entered and left around the session."""

    read_stream: MemoryObjectReceiveStream[SessionMessage | Exception]
    write_stream: MemoryObjectSendStream[SessionMessage]

    def __init__(self, child: ServerChild, tail: StderrTail) -> None:
        self._child = child
        self._tail = tail
        self._tasks = TaskOwner(_report)
        self._to_session, self.read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        # Without a bound, so that posting never waits for a server that does not read its stdin; what
        # can lie there is bounded by the calls of the runs, and by `post` for the replies to requests.
        streams = anyio.create_memory_object_stream[SessionMessage](math.inf)
        self.write_stream, self._from_session = streams
        self._line_number = 0
        self.ended = asyncio.Event()

    async def __aenter__(self) -> "StdioTransport":
        self._tasks.spawn(self._read(), "read a tool server's messages")
        self._tasks.spawn(self._write(), "write a tool server's messages")
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.ended.set()
        await self._tasks.close()
        for stream in (self.write_stream, self.read_stream, self._from_session, self._to_session):
            stream.close()

    def post(self, message: JSONRPCMessage) -> None:
        """Send a message that needs no answer, without waiting. It is dropped after the end, and if the
        server asks and asks without reading our replies."""
        if self.write_stream.statistics().current_buffer_used >= _MAXIMUM_WAITING_MESSAGES:
            self._tail.note("it does not read its stdin: a message to it was dropped")
            return
        try:
            self.write_stream.send_nowait(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return

    async def _read(self) -> None:
        try:
            while (line := await self._child.next_line()) is not None:
                self._line_number += 1
                if (message := self._parsed(line)) is not None:
                    await self._to_session.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the session is being left
        finally:
            self.ended.set()
            self._to_session.close()

    async def _write(self) -> None:
        async for item in self._from_session:
            if isinstance(item.metadata, SentRequest) and isinstance(item.message.root, JSONRPCRequest):
                if item.metadata.withdrawn:
                    continue
                item.metadata.request_id = item.message.root.id
            line = item.message.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n"
            try:
                await self._child.write(line)
            except BrokenPipeError:
                continue  # the reader sees the end; whoever waits for an answer is told there

    def _parsed(self, line: bytes) -> JSONRPCMessage | None:
        if not line.strip():
            return None
        try:
            return message_of(load(line))
        except ValueError:
            if (request_id := unread_answer_id(line)) is not None:
                return refusal(request_id)
            shown = line[:_SHOWN_CHARACTERS].decode("utf-8", "replace").strip()
            self._tail.note(f"stdout line {self._line_number}, no message: {shown}")
            return None


def _report(error: BaseException) -> None:
    _log.error("the connection to a tool server failed", exc_info=error)
