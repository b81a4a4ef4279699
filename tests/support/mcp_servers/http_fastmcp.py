"""The `mcp` library's own server over streamable HTTP, with what makes streams resumable.

`python -m tests.support.mcp_servers.http_fastmcp [PORT] [stateless]`: prints the port when it can be asked.
"""

import asyncio
import socket
import sys

import uvicorn
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp.types import JSONRPCMessage


class _Events(EventStore):
    """Everything that was said, in memory."""

    def __init__(self) -> None:
        self._said: list[tuple[StreamId, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self._said.append((stream_id, message))
        return str(len(self._said))

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        stream, _ = self._said[int(last_event_id) - 1]
        for number, (of, message) in enumerate(self._said[int(last_event_id) :], int(last_event_id) + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def _server(*, stateless: bool) -> FastMCP:
    server = FastMCP(
        "fast",
        stateless_http=stateless,
        json_response=stateless,
        event_store=None if stateless else _Events(),
        retry_interval=10,
    )

    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def interrupted(context: Context) -> str:  # type: ignore[type-arg]
        """Closes its stream on purpose, and goes on."""
        await context.close_sse_stream()
        await asyncio.sleep(0.1)
        return "after the interruption"

    @server.tool()
    async def announce(context: Context) -> str:  # type: ignore[type-arg]
        """Says on the server's own stream that the tools changed."""
        await context.session.send_tool_list_changed()
        return "announced"

    @server.tool()
    async def hang() -> str:
        await asyncio.Event().wait()
        return "never"

    return server


def main() -> None:
    """Serve until killed."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0))
    listener.listen()  # from here on, whoever connects is served
    print(listener.getsockname()[1], flush=True)
    application = _server(stateless="stateless" in sys.argv).streamable_http_app()
    uvicorn.Server(uvicorn.Config(application, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main()
