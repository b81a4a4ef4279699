"""Turns what a tool call gave into the domain's words, whole.

Invariant: `content`, `structured` and `meta` are what the protocol gave, nothing left out and nothing made
up; how much of it the model gets is not decided here.
"""

import asyncio
from collections.abc import Iterator, Mapping
from itertools import islice

from mcp.types import CallToolResult

from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.domain.tool_parts import NO_CONTENT, text_of_parts

__all__ = ["NO_CONTENT", "read_tool_result", "to_tool_result"]

_AT_ONCE_VALUES = 2_000
_AT_ONCE_CHARACTERS = 1_000_000


async def read_tool_result(result: CallToolResult) -> ToolResult:
    """`to_tool_result`, in a thread where it would hold the loop."""
    if _is_small(result):
        return to_tool_result(result)
    return await asyncio.to_thread(to_tool_result, result)


def to_tool_result(result: CallToolResult) -> ToolResult:
    """The result as the domain knows it. Parts without text are named in a line in brackets; structured
    content stands in where no part has text."""
    parts = tuple(part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content)
    return ToolResult(
        text=text_of_parts(parts, result.structuredContent),
        is_error=result.isError,
        content=parts,
        structured=result.structuredContent,
        meta=result.meta or None,
    )


def _is_small(result: CallToolResult) -> bool:
    values = _values([result.structuredContent, *(vars(part) for part in result.content)])
    seen = list(islice(values, _AT_ONCE_VALUES + 1))
    characters = sum(len(value) for value in seen if isinstance(value, str))
    return len(seen) <= _AT_ONCE_VALUES and characters <= _AT_ONCE_CHARACTERS


def _values(root: object) -> Iterator[object]:
    """The values in a structure, without going deeper in Python's own stack."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif hasattr(value, "__pydantic_fields__"):
            waiting.append(vars(value))
        yield value
