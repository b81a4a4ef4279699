"""Turns what goes wrong while a model answers into the errors of the contract.

Invariant: every failure of an engine becomes a SophosError that says in our words what happened and what to
do, with the engine's own words in its details; whatever is not known here stays as it is and counts as a bug.
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
_NOT_LET_IN = frozenset({401, 403, 407})
_TOO_OFTEN = frozenset({408, 429})
_NOT_ABOUT_CONTENT = _NOT_LET_IN | _TOO_OFTEN
_LACKS = re.compile(r"does not support (tools|thinking)", re.IGNORECASE)

BROKE_OFF = "The answer broke off before it was complete"
ANSWER_AGAIN = "Resume the conversation to let the model answer again"

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


class EngineRefusal(SophosError):
    """The engine took a request and would not, or could not, answer what was in it."""

    def __init__(self, code: ErrorCode, title: str, remedy: str, *, words: str, details: str = "") -> None:
        """`words`: the engine's own; `details`: these, unless something is to be said around them."""
        super().__init__(code, title, remedy, details=details or words)
        self.words = words


def unreachable(endpoint: ModelEndpoint, error: BaseException) -> SophosError:
    """Nobody took the request."""
    reason = str(error) or type(error).__name__
    if endpoint.engine is EngineKind.STARTER:
        return SophosError(
            ErrorCode.ENGINE_UNREACHABLE,
            f"The built-in starter model does not answer at {endpoint.base_url}",
            "Resume the conversation, which starts it again",
            details=reason,
        )
    return SophosError(
        ErrorCode.ENGINE_UNREACHABLE,
        f"Ollama does not answer at {endpoint.base_url}",
        "Start it with `ollama serve`, or set `engine.host` to the address where it runs",
        details=reason,
    )


def broke_off(details: str) -> SophosError:
    """The stream ended without its final frame, or the connection broke."""
    return SophosError(ErrorCode.STREAM_INCOMPLETE, BROKE_OFF, ANSWER_AGAIN, details=details)


def unreadable(details: str) -> SophosError:
    """Something came that is no part of the protocol."""
    return SophosError(
        ErrorCode.STREAM_INCOMPLETE,
        "The engine sent something in the middle of the answer that cannot be read",
        f"{ANSWER_AGAIN}; if it happens again, see what answers at the engine's address",
        details=details,
    )


def from_transport(endpoint: ModelEndpoint, error: httpx.HTTPError | httpx.InvalidURL) -> SophosError:
    """An error below the protocol: nobody there, or the connection broke."""
    if isinstance(error, (*_NOT_SENT, httpx.InvalidURL)):
        return unreachable(endpoint, error)
    return broke_off(str(error) or type(error).__name__)


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
            f"{_named(endpoint)} does not have the model {endpoint.model}",
            f"Get it with `ollama pull {endpoint.model}`, or choose another model",
            details=words,
        )
    if status == 503:
        return SophosError(
            ErrorCode.ENGINE_BUSY,
            f"{_named(endpoint)} has too much to do",
            "Resume the conversation a little later",
            details=words,
        )
    details = f"{words} (status {status})"
    lacks = _LACKS.search(words)
    if lacks is not None:
        wanted = "use tools" if lacks[1].lower() == "tools" else "think before it answers"
        title, remedy = f"{endpoint.model} cannot {wanted}", "Choose another model, then resume"
    elif status in _NOT_LET_IN:
        title = f"{_named(endpoint)} at {endpoint.base_url} does not let Sophos in"
        remedy = (
            "See whether a proxy or a login stands before it, and that `engine.host` is right, then resume"
        )
    elif status in _TOO_OFTEN:
        title = f"{_named(endpoint)} takes no request right now"
        remedy = "Resume the conversation a little later"
    else:
        return EngineRefusal(
            ErrorCode.ENGINE_ERROR, *_refused(endpoint, status), words=words, details=details
        )
    return SophosError(ErrorCode.ENGINE_ERROR, title, remedy, details=details)


def _refused(endpoint: ModelEndpoint, status: int) -> tuple[str, str]:
    """Title and remedy for a status that says no more than who is to blame."""
    if status >= 500:
        again = "if it fails again, start the engine anew or choose a smaller model"
        return f"{_named(endpoint)} failed while it worked on the answer", f"Resume to try again; {again}"
    again = "if it is refused again, choose another model, or begin a new conversation"
    return f"{_named(endpoint)} refused the request", f"Resume to try again; {again}"


def _named(endpoint: ModelEndpoint) -> str:
    """The engine, as the subject of a sentence."""
    return endpoint.engine.label


def from_stream_error(
    endpoint: ModelEndpoint, words: str, *, num_ctx: int | None, prompt_characters: int
) -> SophosError:
    """An error that the engine reported within a stream that had begun."""
    if _TOO_LONG.search(words):
        return too_long(endpoint, None, words, num_ctx=num_ctx, prompt_characters=prompt_characters)
    return EngineRefusal(
        ErrorCode.STREAM_INCOMPLETE,
        f"{_named(endpoint)} failed in the middle of the answer",
        f"{ANSWER_AGAIN}; if it fails again, start the engine anew or choose a smaller model",
        words=words[:_WORDS_LENGTH],
    )


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
        f"The prompt of {size} does not fit into {window}",
        "Raise the context size (`answer.num_ctx`), or send less at once",
        details=words[:_WORDS_LENGTH],
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
