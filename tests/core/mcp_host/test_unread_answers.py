"""An answer that cannot be read ends its call at once: nobody waits for the time-out."""

import pytest
from mcp.types import JSONRPCError, JSONRPCResponse

from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.core.mcp_host.stdio_transport import StdioTransport


class _NoChild:
    """Nothing is read from it here."""


def parsed(line: bytes) -> object:
    """What the session would get for a line of a server."""
    transport = StdioTransport(_NoChild(), StderrTail())  # type: ignore[arg-type]
    for stream in (
        transport.write_stream,
        transport.read_stream,
        transport._from_session,
        transport._to_session,
    ):
        stream.close()
    message = transport._parsed(line)
    return None if message is None else message.root


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"result":{"content":' + b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":7,"result":{"n":' + b"1" * 5_000 + b"}}",
        b'{"jsonrpc":"2.0","id":7,"result":{',
    ],
)
def test_its_call_is_told(line: bytes) -> None:
    answer = parsed(line)
    assert isinstance(answer, JSONRPCError)
    assert answer.id == 7


def test_bytes_that_are_no_text_are_replaced() -> None:
    answer = parsed(b'{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"caf\xe9"}]}}')
    assert isinstance(answer, JSONRPCResponse)
    assert answer.result["content"][0]["text"] == "caf\ufffd"


@pytest.mark.parametrize(
    "line", [b"Listening on 7", b'{"method":"x","id":7,"params":', b'{"id":"a","result":{']
)
def test_what_answers_nobody_is_only_noted(line: bytes) -> None:
    assert parsed(line) is None
