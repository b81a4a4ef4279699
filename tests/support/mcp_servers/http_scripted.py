"""A tool server over HTTP on loopback that answers as the test says, byte by byte if need be.

Invariant: what arrived is kept in order; nobody's connection is left when the server has ended. What the
test does not script is answered as by an honest server: one tool, JSON, a session, no stream of its own.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

PATIENCE_SECONDS = 20.0
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Received:
    """One request, whole."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Json:
        """The message in the body."""
        found: Json = json.loads(self.body)
        return found

    @property
    def kind(self) -> str:
        """The method of the message; `reply` for an answer of ours; the HTTP method where there is none."""
        if self.method != "POST":
            return self.method
        return str(self.message.get("method", "reply"))

    def answer(self, **result: Any) -> Json:
        """The answer to the request in the body."""
        return {"jsonrpc": "2.0", "id": self.message["id"], "result": result}

    def text(self, text: str) -> Json:
        """The answer to a tool call."""
        return self.answer(content=[{"type": "text", "text": text}])


class Reply:
    """The response to one request, while it is written."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.is_over = False

    async def write(self, data: bytes) -> None:
        """Bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    async def whole(self, status: int, body: bytes = b"", **headers: str) -> None:
        """A whole response; `content_type="text/html"` becomes the header Content-Type."""
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *_lines(headers)]
        await self.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def json(self, value: Any, status: int = 200, **headers: str) -> None:
        """A whole response that holds JSON."""
        await self.whole(status, json.dumps(value).encode(), content_type="application/json", **headers)

    async def begin_events(self, **headers: str) -> None:
        """The head of a stream of events."""
        lines = ["HTTP/1.1 200 X", "Content-Type: text/event-stream", "Transfer-Encoding: chunked"]
        await self.write("\r\n".join([*lines, *_lines(headers), "", ""]).encode())

    async def chunk(self, data: bytes) -> None:
        """A piece of the stream."""
        await self.write(b"%x\r\n%s\r\n" % (len(data), data))

    async def event(self, message: Json | None, event_id: str = "", retry: int | None = None) -> None:
        """An event; without a message it only carries its id."""
        lines = [f"id: {event_id}"] if event_id else []
        lines += [f"retry: {retry}"] if retry is not None else []
        lines += [f"data: {json.dumps(message) if message is not None else ''}", "", ""]
        await self.chunk("\n".join(lines).encode())

    async def end_events(self) -> None:
        """The stream ends as it should."""
        await self.write(b"0\r\n\r\n")

    def cut(self) -> None:
        """The connection ends."""
        self.is_over = True
        self._writer.close()

    async def until_gone(self) -> None:
        """Wait until the client has closed the connection."""
        self.is_over = True
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await self._reader.read(65536):
                    pass
        except ConnectionError:
            return


Answer = Callable[[Received, Reply], Awaitable[None]]


@dataclass(slots=True)
class HttpScript:
    """A running server. `answers` goes before the honest ones, by `Received.kind`, or `*` for all."""

    url: str
    session_id: str | None = "session-1"
    answers: dict[str, Answer] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def kinds(self) -> list[str]:
        """What arrived, in order."""
        return [request.kind for request in self.received]

    def all_of(self, kind: str) -> list[Received]:
        """The requests of one kind."""
        return [request for request in self.received if request.kind == kind]

    async def until(self, kind: str, times: int = 1) -> Received:
        """Wait for the request of that kind that is the `times`-th."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(found := self.all_of(kind)) < times:
                self.arrived.clear()
                await self.arrived.wait()
        return found[times - 1]

    async def respond(self, request: Received, reply: Reply) -> None:
        """Answer one request."""
        self.received.append(request)
        self.arrived.set()
        scripted = self.answers.get(request.kind) or self.answers.get("*")
        await (scripted or self.honest)(request, reply)

    async def honest(self, request: Received, reply: Reply) -> None:
        """What a server without peculiarities answers."""
        if request.kind == "initialize":
            headers = {"mcp_session_id": self.session_id} if self.session_id is not None else {}
            version = request.message["params"]["protocolVersion"]
            information = {"name": "scripted", "version": "1"}
            await reply.json(
                request.answer(protocolVersion=version, capabilities={"tools": {}}, serverInfo=information),
                200,
                **headers,
            )
        elif request.kind == "tools/list":
            await reply.json(request.answer(tools=[{"name": "echo", "inputSchema": {"type": "object"}}]))
        elif request.kind == "tools/call":
            await reply.json(request.text(str(request.message["params"]["arguments"].get("text", ""))))
        elif request.kind == "GET":
            await reply.whole(405)
        elif request.kind == "DELETE":
            await reply.whole(200)
        else:
            await reply.whole(202)


@asynccontextmanager
async def scripted_http(tls: ssl.SSLContext | None = None, **answers: Answer) -> AsyncIterator[HttpScript]:
    """A server; `tools_call=…` scripts the answers to `tools/call`."""
    script = HttpScript("")
    script.answers |= {name.replace("_", "/"): answer for name, answer in answers.items()}
    writers: set[asyncio.StreamWriter] = set()
    idle = asyncio.Event()
    idle.set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script.connections += 1
        writers.add(writer)
        idle.clear()
        try:
            while (request := await _read_request(reader, writer)) is not None:
                reply = Reply(reader, writer)
                await script.respond(request, reply)
                if reply.is_over:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # a client that has had enough
        finally:
            writer.close()
            writers.discard(writer)
            if not writers:
                idle.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    script.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/mcp"
    try:
        yield script
    finally:
        server.close()
        # The client has closed its connections by now, so every handler comes to its end.
        async with asyncio.timeout(PATIENCE_SECONDS):
            await idle.wait()
        await server.wait_closed()


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Received | None:
    if (start := await reader.read(1)) in (b"", b"\x16"):
        if start:  # TLS, which servers without it answer like this
            writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            await writer.drain()
        return None
    head = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, target, headers, body)


def _lines(headers: dict[str, str]) -> list[str]:
    return [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
