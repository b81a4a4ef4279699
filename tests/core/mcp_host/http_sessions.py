"""Opens a session of the library's over our HTTP transport, and calls tools as the host does."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mcp.client.session import ClientSession
from mcp.shared.exceptions import McpError
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CancelledNotification,
    CancelledNotificationParams,
    ClientRequest,
    JSONRPCMessage,
    JSONRPCNotification,
    ServerNotification,
)

from sophos_desktop.core.mcp_host.http_errors import HttpEnd
from sophos_desktop.core.mcp_host.http_exchange import HttpLimits
from sophos_desktop.core.mcp_host.http_transport import HttpTransport
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest

PATIENCE_SECONDS = 20.0
# Short pauses, and patience for a busy machine where the outcome is looked at.
LIMITS = HttpLimits(first_pause_seconds=0.01, least_pause_seconds=0.01, rest_seconds=10.0, leave_seconds=10.0)


@dataclass(slots=True)
class Opened:
    """A session under test, with what the transport noted and what the server told."""

    client: ClientSession
    transport: HttpTransport
    notes: list[str]
    told: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)

    async def call(self, tool: str = "echo", sent: SentRequest | None = None, **arguments: object) -> str:
        """The text of a tool's result. Raises McpError."""
        params = CallToolRequestParams(name=tool, arguments=dict(arguments))
        request = ClientRequest(CallToolRequest(params=params))
        async with asyncio.timeout(PATIENCE_SECONDS):
            result = await self.client.send_request(
                request, CallToolResult, metadata=sent if sent is not None else SentRequest()
            )
        return "".join(part.text for part in result.content if part.type == "text")

    async def failing_call(self, sent: SentRequest | None = None, **arguments: object) -> McpError:
        """The error of a call that must not succeed."""
        try:
            text = await self.call("echo", sent, **arguments)
        except McpError as error:
            return error
        raise AssertionError(f"the call gave {text!r}")

    def withdraw(self, sent: SentRequest) -> None:
        """What the host says of a call that nobody waits for any more."""
        sent.withdrawn = True
        if sent.request_id is None:
            return
        notification = CancelledNotification(params=CancelledNotificationParams(requestId=sent.request_id))
        fields = notification.model_dump(by_alias=True, mode="json", exclude_none=True)
        self.transport.post(JSONRPCMessage(JSONRPCNotification(jsonrpc="2.0", **fields)))

    async def end(self) -> HttpEnd:
        """Why the transport ended, once it has."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.transport.ended.wait()
        end = self.transport.end_words()
        assert end is not None
        return end


@asynccontextmanager
async def connected(
    url: str, headers: Mapping[str, str] | None = None, limits: HttpLimits = LIMITS
) -> AsyncIterator[Opened]:
    """A session before `initialize`."""
    notes: list[str] = []
    told: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: object) -> None:
        if isinstance(message, ServerNotification):
            told.put_nowait(message.root.method)

    transport = HttpTransport(url, headers or {}, note=notes.append, connect_seconds=10.0, limits=limits)
    async with (
        transport,
        ClientSession(transport.read_stream, transport.write_stream, message_handler=on_message) as client,
    ):
        yield Opened(client, transport, notes, told)


@asynccontextmanager
async def initialized(
    url: str, headers: Mapping[str, str] | None = None, limits: HttpLimits = LIMITS
) -> AsyncIterator[Opened]:
    """A session after `initialize`."""
    async with connected(url, headers, limits) as opened:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await opened.client.initialize()
        yield opened


async def refusal(url: str, headers: Mapping[str, str] | None = None) -> HttpEnd:
    """Why `initialize` does not succeed."""
    async with connected(url, headers) as opened:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await opened.client.initialize()
        except McpError:
            return await opened.end()
    raise AssertionError("initialize succeeded")
