"""What a model's answer is made of, without any library's types.

Invariant: `FinalPiece` is the last piece of every complete answer and of no other; calls come right before
it, so that none can run whose answer was cut.
"""

import json
from dataclasses import dataclass
from typing import Any

DEEPEST_ARGUMENTS = 100


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How the model is to answer. `num_ctx` in tokens; None leaves a thing to the engine."""

    num_ctx: int | None = None
    temperature: float | None = None
    thinking: bool | None = None
    keep_alive: str | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """More of the answer; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPiece:
    """More thinking; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """One whole tool call. `args` is None if the model's arguments are no JSON object: then `problem` says
    so in words, and the call must be answered by an error instead of being made. `raw` is what came."""

    name: str
    args: dict[str, Any] | None
    raw: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class FinalPiece:
    """The answer is complete. `done_reason` is `stop`, `length`, `load` …; times in milliseconds."""

    done_reason: str
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    load_ms: int | None = None
    prompt_ms: int | None = None
    answer_ms: int | None = None


Piece = TextPiece | ThinkingPiece | CallPiece | FinalPiece


def call_piece(name: Any, arguments: Any) -> CallPiece:
    """A call from what the wire has. Arguments in a string are read if they are a JSON object; none are an
    empty object; anything else is a call with a problem."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    if not isinstance(name, str) or not name:
        return CallPiece("", None, raw, "The call does not name a tool")
    value = arguments
    if value is None or (isinstance(value, str) and not value.strip()):
        value = {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            return CallPiece(name, None, raw, f"The arguments are no JSON: {error}")
        except RecursionError:
            return CallPiece(name, None, raw, "The arguments are nested too deeply")
    if not isinstance(value, dict):
        return CallPiece(name, None, raw, "The arguments are not a JSON object")
    if not _can_be_stored(value):
        text = "The arguments hold a whole number of more than 64 bits, or are nested too deeply"
        return CallPiece(name, None, raw, text)
    return CallPiece(name, value, raw)


def _can_be_stored(value: Any, depth: int = 0) -> bool:
    """What a checkpoint cannot take must not get into a message: it would end the run."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return depth < DEEPEST_ARGUMENTS and all(_can_be_stored(item, depth + 1) for item in items)
    return True
