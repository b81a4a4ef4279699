"""Foreign texts in a Markdown document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sophos_desktop.core.export.safe_text import closed, code_span, escaped, fenced, plain

READER = MarkdownIt("commonmark")


@given(st.text(alphabet="`~ab\n", max_size=30))
def test_a_fence_survives_any_backticks_in_it(text: str) -> None:
    (block,) = READER.parse(fenced(text, "text"))
    assert (block.type, block.info) == ("fence", "text")
    assert block.content == (text if not text or text.endswith("\n") else text + "\n")


@given(st.text(alphabet="`a \n", max_size=12))
def test_a_code_span_shows_its_text_on_one_line(text: str) -> None:
    shown = " ".join(text.split())
    if not shown:
        assert code_span(text) == ""
        return
    (child,) = (READER.parse("x " + code_span(text))[1].children or [])[1:]
    assert (child.type, child.content) == ("code_inline", shown)


@given(st.text(alphabet="*_`[]()<>!&#~\\ab;1 \n", max_size=20))
def test_an_escaped_text_reads_as_it_is(text: str) -> None:
    text = " ".join(text.split())
    if not text:
        return
    inline = READER.parse(f"# {escaped(text)}")[1]
    assert {child.type for child in inline.children or []} <= {"text", "text_special"}
    assert "".join(child.content for child in inline.children or []) == text


@pytest.mark.parametrize(
    "text",
    [
        "nothing special",
        "```\ncode\n```",
        "````\n```\n````\nand ~~~ within",
        "- a\n  ```\n  never closed",
        "> ```\n> never closed",
        "    ```\n    indented",
        "``` `not a fence",
        "`<div>` and ``` <script> ```",
        "```html\n<div>\n<script>\n```",
        "<details>\n\n**a**\n\n</details>",
        "<br> in a line, List<String>, a < b",
        "<!-- a comment -->",
        "a table:\n\n<table><tr><td>1</td></tr></table>",
    ],
)
def test_what_is_closed_stays_as_it_is(text: str) -> None:
    assert closed(text) == text


@pytest.mark.parametrize(
    ("text", "closer"),
    [
        ("```python\nx = 1", "\n```"),
        ("~~~~\n~~~", "\n~~~~"),
        ("   ````\n```\n", "````"),
        ("```\na\n```\n```\nb", "\n```"),
        ("<!-- secret", "\n-->"),
        ("<?php", "\n?>"),
        ("<!DOCTYPE html", "\n>"),
        ("<![CDATA[", "\n]]>"),
        ("<SCRIPT>\nalert(1)", "\n</script>"),
        ("<pre>", "\n</pre>"),
        ("some <details> and <div>", "\n\n</div></details>"),
        ("<details>\n\n```\ncode", "\n```\n\n</details>"),
        ("<div>\n\n</div>\n<table>", "\n\n</table>"),
    ],
)
def test_what_is_left_open_is_closed_behind_the_text(text: str, closer: str) -> None:
    assert closed(text) == text + closer


def test_line_ends_are_alike_and_control_characters_are_seen() -> None:
    assert plain("a\r\nb\rc\n\td") == "a\nb\nc\n\td"
    assert plain("\x00\x1b[0m\x7f\x9b") == "␀␛[0m␡\ufffd"
    assert plain("\ud83d \udc00") == "\ufffd \ufffd"
    assert plain("🦉 ä \u2028") == "🦉 ä \u2028"
