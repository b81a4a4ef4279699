"""Reads JSON-RPC messages out of the bodies and event streams of a tool server at a URL.

Invariant: whatever the bytes are, there come out messages, ValueError or MessageTooLarge; what is kept of a
stream never grows over its bound.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mcp.types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, RequestId
from pydantic import ValidationError

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ECHOED_CHARACTERS = 4096


class MessageTooLarge(Exception):
    """A body or an event is over its bound."""


def is_header_text(text: str) -> bool:
    """True for what a server gave that can be sent back in a header."""
    return text.isascii() and text.isprintable() and len(text) <= _ECHOED_CHARACTERS


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One server-sent event, complete. `event_id` is the last one seen on the stream."""

    name: str
    data: bytes
    event_id: str | None
    retry_seconds: float | None


class EventParser:
    """Splits bytes into server-sent events, as the HTML standard says. Lives as long as its stream."""

    def __init__(self, maximum_bytes: int) -> None:
        self._maximum_bytes = maximum_bytes
        self._open_line = bytearray()
        self._after_return = False
        self._at_start = True
        self._data = bytearray()
        self._name = ""
        self._event_id: str | None = None
        self._retry_seconds: float | None = None
        self._has_fields = False

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that the chunk completes. Raises MessageTooLarge."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_return = False
        if not chunk:
            return
        self._after_return = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._extend(part)
            line, self._open_line = bytes(self._open_line), bytearray()
            if (event := self._take_line(line)) is not None:
                yield event
        self._extend(rest)

    def _extend(self, part: bytes) -> None:
        self._open_line += part
        if len(self._open_line) + len(self._data) > self._maximum_bytes:
            raise MessageTooLarge

    def _take_line(self, line: bytes) -> ServerEvent | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._complete()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data += value + b"\n"
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field == b"id" and is_header_text(event_id := value.decode("utf-8", "replace")):
            self._event_id = event_id
        elif field == b"retry" and value.isdigit() and len(value) < 10:
            self._retry_seconds = int(value) / 1000
        else:
            return None
        self._has_fields = True
        return None

    def _complete(self) -> ServerEvent | None:
        if not self._has_fields:
            return None
        data = bytes(self._data.removesuffix(b"\n"))
        event = ServerEvent(self._name, data, self._event_id, self._retry_seconds)
        self._data, self._name = bytearray(), ""
        self._retry_seconds, self._has_fields = None, False
        return event


def messages_in(data: bytes, answers: RequestId | None) -> list[JSONRPCMessage]:
    """The messages of a body or an event: one, or a batch as in the protocol of 2025-03-26. An error that
    names no request is the answer to `answers`. Raises ValueError for what is no message."""
    value = _load(data)
    return [_message(item, answers) for item in (value if isinstance(value, list) else [value])]


def _message(value: object, answers: RequestId | None) -> JSONRPCMessage:
    if isinstance(value, dict) and "error" in value and value.get("id") is None and answers is not None:
        value = {**value, "id": answers}
    try:
        return JSONRPCMessage.model_validate(value)
    except (ValidationError, RecursionError):
        if isinstance(value, dict) and "method" not in value and ("result" in value or "error" in value):
            request_id = value.get("id")
            if isinstance(request_id, int | str) and not isinstance(request_id, bool):
                words = "it answered with something that is no result of the protocol"
                error = ErrorData(code=INTERNAL_ERROR, message=words)
                return JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))
        raise ValueError("no message of the protocol") from None


def _load(data: bytes) -> object:
    try:
        value = json.loads(data)
        if not _SURROGATE.search(data):
            return value
        # Halves of surrogate pairs are no text that could be stored or sent on.
        text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        return json.loads(text.decode("utf-16", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
