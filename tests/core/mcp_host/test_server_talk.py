"""What we send back to a server holds no more than we let it."""

from mcp.types import JSONRPCMessage, JSONRPCRequest

from sophos_desktop.core.mcp_host.call_notes import CallsUnderWay
from sophos_desktop.core.mcp_host.server_talk import ServerTalk
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.foundation.clock import SystemClock


def test_a_request_whose_id_is_too_long_to_be_sent_back_is_dropped_and_noted() -> None:
    tail = StderrTail()
    posted: list[JSONRPCMessage] = []
    talk = ServerTalk(
        CallsUnderWay(SystemClock(), tail),
        tail,
        post=posted.append,
        is_awaited=lambda _: False,
        on_list_changed=lambda _: None,
    )
    for request_id in ("x" * 4_096, "x" * 4_097, 7):
        request = JSONRPCRequest(jsonrpc="2.0", id=request_id, method="ping")
        assert not talk.is_awaited_answer(JSONRPCMessage(request))
    assert [message.root.id for message in posted] == ["x" * 4_096, 7]  # type: ignore[union-attr]
    assert tail.lines() == ("[a request was dropped: its id is too long to be sent back]",)
