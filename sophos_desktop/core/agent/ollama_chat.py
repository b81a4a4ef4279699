"""One chat call to Ollama: langchain-ollama's model over a client that sends and reads the wire itself.

Invariant: `truncate` and `shift` are false in every request, so that the server refuses instead of
forgetting; an answer without its final frame is an error; a tool call arrives as the server sent it.

Why not the ollama library's own `chat` (0.6.3): it cannot send the two flags, drops most of a tool's schema
and the ids that join calls to results, takes the end of a stream for the end of an answer, splits lines at
characters that JSON may contain, and fails on arguments that are no object.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

import httpx
from langchain_core.messages import AIMessageChunk, BaseMessage

from sophos_desktop.core.agent.chat_errors import (
    broke_off,
    error_words,
    from_status,
    from_stream_error,
    from_transport,
    unreadable,
)
from sophos_desktop.core.agent.chat_pieces import (
    AnswerOptions,
    CallPiece,
    FinalPiece,
    Piece,
    TextPiece,
    ThinkingPiece,
    call_piece,
)
from sophos_desktop.core.agent.closing import closed_in_peace, left_generators_closed
from sophos_desktop.core.agent.quiet_environment import without_engine_variables
from sophos_desktop.core.domain.specs import Capability, ModelEndpoint

with without_engine_variables():
    # The library makes a client as it is imported, and fails on an address or a proxy it cannot read.
    import ollama
    from langchain_ollama import ChatOllama

_NANOSECONDS = 1_000_000
_END_SECONDS = 1.0


class OllamaCall(ollama.AsyncClient):
    """The client of one call, over a borrowed HTTP client. It keeps the calls and the final frame."""

    def __init__(self, http: httpx.AsyncClient, endpoint: ModelEndpoint, num_ctx: int | None) -> None:
        # Not super().__init__(): it would open a client of its own, with the environment's proxies.
        self._client = http
        self._endpoint = endpoint
        self._num_ctx = num_ctx
        self._prompt_characters = 0
        self._stream: AsyncGenerator[Mapping[str, Any], None] | None = None
        self.calls: list[CallPiece] = []
        self.final: Mapping[str, Any] | None = None

    async def chat(self, **parameters: Any) -> AsyncGenerator[Mapping[str, Any], None]:  # type: ignore[override]
        """What ChatOllama calls: the stream's frames, without the tool calls, which are kept in `calls`."""
        body = {
            "model": parameters["model"],
            "messages": _named_results(parameters["messages"]),
            "stream": True,
            "truncate": False,
            "shift": False,
            "options": parameters["options"],
        }
        for key in ("tools", "think", "keep_alive"):
            if parameters.get(key) is not None:
                body[key] = parameters[key]
        self._prompt_characters = sum(len(str(message.get("content", ""))) for message in body["messages"])
        self._stream = self._frames(body)
        return self._stream

    async def close_stream(self) -> None:
        """End the connection, if the caller left before the end of the answer."""
        if self._stream is not None:
            await self._stream.aclose()

    async def _frames(self, body: Mapping[str, Any]) -> AsyncGenerator[Mapping[str, Any], None]:
        try:
            async with self._client.stream("POST", "api/chat", json=body) as response:
                if response.status_code != 200:
                    await response.aread()
                    raise from_status(self._endpoint, response.status_code, response.text, **self._sizes())
                async with aclosing(_lines(response)) as lines:
                    async for line in lines:
                        frame = self._read(line)
                        yield frame
                        if frame.get("done") is True:
                            await _read_to_end(lines)
                            return
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise from_transport(self._endpoint, error) from error
        raise broke_off("the stream ended without its final frame")

    def _read(self, line: bytes) -> Mapping[str, Any]:
        """One frame as ChatOllama takes it."""
        try:
            frame = json.loads(line)
        except (ValueError, RecursionError):
            raise unreadable(f"a line that is no JSON: {_shown(line)}") from None
        if not isinstance(frame, dict):
            raise unreadable(f"a line that is no object: {_shown(line)}")
        if frame.get("error"):
            words = error_words(frame, "")
            raise from_stream_error(self._endpoint, words, **self._sizes())
        message = frame.get("message")
        message = message if isinstance(message, dict) else {}
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            function = function if isinstance(function, dict) else {}
            self.calls.append(call_piece(function.get("name"), function.get("arguments")))
        kept = {
            "role": "assistant",
            "content": str(message.get("content") or ""),
            "thinking": str(message.get("thinking") or ""),
        }
        if frame.get("done") is not True:
            return {"model": frame.get("model"), "message": kept, "done": False}
        self.final = frame
        # ChatOllama would log a warning about `load` and swallow the frame.
        return {"model": frame.get("model"), "message": kept, "done": True, "done_reason": "stop"}

    def _sizes(self) -> dict[str, Any]:
        return {"num_ctx": self._num_ctx, "prompt_characters": self._prompt_characters}


def _ollama_model(name: str, call: OllamaCall) -> ChatOllama:
    """The library's model, with the call as its client."""
    nowhere = httpx.MockTransport(lambda request: httpx.Response(503))
    # The clients that it makes itself are never used; without certificates and proxies they cost nothing.
    model = ChatOllama(
        model=name,
        base_url="http://127.0.0.1",
        client_kwargs={"transport": nowhere, "trust_env": False, "verify": False},
    )
    model._async_client = call
    return model


async def stream_ollama(
    http: httpx.AsyncClient,
    endpoint: ModelEndpoint,
    options: AnswerOptions,
    messages: Sequence[BaseMessage],
    tools: Sequence[Mapping[str, Any]],
) -> AsyncGenerator[Piece, None]:
    """The answer in pieces. `tools` in OpenAI's shape. Raises SophosError."""
    call = OllamaCall(http, endpoint, options.num_ctx)
    model = _ollama_model(endpoint.model, call)
    wanted: dict[str, Any] = {"options": _options(options)}
    if tools and Capability.TOOLS in endpoint.capabilities:
        wanted["tools"] = list(tools)
    if Capability.THINKING in endpoint.capabilities:
        # Left open, the thinking would come within the answer's text.
        wanted["reasoning"] = options.thinking is not False
    if options.keep_alive:
        wanted["keep_alive"] = _keep_alive(options.keep_alive)
    chunks = model.astream(list(messages), **wanted)
    try:
        async for chunk in chunks:
            for piece in _pieces(chunk):
                yield piece
    finally:
        await closed_in_peace(_close(call, chunks))
    for made in call.calls:
        yield made
    assert call.final is not None, "a stream without its final frame has raised"
    yield _final_piece(call.final)


async def _close(call: OllamaCall, chunks: AsyncIterator[AIMessageChunk]) -> None:
    """Left early, the library's generators would wait for the garbage collector: with the stream closed they
    run to their end here. After an error they have ended already."""
    await call.close_stream()
    async for _ in chunks:
        pass
    if call.final is None:
        # The HTTP client's own generators, one in the other, are not closed by their reader.
        await left_generators_closed()


def _pieces(chunk: AIMessageChunk) -> Sequence[Piece]:
    thinking = chunk.additional_kwargs.get("reasoning_content")
    pieces: list[Piece] = [ThinkingPiece(thinking)] if thinking else []
    if isinstance(chunk.content, str) and chunk.content:
        pieces.append(TextPiece(chunk.content))
    return pieces


def _options(options: AnswerOptions) -> dict[str, Any]:
    chosen = {"num_ctx": options.num_ctx, "temperature": options.temperature}
    return {name: value for name, value in chosen.items() if value is not None}


def _keep_alive(text: str) -> str | int:
    """Ollama takes durations such as `10m` as text, but plain seconds, and -1 for ever, only as a number."""
    try:
        return int(text)
    except ValueError:
        return text


def _named_results(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages with `tool_name` on each result, as templates want it, and without empty images."""
    names: dict[str, str] = {}
    named = []
    for message in messages:
        own = {key: value for key, value in message.items() if value or key == "content"}
        for call in own.get("tool_calls", ()):
            names[str(call["id"])] = call["function"]["name"]
        if own.get("role") == "tool" and (name := names.get(str(own.get("tool_call_id")))):
            own["tool_name"] = name
        if own.get("images"):
            # langchain-ollama 1.1.0 puts a line end in front of each part of a message in parts.
            own["content"] = own["content"].removeprefix("\n")
        named.append(own)
    return named


def _final_piece(frame: Mapping[str, Any]) -> FinalPiece:
    return FinalPiece(
        done_reason=str(frame.get("done_reason") or "stop"),
        prompt_tokens=_whole(frame.get("prompt_eval_count")),
        output_tokens=_whole(frame.get("eval_count")),
        load_ms=_milliseconds(frame.get("load_duration")),
        prompt_ms=_milliseconds(frame.get("prompt_eval_duration")),
        answer_ms=_milliseconds(frame.get("eval_duration")),
    )


def _shown(line: bytes) -> str:
    """The beginning of what came."""
    return line[:80].decode("utf-8", "replace")


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _milliseconds(value: Any) -> int | None:
    return value // _NANOSECONDS if isinstance(value, int) else None


async def _read_to_end(lines: AsyncGenerator[bytes, None]) -> None:
    """Let the stream end by itself, so that nothing of it is left to the garbage collector. The answer is
    complete by now: what else comes, or fails, does not count."""
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_END_SECONDS):
            async for _ in lines:
                pass


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body's lines that are not blank, split at line feeds alone."""
    rest = b""
    async for data in response.aiter_bytes():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
    if rest.strip():
        yield rest
