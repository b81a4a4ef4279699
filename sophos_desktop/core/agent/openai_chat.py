"""One chat call to an engine that speaks OpenAI's protocol: the starter.

Invariant: imported only when such an engine is used, since langchain-openai costs a second; an answer
without its `finish_reason` is an error; of a call that was cut nothing is handed on.
"""

import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import httpx
import openai
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from sophos_desktop.core.agent.chat_errors import (
    broke_off,
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
    call_piece,
)
from sophos_desktop.core.agent.closing import closed_in_peace, left_generators_closed
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.specs import Capability, ModelEndpoint


@dataclass(slots=True)
class _Call:
    """A call as its parts arrive."""

    name: str = ""
    arguments: str = ""


def _openai_model(endpoint: ModelEndpoint, http: httpx.AsyncClient) -> ChatOpenAI:
    """The model for an endpoint, over our HTTP client."""
    nowhere = httpx.MockTransport(lambda request: httpx.Response(503))
    return ChatOpenAI(
        model=endpoint.model,
        base_url=endpoint.base_url,
        api_key=SecretStr(endpoint.api_key or "none"),
        http_async_client=http,
        http_client=httpx.Client(transport=nowhere, trust_env=False, verify=False),
        max_retries=0,
        timeout=httpx.Timeout(None, connect=5.0),
        stream_chunk_timeout=None,
        stream_usage=True,
        use_responses_api=False,
    )


async def stream_openai(
    http: httpx.AsyncClient,
    endpoint: ModelEndpoint,
    options: AnswerOptions,
    messages: Sequence[BaseMessage],
    tools: Sequence[Mapping[str, Any]],
) -> AsyncGenerator[Piece, None]:
    """The answer in pieces. `tools` in OpenAI's shape. Raises SophosError."""
    model = _openai_model(endpoint, http)
    wanted: dict[str, Any] = {}
    if tools and Capability.TOOLS in endpoint.capabilities:
        wanted["tools"] = list(tools)
    if options.temperature is not None:
        wanted["temperature"] = options.temperature
    sizes = {
        "num_ctx": options.num_ctx,
        "prompt_characters": sum(len(str(message.text)) for message in messages),
    }
    calls: dict[Any, _Call] = {}
    reason: str | None = None
    usage: Mapping[str, Any] = {}
    began = time.monotonic()
    first: float | None = None
    received = False
    try:
        chunks = cast("AsyncGenerator[AIMessageChunk, None]", model.astream(list(messages), **wanted))
        try:
            async for chunk in chunks:
                received = True
                reason = chunk.response_metadata.get("finish_reason") or reason
                usage = chunk.usage_metadata or usage
                _collect(chunk, calls)
                if isinstance(chunk.content, str) and chunk.content:
                    first = first or time.monotonic()
                    yield TextPiece(chunk.content)
        finally:
            await closed_in_peace(_close(chunks))
    except (openai.OpenAIError, httpx.HTTPError, json.JSONDecodeError) as error:
        raise _explained(endpoint, error, sizes) from error
    except ValueError as error:
        if received:
            raise
        # What BaseChatModel says of a stream without one chunk.
        raise broke_off("the engine sent not one piece") from error
    if reason is None:
        raise broke_off("the stream ended without its final frame")
    for call in _complete(calls, cut=reason == "length"):
        yield call
    ended = time.monotonic()
    yield FinalPiece(
        done_reason=reason,
        prompt_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        prompt_ms=round(((first or ended) - began) * 1000),
        answer_ms=round((ended - (first or ended)) * 1000),
    )


async def _close(chunks: AsyncGenerator[AIMessageChunk, None]) -> None:
    """The libraries stop reading at the last event and leave the rest to the collector."""
    await chunks.aclose()
    await left_generators_closed()


def _collect(chunk: AIMessageChunk, calls: dict[Any, _Call]) -> None:
    for part in chunk.tool_call_chunks:
        call = calls.setdefault(part.get("index"), _Call())
        call.name += part.get("name") or ""
        call.arguments += part.get("args") or ""


def _complete(calls: Mapping[Any, _Call], *, cut: bool) -> Sequence[CallPiece]:
    pieces = [call_piece(call.name, call.arguments) for call in calls.values()]
    if not cut:
        return pieces
    # The last one may have been cut: it counts only if its arguments were closed.
    return [piece for piece in pieces if piece.args is not None and piece.raw.strip()]


def _transport_error(error: BaseException | None) -> httpx.HTTPError | None:
    """The HTTP client's own error below those that the libraries made of it."""
    while error is not None and not isinstance(error, httpx.HTTPError):
        error = error.__cause__ or error.__context__
    return error


def _explained(endpoint: ModelEndpoint, error: Exception, sizes: Mapping[str, Any]) -> SophosError:
    if isinstance(error, openai.APIStatusError):
        return from_status(endpoint, error.status_code, error.response.text, **sizes)
    cause = _transport_error(error)
    if cause is not None:
        return from_transport(endpoint, cause)
    if isinstance(error, openai.APIError):
        return from_stream_error(endpoint, error.message, **sizes)
    return unreadable(f"a line that is no JSON: {error}")
