"""Checks a call's arguments against the tool's schema before anything is sent.

Invariant: a schema that is itself broken, or takes too long to follow, never makes a call fail (the server
then judges); no reference in a schema is ever fetched from anywhere; no value is changed to make it fit.
"""

import asyncio
import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from sophos_desktop.core.mcp_host.argument_words import sentences
from sophos_desktop.core.mcp_host.bounded_validation import Limits, is_sound, problems

CHECK_SECONDS = 1.0
DEEPEST_LEVEL = 200
_SHOWN_PROBLEMS = 5
_LOOKED_AT_PROBLEMS = 50

_HEADING = "The arguments do not fit the tool's schema, so the tool was not called:"


async def check(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """`problem_of` in a thread, so that no schema holds the loop."""
    return await asyncio.to_thread(problem_of, schema, arguments)


def problem_of(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments, in words for the model; None if they fit. Takes `CHECK_SECONDS` at
    most, of this thread's own time."""
    if is_deeper_than(arguments, DEEPEST_LEVEL):
        return f"{_HEADING}\n- arguments: are nested deeper than {DEEPEST_LEVEL} levels"
    try:
        json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return f"{_HEADING}\n- arguments: hold half a character (a lone surrogate), which is no text"
    except ValueError:
        return f"{_HEADING}\n- arguments: hold NaN or an infinite number, which JSON does not have"
    if not schema:
        return None
    limits = Limits(CHECK_SECONDS)
    try:
        found = list(islice(problems(dict(schema), dict(arguments), limits), _LOOKED_AT_PROBLEMS))
        if not found or not is_sound(dict(schema), limits):
            return None
        lines = list(dict.fromkeys(line for error in found for line in sentences(error)))
    except Exception:  # noqa: BLE001 - schemas are foreign: unknown references, patterns, endless recursion
        return None
    shown = [f"- {line}" for line in lines[:_SHOWN_PROBLEMS]]
    if len(found) == _LOOKED_AT_PROBLEMS:
        shown.append("- and many more")
    elif len(lines) > _SHOWN_PROBLEMS:
        shown.append(f"- and {len(lines) - _SHOWN_PROBLEMS} more")
    return "\n".join([_HEADING, *shown])


def is_deeper_than(value: object, levels: int) -> bool:
    """Whether lists and objects are nested deeper than that; it goes no deeper in Python's own stack."""
    waiting: list[tuple[object, int]] = [(value, 1)]
    while waiting:
        held, level = waiting.pop()
        if isinstance(held, Mapping | list):
            if level > levels:
                return True
            inner = held.values() if isinstance(held, Mapping) else held
            waiting.extend((each, level + 1) for each in inner if isinstance(each, Mapping | list))
    return False
