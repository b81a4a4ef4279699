"""One session with a tool server, whatever carries it.

Invariant: whatever happens to a call, exactly one of these is told: its result; ToolServerDown if nothing
was written; ToolCallLost if it was written and no answer came. Who stops waiting says so to the server.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp.client.session import ClientSession
from mcp.shared.exceptions import McpError
from mcp.shared.message import SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CancelledNotification,
    CancelledNotificationParams,
    ClientRequest,
    Implementation,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    RequestParams,
    ServerCapabilities,
)
from pydantic import RootModel, ValidationError

from sophos_desktop import __version__
from sophos_desktop.core.domain.ports import ToolCallLost, ToolObserver, ToolServerDown
from sophos_desktop.core.domain.specs import ToolResult, ToolSpec
from sophos_desktop.core.mcp_host import listing
from sophos_desktop.core.mcp_host.call_notes import CallsUnderWay
from sophos_desktop.core.mcp_host.connection import ServerIdentity, Transport
from sophos_desktop.core.mcp_host.http_errors import lost_words
from sophos_desktop.core.mcp_host.results import read_tool_result
from sophos_desktop.core.mcp_host.server_talk import AwaitedAnswers, ServerTalk
from sophos_desktop.core.mcp_host.shown_text import shown
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest
from sophos_desktop.foundation.clock import Clock

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream

_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)
_INSTRUCTIONS_CHARACTERS = 4_000


class _Raw(RootModel[dict[str, Any]]):
    """A result as it came: what is in it is read by us, entry by entry."""


class SessionRefused(Exception):
    """The server answered, but not so that it could be used. The message says what it said."""


class SessionLost(Exception):
    """The server's output ended."""


class ServerSession:
    """A session, from before `initialize` to its end. Entered, used and left in one task."""

    def __init__(
        self,
        client: ClientSession,
        transport: Transport,
        identity: ServerIdentity,
        under_way: "_Requests",
        calls: CallsUnderWay,
        note: Callable[[str], None],
    ) -> None:
        self._client = client
        self._transport = transport
        self._identity = identity
        self._requests = under_way
        self._calls = calls
        self._note = note
        self._exact_names: Mapping[str, str] = {}
        self._offers: ServerCapabilities = ServerCapabilities()

    @property
    def ended(self) -> asyncio.Event:
        """Set when the server's output has ended."""
        return self._transport.ended

    async def initialize(self) -> str:
        """Shake hands. Gives the server's instructions, to be shown. Raises SessionRefused or SessionLost."""
        with self._reading("initialize"), self._requests.greeting():
            greeting = await self._client.initialize()
        self._offers = greeting.capabilities
        return shown(greeting.instructions or "", _INSTRUCTIONS_CHARACTERS)

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """All usable tools, in the server's order. Raises SessionRefused or SessionLost."""
        if self._offers.tools is None:
            return ()
        found = listing.ToolListing(self._client, self._identity, self._note)
        async for entry in listing.entries(self._ask, "tools", self._note):
            found.add(entry)
        self._exact_names = found.exact_names
        return found.specs

    async def list_others(self, kind: str) -> tuple[str, ...]:
        """The URIs of its `resources` or the names of its `prompts`, to be shown; none where it does not
        offer them. Raises SessionRefused or SessionLost."""
        if getattr(self._offers, kind) is None:
            return ()
        return await listing.shown_entries(self._ask, kind, self._note)

    def request(self) -> SentRequest:
        """What will know of one call whether it was written."""
        return SentRequest()

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        timeout_seconds: float,
        observe: ToolObserver | None = None,
        sent: SentRequest | None = None,
    ) -> ToolResult:
        """Call a tool; `observe` hears what the server says meanwhile; `sent`, from `request`, tells whether
        it was written. Raises ToolServerDown, ToolCallLost; on cancellation tells the server."""
        sent = sent or SentRequest()
        try:
            with self._calls.call(tool, observe) as token:
                async with asyncio.timeout(timeout_seconds):
                    result = await self._send_call(tool, arguments, token, sent)
        except TimeoutError as error:
            self._withdraw(sent, "time-out")
            late = f"did not answer within {timeout_seconds:g} seconds"
            raise self._unanswered(sent, late, server_died=False) from error
        except asyncio.CancelledError:
            self._withdraw(sent, "stopped by the user")
            raise
        except McpError as error:
            if self._is_end(error):
                raise self._unanswered(sent, "ended during the call") from error
            if (words := lost_words(error.error)) is not None:
                raise self._unanswered(sent, f"gave no answer. {words}.") from error
            return ToolResult(f"The tool server refused the call: {error.error.message}", is_error=True)
        except _CLOSED as error:
            raise self._unanswered(sent, "ended") from error
        except ValidationError:
            text = "The tool server answered with something that is no tool result."
            return ToolResult(text, is_error=True)
        return await read_tool_result(result)

    async def _send_call(
        self, tool: str, arguments: Mapping[str, Any], token: int, sent: SentRequest
    ) -> CallToolResult:
        # Not `call_tool`: it would check the result against the output schema and lose what does not fit,
        # and it cannot carry `sent`.
        params = CallToolRequestParams(
            name=self._exact_names.get(tool, tool),
            arguments=dict(arguments),
            _meta=RequestParams.Meta(progressToken=token),
        )
        request = ClientRequest(CallToolRequest(params=params))
        with self._requests.waiting(sent):
            return await self._client.send_request(request, CallToolResult, metadata=sent)

    async def _ask(self, what: str, request: ClientRequest) -> Mapping[str, Any]:
        """The result of a request for information, as it came. Raises SessionRefused or SessionLost."""
        sent = SentRequest()
        with self._reading(what), self._requests.waiting(sent):
            try:
                answer = await self._client.send_request(request, _Raw, metadata=sent)
            except asyncio.CancelledError:
                self._withdraw(sent, "no longer needed")
                raise
        return answer.root

    def _unanswered(
        self, sent: SentRequest, what: str, *, server_died: bool = True
    ) -> ToolCallLost | ToolServerDown:
        text = f'The tool server "{self._identity.name}" {what}'
        if sent.request_id is None:
            return ToolServerDown(text)
        return ToolCallLost(text, server_died=server_died)

    def _withdraw(self, sent: SentRequest, reason: str) -> None:
        sent.withdrawn = True
        if sent.request_id is None:
            return
        params = CancelledNotificationParams(requestId=sent.request_id, reason=reason)
        notification = CancelledNotification(params=params)
        fields = notification.model_dump(by_alias=True, mode="json", exclude_none=True)
        self._transport.post(JSONRPCMessage(JSONRPCNotification(jsonrpc="2.0", **fields)))

    def _is_end(self, error: McpError) -> bool:
        """True for the library's own word that the connection is closed, not a server's error."""
        return error.error.code == CONNECTION_CLOSED and self.ended.is_set()

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Turns what a request for information may raise into the two errors of this module."""
        try:
            yield
        except _CLOSED as error:
            raise SessionLost(f"its output ended during {what}") from error
        except McpError as error:
            if self._is_end(error):
                raise SessionLost(f"its output ended during {what}") from error
            if (words := lost_words(error.error)) is not None:
                raise SessionLost(words) from error
            raise SessionRefused(f"it refused {what}: {shown(error.error.message, 500)}") from error
        except ValidationError as error:
            raise SessionRefused(f"its answer to {what} cannot be read") from error
        except RuntimeError as error:  # the library's word for a protocol version that it does not know
            raise SessionRefused(f"it cannot be used ({what}): {error}") from error


class _Requests:
    """The requests of a session that wait for their answers."""

    def __init__(self) -> None:
        self._sent: dict[int, SentRequest] = {}
        self._is_greeting = False

    @contextmanager
    def waiting(self, sent: SentRequest) -> Iterator[None]:
        """Around one request."""
        self._sent[id(sent)] = sent
        try:
            yield
        finally:
            del self._sent[id(sent)]

    @contextmanager
    def greeting(self) -> Iterator[None]:
        """Around `initialize`, which the library sends itself, so that its id is not known here."""
        self._is_greeting = True
        try:
            yield
        finally:
            self._is_greeting = False

    def is_awaited(self, answer_id: RequestId) -> bool:
        """True if a request with that id waits; a number may have come back as text."""
        try:
            number = int(answer_id)
        except ValueError:
            return False
        return self._is_greeting or any(sent.request_id == number for sent in self._sent.values())


class _Session(ClientSession):
    """The library's session, which an answer does not end that arrives in the very turn of the loop in which
    its caller stops waiting: mcp 1.30 takes the closed box of that one call for the end of all."""

    async def _handle_response(self, message: SessionMessage) -> None:
        try:
            await super()._handle_response(message)
        except _CLOSED:
            return


@asynccontextmanager
async def open_session(
    carrier: Transport,
    identity: ServerIdentity,
    *,
    clock: Clock,
    tail: StderrTail,
    on_list_changed: Callable[[str], None],
) -> AsyncIterator[ServerSession]:
    """A session over a transport, not yet initialized; leaving it leaves the transport.

    `on_list_changed` gets `tools`, `resources` or `prompts`.
    """
    async with carrier as transport:
        calls = CallsUnderWay(clock, tail)
        requests = _Requests()
        talk = ServerTalk(
            calls,
            tail,
            post=transport.post,
            is_awaited=requests.is_awaited,
            on_list_changed=on_list_changed,
        )
        # The library's session only reads, iterates and closes the stream, so any receive stream will do.
        answers = cast(
            "MemoryObjectReceiveStream[SessionMessage | Exception]",
            AwaitedAnswers(transport.read_stream, talk),
        )
        information = Implementation(name="sophos-desktop", version=__version__)
        async with _Session(answers, transport.write_stream, client_info=information) as client:
            yield ServerSession(client, transport, identity, requests, calls, tail.note)
