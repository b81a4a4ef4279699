"""Decides what of a tool's result stands in the thread, and keeps the rest whole as an attachment.

Invariant: a text of at most `HEAD_BYTES` reaches the thread, and nothing is lost: what is more than that, or
more than plain text, is in the attachment as the protocol gave it (DESIGN: a result over 256 kB).
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.domain.tool_parts import has_plain_parts, text_of_parts, words_of_size

MIME_TYPE = "application/vnd.sophos.tool-result+json"
HEAD_BYTES = 256_000
_SURE_CHARACTERS = HEAD_BYTES // 4
_PIECE_CHARACTERS = 500_000
_TAKEN_APART_LEVELS = 5
_LONG_LIST = 100


async def keep_whole(result: ToolResult, name: str) -> ToolResult:
    """The result as the journal and the thread take it. `name`: what a file of it may be called.

    Up to two copies of the result are made meanwhile, in a thread; whoever gave it should let go of it."""
    if _is_short(result) and not _is_more_than_text(result):
        return replace(result, content=(), whole=None)
    return await asyncio.to_thread(_kept, result, name)


def without_attachment(result: ToolResult) -> ToolResult:
    """The same where the store did not take the attachment: the reference would point nowhere."""
    if result.attachment is None:
        return result
    note = f"[… the whole result, {words_of_size(result.attachment.size_bytes)}, could not be kept …]"
    return replace(result, text=f"{result.text}\n{note}", attachment=None, whole=None)


def whole_result(content: bytes) -> ToolResult:
    """The result that `keep_whole` put into an attachment. Raises ValueError if it is none."""
    value = json.loads(content)
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        raise ValueError("the attachment is no tool result")
    parts = tuple(part for part in value["content"] if isinstance(part, dict))
    structured = value.get("structuredContent")
    return ToolResult(
        text=text_of_parts(parts, structured),
        is_error=bool(value.get("isError")),
        content=parts,
        structured=structured,
        meta=value.get("_meta"),
    )


def _is_short(result: ToolResult) -> bool:
    text = result.text
    if len(text) <= _SURE_CHARACTERS:
        return True
    return len(text) <= HEAD_BYTES and len(text.encode("utf-8", "surrogatepass")) <= HEAD_BYTES


def _is_more_than_text(result: ToolResult) -> bool:
    return result.structured is not None or bool(result.meta) or not has_plain_parts(result.content)


def _kept(result: ToolResult, name: str) -> ToolResult:
    whole = _as_json(result)
    ref = AttachmentRef(hashlib.sha256(whole).hexdigest(), name, MIME_TYPE, len(whole))
    text = result.text
    if not _is_short(result):
        size_bytes = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        head = _head(text)
        left_out = words_of_size(size_bytes - len(head.encode("utf-8", "surrogatepass")))
        text = (
            f"{head}\n[… {left_out} of this result were left out here; "
            f"it is kept whole as attachment {ref.sha256[:8]} …]"
        )
    return ToolResult(text, result.is_error, lost=result.lost, attachment=ref, whole=whole)


def _as_json(result: ToolResult) -> bytes:
    """The protocol's `CallToolResult`."""
    value: dict[str, Any] = {"content": list(result.content) or [_text_part(result.text)]}
    if result.structured is not None:
        value["structuredContent"] = result.structured
    value["isError"] = result.is_error
    if result.meta:
        value["_meta"] = result.meta
    file = BytesIO()
    for piece in _pieces(value, _TAKEN_APART_LEVELS):
        try:
            file.write(piece.encode("utf-8"))
        except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot say
            file.write(piece.encode("utf-8", "backslashreplace"))
    return file.getvalue()


def _pieces(value: Any, levels: int) -> Iterator[str]:
    """JSON in pieces: the library holds the interpreter for as long as one takes."""
    if isinstance(value, str) and len(value) > _PIECE_CHARACTERS:
        yield '"'
        for start in range(0, len(value), _PIECE_CHARACTERS):
            yield json.dumps(value[start : start + _PIECE_CHARACTERS], ensure_ascii=False)[1:-1]
        yield '"'
    elif isinstance(value, dict) and levels and all(isinstance(key, str) for key in value):
        yield "{"
        for index, (key, held) in enumerate(value.items()):
            yield f"{', ' if index else ''}{json.dumps(key, ensure_ascii=False)}: "
            yield from _pieces(held, levels - 1)
        yield "}"
    elif isinstance(value, list) and levels:
        yield "["
        if len(value) > _LONG_LIST:
            for start in range(0, len(value), _LONG_LIST):
                some = json.dumps(value[start : start + _LONG_LIST], ensure_ascii=False)
                yield f"{', ' if start else ''}{some[1:-1]}"
        else:
            for index, held in enumerate(value):
                if index:
                    yield ", "
                yield from _pieces(held, levels - 1)
        yield "]"
    else:
        yield json.dumps(value, ensure_ascii=False)


def _text_part(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}


def _head(text: str) -> str:
    """The first `HEAD_BYTES` of the text, or a little less: no character is cut."""
    encoded = text[:HEAD_BYTES].encode("utf-8", "surrogatepass")
    end = min(HEAD_BYTES, len(encoded))
    while 0 < end < len(encoded) and encoded[end] & 0xC0 == 0x80:
        end -= 1
    return encoded[:end].decode("utf-8", "surrogatepass")
