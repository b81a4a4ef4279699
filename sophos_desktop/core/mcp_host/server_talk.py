"""Reads what a server says of its own accord: notifications and requests.

Invariant: nothing that a server says here raises, waits or is believed to be well-formed; every request
whose id can be sent back is answered at once, with the protocol's "method not found" where we do not offer
what it asks for (sampling, elicitation, roots); the library's session sees nothing but the answers that
somebody waits for.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from sophos_desktop.core.domain.specs import ToolNote
from sophos_desktop.core.mcp_host.call_notes import MAXIMUM_CHARACTERS, CallsUnderWay
from sophos_desktop.core.mcp_host.shown_text import shown_line
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail

_LEVELS = frozenset(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)  # the protocol's, which are syslog's
_LIST_CHANGED = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}
_DECLINED = {
    "sampling/createMessage": "It asked for an answer of the model",
    "elicitation/create": "It asked the user a question",
    "roots/list": "It asked for the folders it may use",
}
_SHOWN_ID_CHARACTERS = 40
# The protocol asks for numbers or short texts. Ids are sent back: with a bound on how many replies wait, this
# is the bound on what they hold.
_LONGEST_ID_CHARACTERS = 4_096


class ServerTalk:
    """What one session's server says unasked. Lives as long as the session."""

    def __init__(
        self,
        calls: CallsUnderWay,
        tail: StderrTail,
        *,
        post: Callable[[JSONRPCMessage], None],
        is_awaited: Callable[[RequestId], bool],
        on_list_changed: Callable[[str], None],
    ) -> None:
        """`post` sends without waiting; `is_awaited` says whether a request with an id waits for its
        answer; `on_list_changed` gets `tools`, `resources` or `prompts`."""
        self._calls = calls
        self._tail = tail
        self._post = post
        self._is_awaited = is_awaited
        self._on_list_changed = on_list_changed

    def is_awaited_answer(self, message: JSONRPCMessage) -> bool:
        """True if the session is to see the message; everything else is dealt with here."""
        said = message.root
        if isinstance(said, JSONRPCNotification):
            self._hear(said.method, said.params or {})
        elif isinstance(said, JSONRPCRequest):
            self._reply(said)
        elif self._is_awaited(said.id):
            return True
        else:
            shown_id = shown_line(str(said.id)[:_SHOWN_ID_CHARACTERS])
            self._tail.note(f"an answer that nobody waits for was dropped (id {shown_id})")
        return False

    def _hear(self, method: str, params: Mapping[str, Any]) -> None:
        if (kind := _LIST_CHANGED.get(method)) is not None:
            self._on_list_changed(kind)
        elif method == "notifications/progress":
            progress, total, text = (params.get(key) for key in ("progress", "total", "message"))
            if (done := _number(progress)) is not None:
                said = text if isinstance(text, str) else ""
                note = ToolNote("progress", said, progress=done, total=_number(total))
                self._calls.progressed(params.get("progressToken"), note)
        elif method == "notifications/message" and "data" in params:
            level = params.get("level")
            known = level if isinstance(level, str) and level in _LEVELS else None
            self._calls.said(ToolNote("log", _log_text(params), level=known))

    def _reply(self, request: JSONRPCRequest) -> None:
        if isinstance(request.id, str) and len(request.id) > _LONGEST_ID_CHARACTERS:
            self._tail.note("a request was dropped: its id is too long to be sent back")
            return
        if request.method == "ping":
            answer = JSONRPCResponse(jsonrpc="2.0", id=request.id, result={})
            self._post(JSONRPCMessage(answer))
            return
        error = ErrorData(code=METHOD_NOT_FOUND, message=f"Method not found: {request.method[:200]}")
        self._post(JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=request.id, error=error)))
        what = _DECLINED.get(request.method, "It asked for something that Sophos does not know")
        self._calls.said(ToolNote("declined", f"{what} ({shown_line(request.method, 100)}): declined."))


class AwaitedAnswers(ObjectReceiveStream[SessionMessage | Exception]):
    """The stream that the library's session reads: a transport's, without what `ServerTalk` deals with.

    The session of mcp 1.30 logs a warning for each message that does not fit its models, and answers an
    unknown request with "invalid parameters"; that is why it does not get to see them."""

    def __init__(self, source: ObjectReceiveStream[SessionMessage | Exception], talk: ServerTalk) -> None:
        self._source = source
        self._talk = talk

    async def receive(self) -> SessionMessage | Exception:
        """The next answer that somebody waits for."""
        while True:
            item = await self._source.receive()
            if isinstance(item, SessionMessage) and self._talk.is_awaited_answer(item.message):
                return item

    async def aclose(self) -> None:
        """Close the transport's stream."""
        await self._source.aclose()


def _number(value: object) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _log_text(params: Mapping[str, Any]) -> str:
    data, logger = params.get("data"), params.get("logger")
    text = data if isinstance(data, str) else _beginning_of_json(data)
    return f"{logger[:MAXIMUM_CHARACTERS]}: {text}" if isinstance(logger, str) and logger else text


def _beginning_of_json(value: object) -> str:
    """As much of the value as JSON as can be shown: it may be huge."""
    text = ""
    try:
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            text += piece
            if len(text) > MAXIMUM_CHARACTERS:
                break
    except RecursionError:
        return "(nested too deeply to be shown)"
    return text
