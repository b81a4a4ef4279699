"""Turns what goes wrong while a model answers into the errors of the contract.

Invariant: every failure of an engine becomes a SophosError with the engine's own words; whatever is not
known here is left as it is and counts as a bug.
"""

import json
import re
from typing import Any

import httpx

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.specs import EngineKind, ModelEndpoint

_TOO_LONG = re.compile(r"exceeds? the (available )?context|context (length|size) exceeded", re.IGNORECASE)
_WORDS_LENGTH = 300

# What no image is to blame for: the key, the number of requests, and what a model cannot do at all.
_NOT_ABOUT_CONTENT = frozenset({401, 403, 407, 408, 429})
_LACKS = re.compile(r"does not support (tools|thinking)", re.IGNORECASE)

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


class EngineRefusal(SophosError):
    """The engine took a request and would not, or could not, answer what was in it."""

    def __init__(self, code: ErrorCode, title: str, remedy: str = "", *, words: str) -> None:
        """`words`: the engine's own."""
        super().__init__(code, title, remedy)
        self.words = words


def unreachable(endpoint: ModelEndpoint, error: BaseException) -> SophosError:
    """Nobody took the request."""
    reason = str(error) or type(error).__name__
    if endpoint.engine is EngineKind.STARTER:
        return SophosError(
            ErrorCode.ENGINE_UNREACHABLE,
            f"The built-in starter model does not answer at {endpoint.base_url} ({reason})",
            "Send the message again, which starts it again",
        )
    return SophosError(
        ErrorCode.ENGINE_UNREACHABLE,
        f"Ollama does not answer at {endpoint.base_url} ({reason})",
        "Start it with `ollama serve`, or set `engine.host` to the address where it runs",
    )


def incomplete(what: str) -> SophosError:
    """The stream ended without its final frame. `what` says how, as the end of a sentence."""
    return SophosError(
        ErrorCode.STREAM_INCOMPLETE,
        f"The answer is incomplete: {what}",
        "Resume the conversation to let the model answer again",
    )


def from_transport(endpoint: ModelEndpoint, error: httpx.HTTPError | httpx.InvalidURL) -> SophosError:
    """An error below the protocol: nobody there, or the connection broke."""
    if isinstance(error, (*_NOT_SENT, httpx.InvalidURL)):
        return unreachable(endpoint, error)
    return incomplete(f"the connection to the engine broke ({str(error) or type(error).__name__})")


def from_status(
    endpoint: ModelEndpoint, status: int, body: str, *, num_ctx: int | None, prompt_characters: int
) -> SophosError:
    """A refusal with an HTTP status. `num_ctx` in tokens; `prompt_characters`: the size of what was sent."""
    answer = _parsed(body)
    words = error_words(answer, body) or f"status {status}"
    if _TOO_LONG.search(words):
        return too_long(endpoint, answer, words, num_ctx=num_ctx, prompt_characters=prompt_characters)
    if status == 404 and answer is not None:
        return SophosError(
            ErrorCode.MODEL_UNAVAILABLE,
            f"The engine does not have the model {endpoint.model}: {words}",
            f"Get it with `ollama pull {endpoint.model}`, or choose another model",
        )
    if status == 503:
        return SophosError(
            ErrorCode.ENGINE_BUSY, f"The engine is busy: {words}", "Resume the conversation a little later"
        )
    title = f"The engine at {endpoint.base_url} answered {status}: {words}"
    if status in _NOT_ABOUT_CONTENT or _LACKS.search(words):
        return SophosError(ErrorCode.ENGINE_ERROR, title)
    return EngineRefusal(ErrorCode.ENGINE_ERROR, title, words=words)


def from_stream_error(
    endpoint: ModelEndpoint, words: str, *, num_ctx: int | None, prompt_characters: int
) -> SophosError:
    """An error that the engine reported within a stream that had begun."""
    if _TOO_LONG.search(words):
        return too_long(endpoint, None, words, num_ctx=num_ctx, prompt_characters=prompt_characters)
    error = incomplete(f"the engine says: {words[:_WORDS_LENGTH]}")
    return EngineRefusal(error.code, error.title, error.remedy, words=words[:_WORDS_LENGTH])


def too_long(
    endpoint: ModelEndpoint, answer: Any, words: str, *, num_ctx: int | None, prompt_characters: int
) -> SophosError:
    """The prompt does not fit: says both sizes, in tokens where the engine counted them."""
    detail = answer.get("error") if isinstance(answer, dict) else None
    counted = detail.get("n_prompt_tokens") if isinstance(detail, dict) else None
    room = detail.get("n_ctx") if isinstance(detail, dict) else None
    room = room or num_ctx or endpoint.context_length
    size = f"{counted:,} tokens" if isinstance(counted, int) else f"{prompt_characters:,} characters"
    window = f"the context of {room:,} tokens" if isinstance(room, int) else "the model's context"
    return SophosError(
        ErrorCode.CONTEXT_EXCEEDED,
        f"The prompt of {size} does not fit into {window} ({words[:_WORDS_LENGTH]})",
        "Raise the context size (`answer.num_ctx`), or send less at once",
    )


def error_words(answer: Any, body: str) -> str:
    """The engine's own words: `error` as a text or as an object with a `message`, else the body's start."""
    detail = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(detail, dict):
        detail = detail.get("message")
    return str(detail if detail else body).strip()[:_WORDS_LENGTH]


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
