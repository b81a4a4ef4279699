"""A text full of marks is cut where nothing is open, into pieces that are cheap to draw."""

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextBlock, QTextFragment

from sophos_desktop.shell.transcript.drawing.built import SegmentDocument
from sophos_desktop.shell.transcript.drawing.document_builder import build
from sophos_desktop.shell.transcript.drawing.math_images import MathImages
from sophos_desktop.shell.transcript.markdown.density import MARK_COST, Spent, affordable, best_cut
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.segments import SegmentKind
from sophos_desktop.shell.transcript.markdown.splitter import PARAGRAPH_LIMIT, Splitter
from tests.shell.transcript.answers import LIGHT, WIDTH, Answer
from tests.shell.transcript.samples import segments_of
from tests.shell.transcript.viewing import answer, shown, until_idle

bounded = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
MARKED = ("`a` ", "b ", "$x$ ", "*c d* ", "**e", "f** ", "[g h](https://i.example) ", "~~j~~ ", "`` k`l `` ")
BARE = (
    "`",
    "*",
    "_",
    "$",
    "[",
    "]",
    "(",
    ")",
    "\\",
    "<",
    "!",
    "~",
    " ",
    "\n",
    "\r\n",
    "a",
    "://",
    "\u0301",
    "😀",
)
words = st.lists(st.sampled_from(MARKED + BARE), min_size=20, max_size=900).map("".join)
MOST_RUNS = 2 * PARAGRAPH_LIMIT // MARK_COST + 2

DENSE = {
    "code": "`a` b ",
    "code without blanks": "`a`b",
    "formulas": "$x$ y ",
    "emphasis": "*a* **b** ",
    "emphasis without blanks": "*a*，**b**。",
    "links": "[a](https://b.example/c) ",
    "references": "[a][b] ",
    "struck": "~~a~~ b ",
    "addresses": "https://a.example/b ",
    "lines": "a\n",
    "items": "- `a` b\n",
    "quotes": "> `a` *b*\n",
}


def fragments_of(block: QTextBlock) -> list[QTextFragment]:
    """The runs of letters of a block."""
    found = []
    place = block.begin()
    while not place.atEnd():
        found.append(place.fragment())
        place += 1
    return found


def runs_of(answer: Answer) -> list[int]:
    """How many runs of letters each document has."""
    counts = []
    for document in answer.documents:
        block, count = document.begin(), 0
        while block.isValid():
            count += len(fragments_of(block))
            block = block.next()
        counts.append(count)
    return counts


@pytest.mark.parametrize("piece", DENSE.values(), ids=DENSE.keys())
def test_no_document_of_a_dense_text_has_more_than_some_hundred_runs(piece: str) -> None:
    text = "[b]: https://c.example\n\n" + piece * (20_000 // len(piece))
    built = Answer(text)

    assert "".join(segment.text for segment in built.segments) == text
    assert max(runs_of(built)) <= MOST_RUNS


@pytest.mark.parametrize(
    "piece", ["`a b` c ", "$x + y$ z ", "*a b* c ", "**a b** ", "[a b](https://c.example) ", "~~a b~~ c "]
)
def test_a_cut_leaves_nothing_open(piece: str) -> None:
    built = Answer("a few words before, " + piece * 500)
    plain = Answer(piece)
    drawn = "".join(document.toPlainText() for document in built.documents)

    assert len(built.segments) > 4
    assert not any(mark in drawn for mark in "`$*[~")
    assert sum(map(len, (each.inline_code for each in built.built))) == 500 * len(plain.built[0].inline_code)
    assert sum(map(len, (each.links for each in built.built))) == 500 * len(plain.built[0].links)
    assert sum(map(len, (each.formulas for each in built.built))) == 500 * len(plain.built[0].formulas)


def test_emphasis_around_a_long_part_is_not_cut_if_a_place_before_it_can_be() -> None:
    text = "`a` " * 150 + "*" + "b c " * 60 + "d* " + "`e` " * 100
    segments = segments_of(text)

    assert len(segments) > 1
    assert all(segment.text.count("*") in (0, 2) for segment in segments)


def test_running_text_with_some_marks_is_one_document_as_before() -> None:
    text = "Some words with `code`, **weight** and [a link](https://a.example) in a sentence. " * 12

    assert len(segments_of(text)) == 1


def test_marks_within_code_cost_nothing() -> None:
    line = "total[0] = sum(`a`, *b, $c, _d) | e < f\n"

    assert len(segments_of("```\n" + line * 70 + "```\n")) == 1


@seed(11)
@bounded
@given(words)
def test_a_dense_text_fed_by_the_character_gives_the_same_segments(text: str) -> None:
    growing = Splitter()
    for character in text:
        growing.feed(character)
    growing.finish()
    fresh = segments_of(text)

    assert "".join(segment.text for segment in fresh) == text
    assert list(growing.segments) == fresh


@seed(12)
@bounded
@given(words, st.integers(50, 3_000), st.integers(1, 400))
def test_what_can_be_afforded_of_a_text_does_not_depend_on_what_follows(
    text: str, limit: int, less: int
) -> None:
    end = affordable(text, limit)
    known = text[: max(end + 1, len(text) - less)]

    assert affordable(known, limit) == end
    if end < len(text):
        assert 0 < best_cut(text, end) <= end
        assert best_cut(known, end) == best_cut(text, end)


@seed(13)
@bounded
@given(st.lists(st.sampled_from(MARKED + BARE[:-6]), max_size=60))
def test_lines_cost_what_their_text_costs(lines: list[str]) -> None:
    spent = Spent()
    end = 0
    for line in lines:
        end += len(line) + 1
        spent.add(line, end, is_code=False)
    whole = Spent()
    whole.begin(0, "".join(line + "\n" for line in lines))

    assert spent.total == whole.total


def test_a_dense_paragraph_drawn_while_it_arrives_ends_as_a_fresh_one() -> None:
    text = "".join(
        f"`{number}` *a b* $x_{number % 7}$ [c](https://d.example/{number}) " for number in range(90)
    )
    splitter, environment, math = Splitter(), MarkdownEnvironment(), MathImages()
    screen: dict[int, SegmentDocument] = {}
    for start in [*range(0, len(text), 64), None]:
        changed = splitter.finish() if start is None else splitter.feed(text[start : start + 64])
        for index in environment.update(splitter.segments, changed) | set(changed):
            screen[index] = SegmentDocument()
            build(screen[index], splitter.segments[index], environment, LIGHT, WIDTH, math)
    fresh = Answer(text)

    assert len(screen) == len(fresh.documents) > 3
    for index, document in enumerate(fresh.documents):
        assert screen[index].toHtml() == document.toHtml()


def test_air_stands_around_code_whatever_letter_is_before_it() -> None:
    for before in ("a", "é", "e\u0301", "漢", "क्षि"):
        document = Answer(f"xy{before}`c`").documents[0]
        spaced = [
            fragment.text()
            for fragment in fragments_of(document.begin())
            if fragment.charFormat().fontLetterSpacing() == LIGHT.code_air
        ]
        assert "".join(spaced).startswith(before)
        assert spaced[-1].endswith("c")


def test_pieces_of_a_dense_paragraph_go_on_with_it() -> None:
    segments = segments_of("`a` " * 1_000)

    assert [segment.kind for segment in segments[:2]] == [SegmentKind.BLOCKS, SegmentKind.TEXT]
    assert all(segment.goes_on for segment in segments[:-1])


def test_a_screen_looks_for_text_beyond_a_thousand_blank_pieces_without_building_them() -> None:
    with shown([answer("a", "words\n\n" + "\u00a0" * 100_000)]) as view:
        until_idle(view)

        assert len(view.transcript_layout.documents) < 5


def test_a_footnote_that_is_named_a_thousand_times_counts_once() -> None:
    built = Answer("[^1]: A note.\n\n[^b]: Another.\n\n" + "a[^b] c[^1] " * 1_000)

    assert built.environment.footnote_number("b") == 1
    assert built.environment.footnote_number("1") == 2
    links = [link for each in built.built for link in each.links]
    assert len(links) == 2_000
