"""What a server answered, in the domain's words: whole, and as text for the model."""

from typing import Any

import pytest
from mcp.types import CallToolResult

from sophos_desktop.core.domain.tool_parts import NO_CONTENT, words_of_size
from sophos_desktop.core.mcp_host.results import read_tool_result, to_tool_result

TEXT = {"type": "text", "text": "words"}


def answered(**fields: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": [], **fields})


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (TEXT, "words"),
        ({"type": "image", "data": "A" * 16_000, "mimeType": "image/png"}, "[image, image/png, 12 kB]"),
        ({"type": "image", "data": "AA==", "mimeType": "image/png"}, "[image, image/png, 1 byte]"),
        ({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}, "[audio, audio/wav, 3 bytes]"),
        (
            {
                "type": "resource",
                "resource": {"uri": "file:///a", "text": "inside", "mimeType": "text/plain"},
            },
            "inside",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA", "mimeType": "x/y"}},
            "[resource, file:///a, x/y, 3 bytes]",
        ),
        (
            {"type": "resource_link", "uri": "file:///a", "name": "notes", "mimeType": "text/plain"},
            "[link, notes, file:///a, text/plain]",
        ),
    ],
)
def test_every_kind_of_part_is_kept_and_has_a_text(part: dict[str, Any], text: str) -> None:
    result = to_tool_result(answered(content=[part]))
    assert result.text == text
    assert result.content == (part,)


def test_what_a_part_says_beside_its_content_is_kept() -> None:
    part = {**TEXT, "annotations": {"audience": ["user"], "priority": 0.5}, "_meta": {"a": None}, "odd": [1]}
    assert to_tool_result(answered(content=[part])).content == (part,)


def test_structured_content_and_meta_are_kept_as_they_came() -> None:
    structured = {"a": None, "b": [1, {"c": "é"}]}
    result = to_tool_result(answered(content=[TEXT], structuredContent=structured, _meta={"m": None}))
    assert (result.text, result.structured, result.meta) == ("words", structured, {"m": None})


def test_structured_content_stands_in_where_nothing_has_text() -> None:
    assert to_tool_result(answered(structuredContent={"a": "é"})).text == '{\n  "a": "é"\n}'
    large = to_tool_result(answered(structuredContent={"a": "x" * 100_000})).text
    assert large == '{"a": "' + "x" * 100_000 + '"}'


@pytest.mark.parametrize("is_error", [False, True])
def test_an_empty_result_says_so(is_error: bool) -> None:
    result = to_tool_result(answered(isError=is_error))
    assert (result.text, result.is_error, result.content) == (NO_CONTENT, is_error, ())


async def test_a_large_result_is_read_in_a_thread_to_the_same() -> None:
    for fields in (
        {"content": [TEXT]},
        {"content": [{"type": "text", "text": "x" * 2_000_000}]},
        {"content": [TEXT] * 3_000},
        {"structuredContent": {"numbers": list(range(5_000))}},
    ):
        result = answered(**fields)
        assert await read_tool_result(result) == to_tool_result(result)


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (12_400, "12 kB"), (60_123_456, "60.1 MB")],
)
def test_sizes_are_read_as_people_write_them(size_bytes: int, words: str) -> None:
    assert words_of_size(size_bytes) == words
