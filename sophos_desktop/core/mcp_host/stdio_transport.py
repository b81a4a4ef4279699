"""Carries JSON-RPC messages between a child's pipes and an `mcp.ClientSession`.

Invariant: a line that is no message is noted with its number and survived; a request that was withdrawn
before it was written is never written, and one that was written is known by its id (`SentRequest`).
"""

import asyncio
import json
import logging
import math
import re
from dataclasses import dataclass
from types import TracebackType

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp.types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest, RequestId
from pydantic import ValidationError

from sophos_desktop.core.mcp_host.child import ServerChild
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)
_SHOWN_CHARACTERS = 200
_MAXIMUM_WAITING_MESSAGES = 1_000
_ANSWER_ID = re.compile(rb'"id"\s*:\s*([0-9]{1,15})\s*[,}]')
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


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
        value: object = None
        try:
            # Six times faster on a line of 60 MB than letting pydantic parse it for each kind of message.
            value = _load(line)
            return JSONRPCMessage.model_validate(value)
        except (ValueError, ValidationError, RecursionError):
            if (refusal := _refusal(value) or _refusal_of_unread(line, value)) is not None:
                return refusal
            shown = line[:_SHOWN_CHARACTERS].decode("utf-8", "replace").strip()
            self._tail.note(f"stdout line {self._line_number}, no message: {shown}")
            return None


def _refusal(value: object) -> JSONRPCMessage | None:
    """Stands for an answer that is none of the protocol: who asked need not wait for the time-out."""
    if not isinstance(value, dict) or "method" in value or not ("result" in value or "error" in value):
        return None
    request_id = value.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, int | str):
        return None
    return _answer_for(request_id)


def _answer_for(request_id: RequestId) -> JSONRPCMessage:
    words = "it answered with something that is no result of the protocol"
    error = ErrorData(code=INTERNAL_ERROR, message=words)
    return JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


def _refusal_of_unread(line: bytes, value: object) -> JSONRPCMessage | None:
    """The same for an answer that is no JSON, if its beginning says whose answer it is."""
    found = _ANSWER_ID.search(line[:_SHOWN_CHARACTERS]) if value is None else None
    return None if found is None or b'"method"' in line[:_SHOWN_CHARACTERS] else _answer_for(int(found[1]))


def _load(line: bytes) -> object:
    value = json.loads(line.decode("utf-8", "replace"))
    if not _SURROGATE.search(line):
        return value
    # Halves of surrogate pairs are no text that could be stored or sent on.
    text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.loads(text)


def _report(error: BaseException) -> None:
    _log.error("the connection to a tool server failed", exc_info=error)
