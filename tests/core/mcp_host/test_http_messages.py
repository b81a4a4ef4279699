"""Event streams and bodies of a tool server at a URL, cut anywhere and of any kind."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

from sophos_desktop.core.mcp_host.http_messages import (
    EventParser,
    MessageTooLarge,
    ServerEvent,
    is_header_text,
    messages_in,
)

STREAM = (
    "\ufeffid: 1\r\ndata: first\r\ndata:second \r\n\r\n"
    ": comment\n\n"
    "event: other\rdata: é\r\r"
    "retry: 1500\nid: 2\ndata:\n\n"
    "unknown: field\n\n"
    "retry: soon\ndata\n\n"
    "data: never ended"
).encode()
EVENTS = [
    ServerEvent("", b"first\nsecond ", "1", None),
    ServerEvent("other", "é".encode(), "1", None),
    ServerEvent("", b"", "2", 1.5),
    ServerEvent("", b"", "2", None),
]


def parsed(chunks: list[bytes], maximum_bytes: int = 1000) -> list[ServerEvent]:
    parser = EventParser(maximum_bytes)
    return [event for chunk in chunks for event in parser.feed(chunk)]


def test_a_stream_is_split_as_the_standard_says() -> None:
    assert parsed([STREAM]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_it_does_not_matter_where_the_stream_is_cut(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(STREAM)]
    assert parsed([STREAM[left:right] for left, right in pairwise(cuts)]) == EVENTS


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_bytes_make_the_parser_fail(chunks: list[bytes]) -> None:
    parsed(chunks)


@pytest.mark.parametrize("line", [b"data: x\n", b"data: ", b"x"])
def test_an_event_over_its_bound_is_refused(line: bytes) -> None:
    with pytest.raises(MessageTooLarge):
        parsed([line] * 1001)


def test_many_events_below_the_bound_are_fine() -> None:
    assert len(parsed([b"data: " + b"x" * 900 + b"\n\n"] * 50)) == 50


@pytest.mark.parametrize(
    "event_id", ["é", "\0", "x" * 5000, "tab\there"], ids=["accent", "zero", "long", "tab"]
)
def test_an_id_that_cannot_be_sent_back_is_not_kept(event_id: str) -> None:
    assert not is_header_text(event_id)
    (event,) = parsed([f"id: good\nid: {event_id}\ndata: x\n\n".encode()], 10_000)
    assert event.event_id == "good"


def test_a_body_holds_a_message_or_a_batch() -> None:
    one = b'{"jsonrpc": "2.0", "id": 3, "result": {}}'
    (message,) = messages_in(one, 3)
    assert message.root == JSONRPCResponse(jsonrpc="2.0", id=3, result={})
    batch = messages_in(b'[{"jsonrpc": "2.0", "method": "notifications/x"}, %s]' % one, 3)
    assert [type(message.root) for message in batch] == [JSONRPCNotification, JSONRPCResponse]


@pytest.mark.parametrize("request_id", [b"null", b"7"])
def test_an_error_without_an_id_answers_the_request(request_id: bytes) -> None:
    body = b'{"jsonrpc": "2.0", "id": %s, "error": {"code": -1, "message": "no"}}' % request_id
    (message,) = messages_in(body, 7)
    assert isinstance(message.root, JSONRPCError)
    assert message.root.id == 7


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[" * 100_000, b"5", b'"text"', b"{}", b'{"id": true, "result": 1}']
)
def test_what_is_no_message_raises_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        messages_in(body, 1)


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    (message,) = messages_in(b'{"jsonrpc": "2.0", "id": 1, "result": {"a": "\\ud83d"}}', 1)
    result: dict[str, Any] = message.root.result  # type: ignore[union-attr]
    assert result == {"a": "\ufffd"}
