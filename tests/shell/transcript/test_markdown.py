"""Markdown is read whole, whatever it is, and segments of one answer know each other's definitions."""

import random
from typing import Any

import pytest
from markdown_it.token import Token

from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader, may_open
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.markdown.splitter import Splitter
from tests.shell.transcript.samples import CORPUS, PIECES, segments_of

FILLER = "Words that fill a paragraph of their own. " * 20 + "\n\n"


def tokens_of(text: str) -> list[Token]:
    segments = segments_of(text)
    environment = MarkdownEnvironment()
    environment.update(segments, range(len(segments)))
    return [token for segment in segments for token in read(environment, segment)]


def read(environment: MarkdownEnvironment, segment: Segment) -> list[Token]:
    if segment.kind is not SegmentKind.CODE:
        return environment.read(segment)
    assert segment.fence is not None
    return [Token("fence", "code", 0, content=segment.code, info=segment.fence.info)]


def inline_kinds(text: str) -> list[tuple[str, str]]:
    return [
        (child.type, child.content)
        for token in tokens_of(text)
        for child in token.children or ()
        if child.content or child.type.endswith("_open")
    ]


def hrefs(environment: MarkdownEnvironment, splitter: Splitter, index: int) -> list[str]:
    return [
        str(child.attrs["href"])
        for token in environment.read(splitter.segments[index])
        for child in token.children or ()
        if child.type == "link_open"
    ]


@pytest.mark.parametrize("address", ["http://x.org", "https://x.org/a?b#c", "mailto:a@x.org", "HTTPS://X"])
def test_web_and_mail_addresses_may_be_opened(address: str) -> None:
    assert may_open(address)


@pytest.mark.parametrize(
    "address",
    [
        *("file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "//host/share", "/etc/passwd"),
        *("\\\\host\\share", "smb://host", "http:", "https://", "http:///x", " http://x.org", "#a", ""),
        *("vscode://x", "mailto:", "x-http://a.b", "java\nscript:x"),
    ],
)
def test_other_addresses_may_not(address: str) -> None:
    assert not may_open(address)


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("so $x^2$ is", [("math_inline", "x^2")]),
        (r"so \(x\) and \[y\] are", [("math_inline", "x"), ("math_display", "y")]),
        ("so $$x$$ is", [("math_display", "x")]),
        ("$5x + 3$.", [("math_inline", "5x + 3")]),
        ("$n$-th, ($k$)", [("math_inline", "n"), ("math_inline", "k")]),
        ("costs $24000 and $40000", []),
        ("from $5 (US$) on", []),
        ("$5-$10 or US$3 and AU$4", []),
        (r"escaped \$x$ and \\(x\\)", []),
        ("$ x $ and $ and $$ $$", []),
        ("`$x$` is code", []),
        ("$5/month or 6$", []),
        ("$a\\$b$", [("math_inline", "a\\$b")]),
    ],
)
def test_formulas_are_told_from_prices(text: str, formulas: list[tuple[str, str]]) -> None:
    assert [found for found in inline_kinds(text) if found[0].startswith("math")] == formulas


@pytest.mark.parametrize(
    "text", ["$$\nx\ny\n$$", "\\[\nx\ny\n\\]", "text:\n$$x\ny$$\nmore", "- a\n\n  $$\n  x\n  y\n  $$"]
)
def test_display_formulas_are_blocks(text: str) -> None:
    assert [token.content for token in tokens_of(text) if token.type == "math_block"] == ["x\ny"]


@pytest.mark.parametrize("text", ["$$\nx\n\ny\n$$", "$$\nx", "$$", "\\[ x"])
def test_a_formula_holds_no_blank_line_and_needs_an_end(text: str) -> None:
    assert not [token for token in tokens_of(text) if token.type == "math_block"]


def test_html_is_text() -> None:
    kinds = {kind for kind, _ in inline_kinds("<p>x</p> <a href=a>\n\n<div>\n\n</div> <b class=x>y</b>")}

    assert kinds == {"text"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("H<sub>2</sub>O", ["text H", "lowered_open", "text 2", "lowered_close", "text O"]),
        ("<B>*x*</b>", ["strong_open", "em_open", "text x", "em_close", "strong_close"]),
        ("<kbd>Ctrl</kbd>", ["key_open", "text Ctrl", "key_close"]),
        ("<b>never `</b>`", ["text <b>never ", "code_inline </b>"]),
        ("<sub></sub> <b>", ["text <sub></sub> <b>"]),
        ("*a <b>c*</b>", ["text *a ", "strong_open", "text c*", "strong_close"]),
        (
            "<summary>More</summary></details>",
            ["strong_open", "text More", "strong_close", "html_hidden"],
        ),
    ],
)
def test_bare_tags_in_pairs_mean_what_they_mean_elsewhere(text: str, shown: list[str]) -> None:
    children = [child for token in tokens_of(text) for child in token.children or ()]
    assert [
        f"{child.type} {child.content}".strip() for child in children if child.type != "text" or child.content
    ] == [one.strip() for one in shown]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one<br>two<BR />three", ["one", "two", "three"]),
        ("one<br>\n  two", ["one", "two"]),
        ("one<br>", ["one"]),
        ('one <br class="x"> `<br>`', ['one <br class="x"> <br>']),
        ("| one<br>two |\n|---|", ["one", "two"]),
    ],
)
def test_a_break_of_html_ends_a_line(text: str, lines: list[str]) -> None:
    children = [child for token in tokens_of(text) for child in token.children or ()]
    shown = "".join("\n" if child.type == "hardbreak" else child.content for child in children)
    assert shown.split("\n") == lines


@pytest.mark.parametrize(
    ("text", "strong"),
    [
        ("这是**“引号”**的例子", ["“引号”"]),
        ("**注意：**后面", ["注意："]),
        ("和**《书》**的**二**", ["《书》", "二"]),
        ("日本語の**「強調」**です", ["「強調」"]),
        ("그것은**“강조”**다", ["“강조”"]),
        ("中 ** 文 ** 字", []),
        ("a**“b”**c", []),
        ("**plain** 中文", ["plain"]),
    ],
)
def test_emphasis_needs_no_blanks_where_words_have_none(text: str, strong: list[str]) -> None:
    children = [child for token in tokens_of(text) for child in token.children or ()]
    found = [children[at + 1].content for at, child in enumerate(children) if child.type == "strong_open"]
    assert found == strong


def test_a_definition_that_comes_late_makes_the_link() -> None:
    splitter = Splitter()
    environment = MarkdownEnvironment()
    environment.update(splitter.segments, splitter.feed("A [link][Ref], [ref] and [other].\n\n" + FILLER * 3))
    assert hrefs(environment, splitter, 0) == []

    again = environment.update(splitter.segments, splitter.feed("[rEF]: http://x.org/a\n\n" + FILLER))

    assert again == {0}
    assert hrefs(environment, splitter, 0) == ["http://x.org/a"] * 2


def test_the_first_definition_of_a_label_holds() -> None:
    splitter = Splitter()
    environment = MarkdownEnvironment()
    environment.update(splitter.segments, splitter.feed(f"[a]: http://one.org\n\n{FILLER}[a]\n\n{FILLER}"))
    again = environment.update(splitter.segments, splitter.feed("[a]: http://two.org\n\n"))

    assert again == frozenset()
    assert hrefs(environment, splitter, 1) == ["http://one.org"]


def test_many_definitions_in_a_row_all_hold() -> None:
    text = "".join(f"[label{number}]: http://x.org/{number}\n" for number in range(300))
    segments = segments_of(f"[label299]\n\n{text}")
    environment = MarkdownEnvironment()
    environment.update(segments, range(len(segments)))

    assert len(segments) > 2
    links = [c for t in environment.read(segments[0]) for c in t.children or () if c.type == "link_open"]
    assert [link.attrs["href"] for link in links] == ["http://x.org/299"]


def test_footnotes_are_numbered_by_their_references_and_only_if_they_exist() -> None:
    splitter = Splitter()
    environment = MarkdownEnvironment()
    environment.update(splitter.segments, splitter.feed(f"One[^b], none[^x], two[^a].\n\n{FILLER * 2}"))
    assert environment.footnote_number("b") is None

    again = environment.update(
        splitter.segments, splitter.feed("[^a]: First.\n[^b]: Second.\n[^c]: Third.\n")
    )
    environment.update(splitter.segments, splitter.finish())

    assert again == {0}
    assert [environment.footnote_number(label) for label in "bacx"] == [1, 2, 3, None]
    assert environment.footnote_place("a") == len(splitter.segments) - 1


def test_segments_read_one_by_one_say_what_the_whole_text_says() -> None:
    text = "".join(f"{part.rstrip()}\n\n{FILLER}" for part in CORPUS if part.isascii() and "\r" not in part)
    environment: dict[str, Any] = {}
    reader = MarkdownReader()
    reader.blocks(text, environment)
    whole = reader.blocks(text, {"references": environment["references"]})

    assert len(segments_of(text)) > len(CORPUS)
    assert said(tokens_of(text)) == said(whole)


def said(tokens: list[Token]) -> list[tuple[object, ...]]:
    return [
        (token.type, token.content.rstrip(), token.info.strip(), token.hidden, len(token.children or ()))
        for token in tokens
    ]


@pytest.mark.parametrize("text", CORPUS)
def test_definitions_and_footnotes_are_the_same_however_the_text_arrived(text: str) -> None:
    growing = Splitter()
    environment = MarkdownEnvironment()
    for character in text:
        environment.update(growing.segments, growing.feed(character))
    environment.update(growing.segments, growing.finish())
    segments = segments_of(text)
    fresh = MarkdownEnvironment()
    fresh.update(segments, range(len(segments)))

    for segment in segments:
        assert environment.read(segment) == fresh.read(segment)


def test_segments_rebuilt_when_told_show_what_a_fresh_reading_shows() -> None:
    source = random.Random(11)
    parts = [*CORPUS, FILLER, "[late] [^1] [a][late]\n\n", "[late]: http://y.org\n\n", "[^1]: note\n\n"]
    for _ in range(20):
        text = "".join(source.choices(parts, k=12))
        splitter = Splitter()
        environment = MarkdownEnvironment()
        shown: dict[int, list[Token]] = {}
        for start in range(0, len(text), 17):
            changed = splitter.feed(text[start : start + 17])
            for index in environment.update(splitter.segments, changed) | set(changed):
                shown[index] = environment.read(splitter.segments[index])
        for index, segment in enumerate(splitter.segments):
            assert shown[index] == environment.read(segment)


def test_what_is_nested_too_deeply_is_shown_as_source() -> None:
    for text in (">" * 1_000 + " x", "- " * 500 + "x", "".join(" " * (2 * n) + "- x\n" for n in range(40))):
        shown = "".join(token.content for token in tokens_of(text) if token.type in ("code_block", "inline"))
        assert shown.count("x") == text.count("x")


@pytest.mark.parametrize(
    "text",
    [
        *("`" * 1_000_000, ">" * 10_000, "- " * 10_000, "[" * 10_000, "![" * 5_000, "[a](" * 5_000),
        *("*a _b " * 5_000, "**" * 10_000, "~~a " * 5_000, "$a " * 5_000, "\\(" * 5_000, "<" * 10_000),
        *("[^a]" * 5_000, "[^a]: b\n" * 1_000, "|" * 5_000 + "\n" + "|-" * 2_500, "\0" * 5_000),
        *("\u200b\u202e\u2066" * 3_000, "\ud83d" * 5_000, "\ufdd0\ufdd1\u2029\u2028\ufffc" * 1_000),
        "&#xD800;&#0;&#x110000;",
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    assert tokens_of(text)


def test_random_markdown_is_read_to_its_end() -> None:
    source = random.Random(3)
    for _ in range(40):
        tokens_of("".join(source.choices(PIECES, k=60)))
