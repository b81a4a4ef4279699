"""One session with a started tool server: the only module that speaks `mcp` and its LangChain adapter.

Invariant: whatever happens to a call, exactly one of these is told: its result; ToolServerDown if nothing
was written; ToolCallLost if it was written and no answer came. Who stops waiting says so to the server.
Sampling, elicitation and roots are not advertised and are declined.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.client.session import ClientSession
from mcp.shared.exceptions import McpError
from mcp.shared.session import RequestResponder
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CancelledNotification,
    CancelledNotificationParams,
    ClientRequest,
    ClientResult,
    Implementation,
    JSONRPCMessage,
    JSONRPCNotification,
    ServerNotification,
    ServerRequest,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from sophos_desktop import __version__
from sophos_desktop.core.domain.ports import ToolCallLost, ToolServerDown
from sophos_desktop.core.domain.specs import ToolAnnotations, ToolResult, ToolSpec
from sophos_desktop.core.mcp_host.child import ServerChild
from sophos_desktop.core.mcp_host.names import model_name
from sophos_desktop.core.mcp_host.results import to_tool_result
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.core.mcp_host.stdio_transport import SentRequest, StdioTransport

_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)


class SessionRefused(Exception):
    """The server answered, but not so that it could be used. The message says what it said."""


class SessionLost(Exception):
    """The server's output ended."""


class ServerSession:
    """A session, from before `initialize` to its end. Entered, used and left in one task."""

    def __init__(
        self, client: ClientSession, transport: StdioTransport, server: str, *, trusted: bool
    ) -> None:
        self._client = client
        self._transport = transport
        self._server = server
        self._trusted = trusted

    @property
    def ended(self) -> asyncio.Event:
        """Set when the server's output has ended."""
        return self._transport.ended

    async def initialize(self) -> tuple[ToolSpec, ...]:
        """Shake hands and list the tools. Raises SessionRefused or SessionLost."""
        with self._reading("initialize"):
            await self._client.initialize()
        return await self.list_tools()

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """All tools, in the server's order, all pages. Raises SessionRefused or SessionLost."""
        capabilities = self._client.get_server_capabilities()
        if capabilities is None or capabilities.tools is None:
            return ()
        with self._reading("tools/list"):
            tools = await load_mcp_tools(self._client)
        specs = {
            tool.name: self._spec(tool.name, tool.description, tool.args_schema, tool.metadata)
            for tool in tools
        }
        return tuple(specs.values())

    async def call(self, tool: str, arguments: Mapping[str, Any], timeout_seconds: float) -> ToolResult:
        """Call a tool. Raises ToolServerDown, ToolCallLost; on cancellation tells the server."""
        sent = SentRequest()
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        try:
            async with asyncio.timeout(timeout_seconds):
                # Not `call_tool`: it would check the result against the output schema and lose what
                # does not fit, and it cannot carry `sent`.
                result = await self._client.send_request(
                    ClientRequest(request), CallToolResult, metadata=sent
                )
        except TimeoutError as error:
            self._withdraw(sent, "time-out")
            text = f'The tool server "{self._server}" did not answer within {timeout_seconds:g} seconds'
            raise self._unanswered(sent, text) from error
        except asyncio.CancelledError:
            self._withdraw(sent, "stopped by the user")
            raise
        except McpError as error:
            if self._is_end(error):
                text = f'The tool server "{self._server}" ended during the call'
                raise self._unanswered(sent, text) from error
            return ToolResult(f"The tool server refused the call: {error.error.message}", is_error=True)
        except _CLOSED as error:
            raise self._unanswered(sent, f'The tool server "{self._server}" ended') from error
        except ValidationError:
            text = "The tool server answered with something that is no tool result."
            return ToolResult(text, is_error=True)
        return to_tool_result(result)

    def _unanswered(self, sent: SentRequest, text: str) -> ToolCallLost | ToolServerDown:
        return ToolServerDown(text) if sent.request_id is None else ToolCallLost(text)

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
            raise SessionRefused(f"it refused {what}: {error.error.message}") from error
        except ValidationError as error:
            raise SessionRefused(f"its answer to {what} cannot be read") from error
        except RuntimeError as error:  # the library's word for a protocol version that it does not know
            raise SessionRefused(f"it cannot be used ({what}): {error}") from error

    def _spec(
        self, tool: str, description: str, schema: object, metadata: Mapping[str, Any] | None
    ) -> ToolSpec:
        hints = metadata or {}
        return ToolSpec(
            name=model_name(self._server, tool),
            server=self._server,
            tool=tool,
            description=description,
            input_schema=schema if isinstance(schema, dict) else {},
            annotations=ToolAnnotations(
                read_only=hints.get("readOnlyHint"),
                idempotent=hints.get("idempotentHint"),
                destructive=hints.get("destructiveHint"),
                open_world=hints.get("openWorldHint"),
                title=hints.get("title"),
            ),
            trusted=self._trusted,
        )


@asynccontextmanager
async def open_session(
    child: ServerChild,
    *,
    server: str,
    trusted: bool,
    tail: StderrTail,
    on_tools_changed: Callable[[], None],
) -> AsyncIterator[ServerSession]:
    """A session over a child's pipes, not yet initialized; leaving it does not end the child."""

    async def on_message(
        message: RequestResponder[ServerRequest, ClientResult] | ServerNotification | Exception,
    ) -> None:
        # An exception here is a late answer to a call that nobody waits for any more: dropped.
        if isinstance(message, ServerNotification) and isinstance(message.root, ToolListChangedNotification):
            on_tools_changed()

    async with (
        StdioTransport(child, tail) as transport,
        ClientSession(
            transport.read_stream,
            transport.write_stream,
            message_handler=on_message,
            client_info=Implementation(name="sophos-desktop", version=__version__),
        ) as client,
    ):
        yield ServerSession(client, transport, server, trusted=trusted)
