"""Reads JSON-RPC messages out of the bodies and event streams of a tool server at a URL.

Invariant: whatever the bytes are, there come out messages, ValueError or MessageTooLarge; what is kept of a
stream never grows over its bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mcp.types import JSONRPCMessage, RequestId

from sophos_desktop.core.mcp_host.wire_messages import is_answer, load, message_of, refusal

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
    """The messages of a body or an event: one, or a batch as in the protocol of 2025-03-26. What has the
    shape of an answer but names no request answers `answers`. Raises ValueError for what is no message."""
    value = load(data)
    return [_message(item, answers) for item in (value if isinstance(value, list) else [value])]


def _message(value: object, answers: RequestId | None) -> JSONRPCMessage:
    if answers is not None and isinstance(value, dict) and value.get("id") is None and is_answer(value):
        if "error" not in value:
            return refusal(answers)  # a result says whose it is
        value = {**value, "id": answers}
    return message_of(value)
