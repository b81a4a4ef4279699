"""What of a result stands in the thread, and what is kept whole beside it."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sophos_desktop.core.agent.kept_results import (
    HEAD_BYTES,
    MIME_TYPE,
    keep_whole,
    whole_result,
    without_attachment,
)
from sophos_desktop.core.domain.specs import ToolResult

TEXT = {"type": "text", "text": "words"}
IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}


def plain(text: str) -> ToolResult:
    return ToolResult(text, content=({"type": "text", "text": text},))


async def test_a_short_text_stands_in_the_thread_alone() -> None:
    kept = await keep_whole(plain("words"), "a.json")
    assert kept == ToolResult("words")


@pytest.mark.parametrize(
    "more",
    [
        {"content": (TEXT, IMAGE)},
        {"content": ({**TEXT, "annotations": {"audience": ["user"]}},)},
        {"content": ({"type": "resource_link", "uri": "file:///a", "name": "a"},)},
        {"content": (TEXT,), "structured": {"a": [None, 1.5, "\u2028"]}},
        {"content": (TEXT,), "meta": {"trace": 1}},
        {"content": (), "structured": {}},
    ],
)
@pytest.mark.parametrize("is_error", [False, True])
async def test_what_is_more_than_text_comes_back_as_the_protocol_gave_it(
    more: dict[str, Any], is_error: bool
) -> None:
    result = ToolResult("words", is_error, **more)
    kept = await keep_whole(result, "a.json")
    assert (kept.text, kept.is_error, kept.content, kept.structured) == ("words", is_error, (), None)
    assert kept.attachment is not None
    assert kept.whole is not None
    assert kept.attachment.sha256 == hashlib.sha256(kept.whole).hexdigest()
    assert (kept.attachment.size_bytes, kept.attachment.mime_type) == (len(kept.whole), MIME_TYPE)
    again = whole_result(kept.whole)
    assert again.content == (result.content or (TEXT,))
    assert (again.structured, again.meta, again.is_error) == (result.structured, result.meta, is_error)


async def test_the_whole_result_is_a_call_tool_result_of_the_protocol() -> None:
    result = ToolResult("words", content=(TEXT, IMAGE), structured={"a": 1}, meta={"b": 2})
    kept = await keep_whole(result, "a.json")
    assert json.loads(kept.whole or b"") == {
        "content": [TEXT, IMAGE],
        "structuredContent": {"a": 1},
        "isError": False,
        "_meta": {"b": 2},
    }


@pytest.mark.parametrize("character", ["x", "é", "語", "🦉", "\ud800"])
@pytest.mark.parametrize("shift", ["", "a", "ab", "abc"])
async def test_a_long_text_is_cut_at_a_character_and_says_how_much_is_left_out(
    character: str, shift: str
) -> None:
    size = len(character.encode("utf-8", "surrogatepass"))
    text = shift + character * (1_000_000 // size)
    kept = await keep_whole(plain(text), "a.json")
    head, _, note = kept.text.rpartition("\n")
    assert text.startswith(head)
    assert HEAD_BYTES - size < len(head.encode("utf-8", "surrogatepass")) <= HEAD_BYTES
    assert kept.attachment is not None
    assert note.startswith("[… 744 kB of this result were left out here")
    assert kept.attachment.sha256[:8] in note
    (part,) = whole_result(kept.whole or b"").content
    assert part["text"] == text


@pytest.mark.parametrize(("length", "is_kept"), [(HEAD_BYTES, False), (HEAD_BYTES + 1, True)])
async def test_the_limit_is_256_kilobytes(length: int, is_kept: bool) -> None:
    kept = await keep_whole(plain("x" * length), "a.json")
    assert (kept.attachment is not None) == is_kept


@pytest.mark.parametrize(
    "structured",
    [
        {"rows": [{"id": number, "name": "n"} for number in range(2_345)]},
        {"a": {"b": ["x" * 1_200_000, "é" * 600_000, '"' * 500_001]}},
        {"empty": [], "none": {}, "lists": [[number] for number in range(100)]},
    ],
)
async def test_large_structured_content_comes_back(structured: dict[str, Any]) -> None:
    kept = await keep_whole(ToolResult("words", structured=structured), "a.json")
    assert whole_result(kept.whole or b"").structured == structured


async def test_the_same_result_has_the_same_digest() -> None:
    first, second = [await keep_whole(ToolResult("a", content=(IMAGE,)), "a.json") for _ in range(2)]
    assert first == second


async def test_without_its_attachment_a_result_refers_to_nothing() -> None:
    kept = without_attachment(await keep_whole(plain("x" * 300_000), "a.json"))
    assert (kept.attachment, kept.whole) == (None, None)
    assert kept.text.endswith("could not be kept …]")
    assert without_attachment(ToolResult("a")) == ToolResult("a")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"content": 1}', b"\xff", b"nonsense"])
def test_bytes_that_are_no_result_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        whole_result(content)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=4), _VALUES, max_size=4))
async def test_any_structured_content_comes_back(structured: dict[str, Any]) -> None:
    kept = await keep_whole(ToolResult("words", structured=structured), "a.json")
    assert whole_result(kept.whole or b"").structured == structured
