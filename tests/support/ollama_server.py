"""A scripted Ollama server on loopback: real sockets and framing, scripted words.

Invariant: it speaks the wire as a recorded real server does (a test holds it against `wire/`), refuses what
a real one refuses, and leaves no socket or task behind. Usable in a test (`async with OllamaServer()`) and
as a process: `python -m tests.support.ollama_server SCRIPT.json` prints `{"port": N}` and ends with its
stdin. In a process, `POST /control/release` opens the gate and `GET /control/requests` lists what came.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.ollama_script import (
    CREATED_AT,
    FakeModel,
    Reply,
    Script,
    count_tokens,
    final_frame,
    frames,
)

JSON = "application/json; charset=utf-8"
NDJSON = "application/x-ndjson"
WAIT_SECONDS = 10.0

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 500: "Internal Server Error"}


class _Cut(Exception):
    """The script says: break the connection here."""


@dataclass(slots=True)
class RecordedRequest:
    """One request as it came. `answered`: all was sent; `disconnected`: the client left before that."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    answered: bool = False
    disconnected: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event, repr=False)


class OllamaServer:
    """Lives from `async with` to its end; port and script may be changed between requests."""

    def __init__(self, models: tuple[FakeModel, ...] = (FakeModel("smol:latest"),), port: int = 0) -> None:
        self.models = list(models)
        self.loaded: list[str] = []
        self.version = "0.13.0"
        self.play = Script()
        self.requests: list[RecordedRequest] = []
        self.port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._gate = asyncio.Event()
        self._changed = asyncio.Condition()
        self.held = 0

    async def __aenter__(self) -> "OllamaServer":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop listening and break every connection, as a server that is shut down does."""
        if self._server is None:
            return
        self._server.close()
        for task in tuple(self._connections):
            task.cancel()
        if self._connections:
            await asyncio.wait(tuple(self._connections))
        await self._server.wait_closed()
        self._server = None

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def chats(self) -> list[RecordedRequest]:
        """The chat requests that came."""
        return [request for request in self.requests if request.path == "/api/chat"]

    def script(self, *replies: Reply | str) -> None:
        """Queue replies for the next chat requests."""
        self.play.queue.extend(Reply.from_json(item) if isinstance(item, str) else item for item in replies)

    def release(self) -> None:
        """Let every held reply go on, now and later."""
        self._gate.set()

    async def wait_held(self, count: int = 1) -> None:
        """Wait until `count` replies have reached their hold."""
        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(lambda: self.held >= count), WAIT_SECONDS)

    async def wait_ended(self, index: int = -1) -> RecordedRequest:
        """The chat request at `index`, once its connection is done with it."""
        request = self.chats[index]
        await asyncio.wait_for(request.ended.wait(), WAIT_SECONDS)
        return request

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, _Cut):
            pass
        except asyncio.CancelledError:
            if self._server is not None and self._server.is_serving():
                raise
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await _read_request(reader)
        if request is None:
            return False
        self.requests.append(request)
        gone = asyncio.ensure_future(reader.read(1))
        reply = asyncio.ensure_future(self._reply(request, writer))
        try:
            await asyncio.wait({gone, reply}, return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():
                request.disconnected = True
                return False
            reply.result()
            request.answered = True
            return True
        finally:
            for task in (gone, reply):
                task.cancel()
            await asyncio.wait({gone, reply})
            _ = gone.cancelled() or gone.exception(), reply.cancelled() or reply.exception()
            request.ended.set()

    async def _reply(self, request: RecordedRequest, writer: asyncio.StreamWriter) -> None:
        status, kind, body = 200, JSON, ""
        match (request.method, request.path):
            case ("GET", "/"):
                kind, body = "text/plain; charset=utf-8", "Ollama is running"
            case ("GET", "/api/version"):
                body = json.dumps({"version": self.version})
            case ("GET", "/api/tags"):
                body = json.dumps({"models": [model.tag() for model in self.models]})
            case ("GET", "/api/ps"):
                body = json.dumps({"models": [m.tag() for m in self.models if m.name in self.loaded]})
            case ("POST", "/api/show"):
                model = self._model(str((request.body or {}).get("model")))
                status = 200 if model else 404
                body = json.dumps(model.show() if model else _not_found(request.body))
            case ("POST", "/api/chat"):
                await self._chat(request, writer)
                return
            case ("POST", "/control/release"):
                self.release()
                body = "{}"
            case ("GET", "/control/requests"):
                body = json.dumps([{"path": item.path, "body": item.body} for item in self.requests])
            case _:
                status, kind, body = 404, "text/plain", "404 page not found"
        await _send(writer, status, kind, body)

    async def _chat(self, request: RecordedRequest, writer: asyncio.StreamWriter) -> None:
        refusal = self._refusal(request.body)
        if refusal is not None:
            status, words = refusal
            await _send(writer, status, JSON, json.dumps({"error": words}))
            return
        body: dict[str, Any] = request.body
        if not body.get("messages"):
            reason = "unload" if body.get("keep_alive") == 0 else "load"
            answer = {"model": body["model"], "created_at": CREATED_AT}
            message = {"role": "assistant", "content": ""}
            full = {**answer, "message": message, "done": True, "done_reason": reason}
            await _send(writer, 200, JSON, json.dumps(full))
            return
        reply = self.play.pick(body)
        limit = (body.get("options") or {}).get("num_ctx", 4096)
        if count_tokens(body) > limit:
            if body.get("truncate") is False:
                text = json.dumps({"error": "the input length exceeds the context length"})
                await _send(writer, 400, "application/json", text)
                return
            reply = Reply(prompt_tokens=limit, output_tokens=1)
        if reply.status != 200:
            await self._hold(reply, 0)
            await _send(writer, reply.status, JSON, json.dumps({"error": reply.error}))
        elif body.get("stream") is False:
            await _send(writer, 200, JSON, final_frame(reply, body, text="".join(reply.pieces)))
        else:
            await self._stream(reply, body, writer)

    async def _stream(self, reply: Reply, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        sent = 0
        async for line in self._paced(reply, body):
            if sent == 0:
                writer.write(_head(200, NDJSON, chunked=True))
            data = line.encode() + b"\n"
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
            sent += 1
        if reply.ending == "cut":
            raise _Cut
        if sent == 0:
            writer.write(_head(200, NDJSON, chunked=True))
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _paced(self, reply: Reply, body: Mapping[str, Any]) -> AsyncIterator[str]:
        number = 0
        for number, line in enumerate(frames(reply, body), start=1):
            await self._hold(reply, number - 1)
            yield line
        await self._hold(reply, number)

    async def _hold(self, reply: Reply, sent: int) -> None:
        if reply.hold_after != sent or self._gate.is_set():
            return
        async with self._changed:
            self.held += 1
            self._changed.notify_all()
        await self._gate.wait()

    def _refusal(self, body: Any) -> tuple[int, str] | None:
        """What a real server refuses before the model sees it."""
        if body is None:
            return 400, "missing request body"
        if not isinstance(body, dict):
            return 400, "unexpected EOF"
        model = self._model(str(body.get("model")))
        if model is None:
            return 404, _not_found(body)["error"]
        if body.get("tools") and "tools" not in model.capabilities:
            return 400, f"registry.example/library/{model.name} does not support tools"
        if body.get("think") and "thinking" not in model.capabilities:
            return 400, f'"{model.name}" does not support thinking'
        for message in body.get("messages") or ():
            for call in message.get("tool_calls") or ():
                if not isinstance(call["function"]["arguments"], dict):
                    return 400, "Value looks like object, but can't find closing '}' symbol"
        return None

    def _model(self, name: str) -> FakeModel | None:
        names = (name, name if ":" in name else f"{name}:latest")
        return next((model for model in self.models if model.name in names), None)


def _not_found(body: Any) -> dict[str, str]:
    return {"error": f"model '{(body or {}).get('model')}' not found"}


async def _read_request(reader: asyncio.StreamReader) -> RecordedRequest | None:
    first = await reader.readline()
    if not first:
        return None
    method, path, _ = first.decode().split(" ", 2)
    headers: dict[str, str] = {}
    while (line := (await reader.readline()).decode().rstrip("\r\n")) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    body: Any = None
    if raw:
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw.decode(errors="replace")
    return RecordedRequest(method, path, headers, body)


def _head(status: int, kind: str, *, chunked: bool, length: int = 0) -> bytes:
    size = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {length}"
    first = f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}"
    return f"{first}\r\nContent-Type: {kind}\r\n{size}\r\n\r\n".encode()


async def _send(writer: asyncio.StreamWriter, status: int, kind: str, body: str) -> None:
    data = body.encode()
    writer.write(_head(status, kind, chunked=False, length=len(data)) + data)
    await writer.drain()


async def _main(script: Mapping[str, Any]) -> None:
    names = script.get("models", ["smol:latest"])
    async with OllamaServer(
        tuple(FakeModel(item) if isinstance(item, str) else FakeModel(**item) for item in names)
    ) as server:
        server.play = Script.from_json(script)
        print(json.dumps({"port": server.port}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
