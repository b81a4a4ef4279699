"""Turns what a tool call gave into text for the model.

Invariant: `ToolResult.content` holds the parts as the protocol gave them; nothing that a server may
answer (several parts, none, binary data, kinds not known yet) makes this fail.
"""

import json
from typing import Any

from mcp.types import CallToolResult

from sophos_desktop.core.domain.specs import ToolResult

NO_CONTENT = "The tool gave no content."


def to_tool_result(result: CallToolResult) -> ToolResult:
    """The result as the domain knows it. Parts without text are named in a line in brackets; structured
    content stands in where no part has text."""
    parts = tuple(part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content)
    has_text = any(_text_of(part) is not None for part in parts)
    lines = [_text_of(part) if _text_of(part) is not None else _described(part) for part in parts]
    if result.structuredContent is not None and not has_text:
        lines.append(json.dumps(result.structuredContent, ensure_ascii=False, indent=2))
    text = "\n".join(line for line in lines if line)
    return ToolResult(text=text or NO_CONTENT, is_error=result.isError, content=parts)


def _text_of(part: dict[str, Any]) -> str | None:
    """The part's own text, or that of the resource in it."""
    holder = part.get("resource", {}) if part.get("type") == "resource" else part
    text = holder.get("text")
    return text if isinstance(text, str) else None


def _described(part: dict[str, Any]) -> str:
    """A line such as `[image, image/png, 12 kB]`."""
    kind = str(part.get("type", "part"))
    if kind == "resource_link":
        return _bracketed(
            "link", part.get("name"), part.get("uri"), part.get("mimeType"), part.get("description")
        )
    holder = part["resource"] if kind == "resource" else part
    encoded = holder.get("data") or holder.get("blob")
    size = _size(encoded) if isinstance(encoded, str) else None
    return _bracketed(kind, holder.get("uri"), holder.get("mimeType"), size)


def _bracketed(*words: object) -> str:
    return "[" + ", ".join(str(word) for word in words if word) + "]"


def _size(base64_text: str) -> str:
    size_bytes = len(base64_text.rstrip("=")) * 3 // 4
    if size_bytes < 1000:
        return f"{size_bytes} bytes"
    if size_bytes < 1_000_000:
        return f"{round(size_bytes / 1000)} kB"
    return f"{size_bytes / 1_000_000:.1f} MB"
