"""What the parts of a tool's result say as text.

Invariant: nothing that a server may answer (several parts, none, binary data, kinds not known yet) makes this
fail; a part without text is named in a line in brackets.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

NO_CONTENT = "The tool gave no content."
# Up to here structured content is laid out in lines; more is no reading matter, and takes long to lay out.
LAID_OUT_CHARACTERS = 20_000

Part = Mapping[str, Any]


def text_of_parts(parts: Sequence[Part], structured: Mapping[str, Any] | None) -> str:
    """The texts, one below the other; structured content stands in where no part has text."""
    texts = [text_of_part(part) for part in parts]
    lines = [_described(part) if text is None else text for part, text in zip(parts, texts, strict=True)]
    if structured is not None and all(text is None for text in texts):
        lines.append(_laid_out(structured))
    return "\n".join(line for line in lines if line) or NO_CONTENT


def text_of_part(part: Part) -> str | None:
    """The part's own text, or that of the resource in it."""
    text = _holder(part).get("text")
    return text if isinstance(text, str) else None


def has_plain_parts(parts: Sequence[Part]) -> bool:
    """True if the parts are text and nothing beside it."""
    return all(part.keys() <= {"type", "text"} and part.get("type") == "text" for part in parts)


def words_of_size(size_bytes: int) -> str:
    """A size as it is read: `12 bytes`, `3 kB`, `60.1 MB`."""
    if size_bytes < 1000:
        return "1 byte" if size_bytes == 1 else f"{size_bytes} bytes"
    if size_bytes < 1_000_000:
        return f"{round(size_bytes / 1000)} kB"
    return f"{size_bytes / 1_000_000:.1f} MB"


def _holder(part: Part) -> Part:
    resource = part.get("resource") if part.get("type") == "resource" else None
    return resource if isinstance(resource, Mapping) else part


def _laid_out(structured: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(structured, ensure_ascii=False)
    except RecursionError:
        return "[structured content, nested too deeply to be shown]"
    return text if len(text) > LAID_OUT_CHARACTERS else json.dumps(structured, ensure_ascii=False, indent=2)


def _described(part: Part) -> str:
    """A line such as `[image, image/png, 12 kB]`."""
    kind = str(part.get("type", "part"))
    if kind == "resource_link":
        return _bracketed(
            "link", part.get("name"), part.get("uri"), part.get("mimeType"), part.get("description")
        )
    holder = _holder(part)
    encoded = holder.get("data") or holder.get("blob")
    size = None
    if isinstance(encoded, str):
        size = words_of_size((len(encoded) - encoded[-2:].count("=")) * 3 // 4)
    return _bracketed(kind, holder.get("uri"), holder.get("mimeType"), size)


def _bracketed(*words: object) -> str:
    return "[" + ", ".join(str(word) for word in words if word) + "]"
