"""The Markdown of a part of an answer: it shows what was selected, and keeps what that stood in."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.copying.clipboard import Span, copied_markdown
from sophos_desktop.shell.transcript.copying.source_leaves import leaves_of
from sophos_desktop.shell.transcript.copying.source_map import placed_leaves
from sophos_desktop.shell.transcript.copying.source_slices import groups_of
from sophos_desktop.shell.transcript.markdown.inline_places import PLACES, PlacedReader
from sophos_desktop.shell.transcript.markdown.segments import SegmentKind
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from tests.shell.transcript.copies import Copies, lines_of
from tests.shell.transcript.samples import CORPUS
from tests.shell.transcript.viewing import answer, shown, until_idle

DEFINITION = "[late]: http://x.org 'T t'\n"
KINDS = (
    "Text ![pic](http://x/y.png) more ![](http://u.v/[a]b) and $$x^2$$ end $\\nope{$ x\n\n> ![q](z)\n\n"
    "- ![k](v) tail\n- > q\n- # h\n- ```\n  code\n  ```\n-\n- [a ![in *x*](u) b](http://k)\n",
    "***bold it*** ~~~x~~ ~~ok~~ \u202e bidi \0 nul 😀 **a _b_**\n\n1. a\n1. b\n\n   p\n5. c\n",
    "A *claim*[^1] [a **bold** link][late], <http://auto.x/y>.\n\n[^1]: The *note*\n    goes on.\n\n"
    "    Second para.\n\n> **quo ted** [late]\n> more\n>\n> > deep `co de` here\n>\n> - li **st**\n>   more\n"
    ">\n>   1. num\n>   2. ber\n\n| *h* | k |\n|:--|--:|\n| `a \\| b` | c *d* |\n| e | |\n\n" + DEFINITION,
    "a_b_ c 2 * 3 see - foo # no 1. one + x\nsecond **line**\\\nhard  \nbreak `` a`b `` x \\[ y\n\n"
    "Setext *head*\nmore\n===\n\n## ATX **x** ##\n\n***\n\n- [ ] open *task*\n- [x] done\n\n\n* * *\n\n"
    "    indented\n\n      code\n\n```py extra\ndef f():\n    return 'x'\n\n\nx\n```\n\n"
    "$$\na\nb\n$$\n\nend\n",
)
# No paragraph of several lines at a seam: the transcript shows it as two.
LONG = (
    "".join(f"- item {n} *x* `c`\n" + (f"  1. sub **{n}** more\n" * (n % 3)) for n in range(120)),
    "- big item\n\n" + "".join(f"  para {n} of **some** words\n\n" for n in range(200)) + "- next\n\nend\n",
    "intro\n\n```py\n" + "".join(f"line_{n} = '{n}'\n" for n in range(200)) + "```\n\nafter\n",
    "- item\n\n  ```py\n" + "".join(f"  line_{n} = {n}\n" for n in range(200)) + "  ```\n\n  tail\n- next\n",
    "> q\n> ```\n" + "".join(f"> line_{n} = {n}\n" for n in range(200)) + "> ```\n> tail\n\nafter\n",
    "before\n\n| a | b |\n|---|--:|\n"
    + "".join(f"| **r{n}** x | `{n}` |\n" for n in range(50))
    + "\nafter\n",
    "intro\n\n    code\n" + "".join(f"    line {n}\n" for n in range(900)) + "\nafter\n",
)
OFFSETS = st.integers(0, 1_000_000)
bounded = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def answers() -> list[Copies]:
    return [Copies(source) for source in (*CORPUS, *KINDS)]


@pytest.fixture(scope="module")
def long_answers() -> list[Copies]:
    return [Copies(source) for source in LONG]


def assert_shows_the_same(copies: Copies, one: int, other: int) -> None:
    """What is copied from a random place to another says as Markdown what it says as text."""
    ends = sorted((copies.place(one % copies.length), copies.place(other % copies.length)))
    start, end = copies.snapped(ends[0], is_end=False), copies.snapped(ends[1], is_end=True)
    if copies.is_one_cell(start, end):
        head = ""
    else:
        start, end = copies.row_edge(start, is_end=False), copies.row_edge(end, is_end=True)
        head = copies.head_above(start)
    text, markdown = copies.text(start, end), copies.markdown(start, end)
    again = Copies(f"{markdown}\n\n{DEFINITION}" if "late]" in markdown else markdown).whole_text
    wanted = [lines_of(f"{head}\n{text}")]
    if head and "\t" not in text and "\n" not in text:
        wanted.append(lines_of(text))  # all that the row shows is in one cell
    assert lines_of(again) in wanted, (start, end, markdown)


@bounded
@given(which=OFFSETS, one=OFFSETS, other=OFFSETS)
def test_a_part_shows_as_markdown_what_it_says_as_text(
    answers: list[Copies], which: int, one: int, other: int
) -> None:
    assert_shows_the_same(answers[which % len(answers)], one, other)


@bounded
@given(which=OFFSETS, one=OFFSETS, length=st.integers(1, 12))
def test_a_few_characters_show_as_markdown_what_they_say_as_text(
    answers: list[Copies], which: int, one: int, length: int
) -> None:
    copies = answers[which % len(answers)]
    first = one % copies.length
    assert_shows_the_same(copies, first, min(first + length, copies.length - 1))


@settings(bounded, max_examples=60)
@given(which=OFFSETS, one=OFFSETS, other=OFFSETS)
def test_a_part_of_a_long_block_that_is_cut_into_segments_shows_the_same(
    long_answers: list[Copies], which: int, one: int, other: int
) -> None:
    assert_shows_the_same(long_answers[which % len(long_answers)], one, other)


@settings(bounded, max_examples=80)
@given(which=OFFSETS, one=OFFSETS, other=OFFSETS)
def test_whole_blocks_are_the_exact_source(answers: list[Copies], which: int, one: int, other: int) -> None:
    copies = answers[which % len(answers)]
    pieces = [
        (index, group)
        for index, segment in enumerate(copies.built.segments)
        if segment.kind is not SegmentKind.CODE and not segment.continues
        for group in groups_of(copies.built.documents[index], segment)
        if group.start < group.end
    ]
    if not pieces:
        return
    (first, head), (last, tail) = sorted(
        (pieces[one % len(pieces)], pieces[other % len(pieces)]), key=lambda piece: (piece[0], piece[1].start)
    )
    segments = copies.built.segments
    begins = segments[first].start + head.source_start
    ends = segments[last].start + tail.source_end
    copied = copies.markdown((first, head.start), (last, tail.end))
    assert copied == copies.source[begins:ends].strip("\n")


def test_every_block_of_every_kind_is_found_in_its_document(answers: list[Copies]) -> None:
    reader = PlacedReader()
    for copies in answers:
        for segment, document in zip(copies.built.segments, copies.built.documents, strict=True):
            if segment.kind in (SegmentKind.CODE, SegmentKind.TEXT) or segment.continues:
                continue
            environment = copies.built.environment
            labels = {"LATE": {"href": "http://x.org", "title": "T t"}} if "late]" in segment.text else {}
            leaves = leaves_of(reader.blocks(segment.body, {"references": labels}), segment.number)
            placed = placed_leaves(document, leaves, environment.footnote_number)
            assert placed is not None, segment.text
            assert [one.leaf for one in placed] == leaves


def test_each_inline_token_knows_its_source() -> None:
    source = "a **b*c*** `` d`e `` \\* &amp; [f *g*](http://x) <http://h> $i$ ~~j~~ ![k](l)[^1]  \nm"
    (inline,) = [token for token in PlacedReader().blocks(source, {}) if token.type == "inline"]
    texts = {
        child.content or child.type: [source[first:last] for first, last in child.meta[PLACES]]
        for child in inline.children or ()
    }
    assert texts["d`e"] == ["`` d`e ``"]
    assert texts["*"] == ["\\*"]
    assert texts["&"] == ["&amp;"]
    assert texts["http://h"] == list("http://h")
    assert texts["i"] == ["$i$"]
    assert texts["k"] == ["![k](l)"]
    assert texts["footnote_ref"] == ["[^1]"]
    assert texts["link_close"] == [">"]
    assert texts["m"] == ["m"]


def part_of(source: str, first: str, last: str) -> str:
    """What is copied from where `first` begins to where the `last` after it ends."""
    copies = Copies(source)
    places = []
    for words in (first, last):
        segment, at = next(
            (index, document.toPlainText().find(words))
            for index, document in enumerate(copies.built.documents)
            if words in document.toPlainText()
        )
        places.append((segment, at))
    return copies.markdown(places[0], (places[1][0], places[1][1] + len(last)))


TABLE = "before\n\n| *a* | b |\n|:--|--:|\n| c | **d** e |\n| q | g |\n\nafter\n"
PYTHON = "```python title\nif x:\n    one = 1\n    two = 2\n```\n"


@pytest.mark.parametrize(
    ("source", "first", "last", "copied"),
    [
        (TABLE, "d", "d", "**d**"),
        (TABLE, "c", "d", "| *a* | b |\n|:--|--:|\n| c | **d** e |"),
        (TABLE, "q", "aft", "| *a* | b |\n| :-- | --: |\n| q | g |\n\naft"),
        (PYTHON, "    one", "two = 2", "```python title\n    one = 1\n    two = 2\n```"),
        (PYTHON, "    one", "1", "```python title\n    one = 1\n```"),
        (PYTHON, "one", "1", "`one = 1`"),
        ("> one *two*\n> three\n>\n> four\n", "two", "fo", "> *two*\n> three\n>\n> fo"),
        ("> one *two*\n> three\n>\n> four\n", "wo", "thr", "*wo*\nthr"),
        ("- a\n  1. b c\n  2. d\n     > e f\n- g\n", "c", "e", "1. c\n2. d\n   > e"),
        ("- [ ] to do\n- [x] done *now*\n", "do", "no", "- [ ] do\n- [x] done *no*"),
        ("1. a\n1. b b\n1. c c\n", "b b", "c", "2. b b\n3. c"),
        ("*   wide one\n*   two two\n", "one", "two", "*   one\n*   two"),
        ("Said[^n] so.\n\n[^n]: The *note*\n    goes on.\n", "note", "goes", "*note*\ngoes"),
        ("Said[^n] so.\n\n[^n]: The *note*\n    goes on.\n", "Said", "so", "Said[^n] so"),
        ("See [the **page**][p] now.\n\n[p]: http://x.org/a \"T\"\n", "page", "no",
         '[**page**](http://x.org/a "T") no'),
        ("See <http://x.org/a> now.\n", "x.org", "no", "[x.org/a](http://x.org/a) no"),
        ("a see - foo # bar\n", "- foo", "b", "\\- foo \\# b"),
        ("## Head *of* it ##\n\nThen text.\n", "of", "Then", "## *of* it ##\n\nThen"),
        ("Head *of*\nit\n===\n\nThen text.\n", "of", "Then", "*of*\nit\n===\n\nThen"),
        ("Some $$x^2$$ here.\n", "\ufffc", "\ufffc", "$$x^2$$"),
    ],
)  # fmt: skip
def test_a_part_keeps_what_it_stands_in(source: str, first: str, last: str, copied: str) -> None:
    assert part_of(source, first, last) == copied


def test_code_keeps_its_fence_when_it_is_cut_in_any_of_its_segments() -> None:
    code = [f"line_{number} = {number}" for number in range(200)]
    source = "```py\n" + "\n".join(code) + "\n```\n\nafter\n"
    copied = part_of(source, "line_70 ", "line_150 = 150")
    assert copied == "```py\n" + "\n".join(code[70:151]) + "\n```"
    assert part_of(source, "line_190 ", "aft") == "```py\n" + "\n".join(code[190:]) + "\n```\n\naft"
    assert part_of(source, "line_0 ", "line_150 = 150") == "```py\n" + "\n".join(code[:151]) + "\n```"


def test_rows_of_a_later_piece_of_a_table_have_its_head() -> None:
    rows = [f"| r{number} | {number} |" for number in range(50)]
    source = "\n".join(["| a | b |", "|---|--:|", *rows, ""])
    head = "| a | b |\n| --- | --: |\n"
    assert part_of(source, "r20", "r30") == head + "\n".join(rows[20:31])


def test_what_lies_between_the_ends_costs_no_document() -> None:
    item = "- item with *some* [words](http://x.org) and `code`\n\n  | a | b |\n  |---|---|\n  | c | d |\n"
    source = item * (1_000_000 // len(item))
    with shown([answer("a", source)]) as view:
        until_idle(view)
        segments, scratch = view.model.segments(0), ScratchDocuments(view)
        asked: list[int] = []

        def document_of(message: int, segment: int) -> QTextDocument:
            asked.append(segment)
            return scratch.document(message, segment)

        span = Span(TextPosition(0, 1, 9), TextPosition(0, len(segments) - 2, 9))
        copied = copied_markdown(view.model, document_of, span)
        assert len(segments) > 500
        # The first item is cut, so its segment is written anew, and the next one as what goes on with it.
        assert {1, len(segments) - 2} <= set(asked) <= {1, 2, len(segments) - 2}
        assert len(copied) > 990_000
        assert copied.startswith("- ")
        assert copied[2_000:900_000] in source
