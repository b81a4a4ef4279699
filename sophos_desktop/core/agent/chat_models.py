"""Lets a model answer: one function for every engine, in pieces that no library has a part in.

Invariant: an answer is complete if and only if its last piece is a `FinalPiece`; every failure of an engine
is a SophosError. Cancelling the iteration closes the connection at once, and the engine stops.
"""

import asyncio
import gc
import importlib
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from types import ModuleType
from typing import Any, Protocol

import httpx
from langchain_core.messages import BaseMessage

from sophos_desktop.core.agent.chat_errors import unreachable
from sophos_desktop.core.agent.chat_pieces import (
    AnswerOptions,
    CallPiece,
    FinalPiece,
    Piece,
    TextPiece,
    ThinkingPiece,
)
from sophos_desktop.core.agent.ollama_chat import stream_ollama
from sophos_desktop.core.domain.specs import EngineKind, ModelEndpoint, ToolSpec
from sophos_desktop.foundation.loopback import is_loopback

__all__ = [
    "AnswerOptions",
    "CallPiece",
    "ChatModels",
    "FinalPiece",
    "Piece",
    "StreamChat",
    "TextPiece",
    "ThinkingPiece",
    "stream_chat",
]

CONNECT_SECONDS = 5.0


class StreamChat(Protocol):
    """What the agent needs of this module: `ChatModels.stream_chat`, or a script in a test."""

    def __call__(
        self,
        endpoint: ModelEndpoint,
        options: AnswerOptions,
        messages: Sequence[BaseMessage],
        tools: Sequence[ToolSpec],
    ) -> AsyncGenerator[Piece, None]:
        """The answer to the messages, in pieces."""


class ChatModels:
    """The models in use and their HTTP clients. Lives as long as the core, on its loop, until `aclose`."""

    def __init__(self) -> None:
        self._clients: dict[str, httpx.AsyncClient] = {}

    async def stream_chat(
        self,
        endpoint: ModelEndpoint,
        options: AnswerOptions,
        messages: Sequence[BaseMessage],
        tools: Sequence[ToolSpec],
    ) -> AsyncGenerator[Piece, None]:
        """Text and thinking as they come, then the calls, then one FinalPiece. A model that cannot use tools
        gets none.

        Raises SophosError: ENGINE_UNREACHABLE, MODEL_UNAVAILABLE, ENGINE_BUSY, ENGINE_ERROR,
        STREAM_INCOMPLETE, CONTEXT_EXCEEDED.
        """
        http = self._client(endpoint)
        offered = [_offer(tool) for tool in tools]
        if endpoint.engine is EngineKind.OLLAMA:
            pieces = stream_ollama(http, endpoint, options, messages, offered)
        else:
            library = await asyncio.to_thread(_openai_chat)
            pieces = library.stream_openai(http, endpoint, options, messages, offered)
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        """Close all connections. Streams that still run break."""
        while self._clients:
            _, client = self._clients.popitem()
            await client.aclose()

    def _client(self, endpoint: ModelEndpoint) -> httpx.AsyncClient:
        """The client for the endpoint's address. Raises SophosError if that is no address at all."""
        client = self._clients.get(endpoint.base_url)
        if client is None:
            try:
                client = _http_client(endpoint.base_url)
            except (httpx.InvalidURL, ValueError, ImportError) as error:
                raise unreachable(endpoint, error) from error
            self._clients[endpoint.base_url] = client
        return client


async def stream_chat(
    endpoint: ModelEndpoint,
    options: AnswerOptions,
    messages: Sequence[BaseMessage],
    tools: Sequence[ToolSpec],
) -> AsyncGenerator[Piece, None]:
    """`ChatModels.stream_chat` for a single answer; nothing stays open afterwards."""
    models = ChatModels()
    try:
        async with aclosing(models.stream_chat(endpoint, options, messages, tools)) as pieces:
            async for piece in pieces:
                yield piece
    finally:
        await models.aclose()


def _http_client(base_url: str) -> httpx.AsyncClient:
    """A client that waits for ever for an answer, but not for somebody to take the request.

    It keeps no idle connection: one that a restarted engine has closed would look like a broken answer.
    """
    return httpx.AsyncClient(
        base_url=base_url,
        trust_env=not is_loopback(base_url),
        # Loading certificates takes 30 ms of the loop; plain HTTP never looks at them.
        verify=base_url.startswith("https:"),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
    )


def _offer(tool: ToolSpec) -> Mapping[str, Any]:
    """A tool in the shape that all engines take."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}
    return {"type": "function", "function": function}


def _openai_chat() -> ModuleType:
    """Import it, in a thread: it costs a second, and only users of the starter pay.

    The collector is off meanwhile: it would stop all threads, so the window too, for 150 ms.
    """
    name = "sophos_desktop.core.agent.openai_chat"
    if name not in sys.modules and gc.isenabled():
        gc.disable()
        try:
            return importlib.import_module(name)
        finally:
            gc.enable()
    return importlib.import_module(name)
