"""Segments are the same however the text arrives, and never grow beyond their caps."""

import random
from collections.abc import Iterable
from time import perf_counter

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from sophos_desktop.shell.transcript.markdown.block_scanner import CODE_LIMIT, CODE_LINES, TABLE_ROWS
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.markdown.splitter import LONG_LINE, PARAGRAPH_LIMIT, Splitter
from tests.shell.transcript.samples import CORPUS, PIECES, segments_of

bounded = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
documents = st.lists(st.sampled_from(PIECES), min_size=1, max_size=60).map("".join)


def fed(parts: Iterable[str]) -> list[Segment]:
    splitter = Splitter()
    for part in parts:
        splitter.feed(part)
    splitter.finish()
    return list(splitter.segments)


@pytest.mark.parametrize("text", CORPUS)
def test_every_place_to_split_the_text_gives_the_same_segments(text: str) -> None:
    fresh = segments_of(text)

    assert "".join(segment.text for segment in fresh) == text
    assert all(fed((text[:place], text[place:])) == fresh for place in range(len(text) + 1))
    assert fed(text) == fresh


@pytest.mark.parametrize("text", CORPUS)
def test_what_is_shown_after_a_prefix_is_what_a_fresh_reader_of_the_prefix_sees(text: str) -> None:
    growing = Splitter()
    for place, character in enumerate(text, 1):
        growing.feed(character)
        fresh = Splitter()
        fresh.feed(text[:place])
        assert list(growing.segments) == list(fresh.segments)
        assert "".join(segment.text for segment in growing.segments) == text[:place]


@seed(7)
@bounded
@given(documents)
def test_a_random_document_fed_by_the_character_gives_the_same_segments(text: str) -> None:
    fresh = segments_of(text)

    assert "".join(segment.text for segment in fresh) == text
    assert fed(text) == fresh


@seed(8)
@bounded
@given(documents, st.integers(1, 40))
def test_slices_give_the_same_segments(text: str, size: int) -> None:
    splitter = Splitter()
    for start in range(0, len(text), size):
        splitter.add(text[start : start + size])
        while not splitter.feed_slice(0.0):
            pass
    splitter.finish()

    assert list(splitter.segments) == segments_of(text)


def test_closed_segments_stay_and_the_range_says_what_changed() -> None:
    splitter = Splitter()
    known: list[Segment] = []
    for part in "".join(CORPUS).split(" "):
        changed = splitter.feed(part + " ")
        assert list(splitter.segments[: changed.start]) == known[: changed.start]
        assert changed.stop == len(splitter.segments)
        assert all(segment.closed for segment in splitter.segments[: splitter.closed_count])
        known = list(splitter.segments)


@pytest.mark.parametrize(
    "text",
    [
        "word " * 40_000,
        "x" * 200_000,
        "- " + "word " * 40_000,
        "> " + "word " * 40_000,
        "line of a paragraph\n" * 10_000,
        "- item\n" * 30_000,
        "> words\n" * 30_000,
        "1. item\n" + "   more of it\n\n" * 15_000,
        "- a\n\n  ```\n" + "  code\n" * 30_000,
        "\n" * 200_000,
        "$$\n" * 60_000,
        "\\[ a\n" * 40_000,
        "    code\n" * 20_000,
        "# " + "heading " * 20_000,
        "|" * 100_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_no_segment_outgrows_what_one_document_can_bear(text: str) -> None:
    segments = segments_of(text)

    assert "".join(segment.text for segment in segments) == text
    assert max(len(segment.text) for segment in segments) <= CODE_LIMIT + LONG_LINE + 64, "and a fence"


def test_a_long_paragraph_is_cut_at_blanks_and_goes_on() -> None:
    segments = segments_of("word " * 4_000)

    assert [segment.kind for segment in segments[:2]] == [SegmentKind.BLOCKS, SegmentKind.TEXT]
    assert all(len(segment.text) <= PARAGRAPH_LIMIT and segment.text.endswith(" ") for segment in segments)
    assert [segment.goes_on for segment in segments] == [True] * (len(segments) - 1) + [False]


def test_a_character_of_several_parts_is_not_cut() -> None:
    segments = segments_of("👩\u200d👩\u200d👧" * 1_000 + "\ud83d\ude00" * 3_000)

    starts = [segment.text[0] for segment in segments]
    assert "\u200d" not in starts
    assert "\ude00" not in starts


def test_code_is_cut_every_eighty_lines_and_reads_on_as_code() -> None:
    lines = [f"line {number}  # [x]" for number in range(300)]
    segments = segments_of("before\n\n~~~~py\n" + "\n".join(lines) + "\n~~~~\n\nafter")

    pieces = [segment for segment in segments if segment.kind is SegmentKind.CODE]
    assert "\n".join(piece.code for piece in pieces).split("\n") == lines
    assert max(piece.code.count("\n") + 1 for piece in pieces) == CODE_LINES
    assert {piece.language for piece in pieces} == {"py"}
    assert [piece.continues for piece in pieces] == [False, True, True, True]
    assert [piece.has_end for piece in pieces] == [False, False, False, True]


def test_one_endless_line_of_code_is_cut() -> None:
    pieces = segments_of("```\n" + "z" * 50_000 + "\n```\n")

    assert "".join(piece.code for piece in pieces) == "z" * 50_000
    assert max(len(piece.text) for piece in pieces) <= CODE_LIMIT


def test_a_table_is_cut_every_sixteen_rows_and_keeps_its_first_piece() -> None:
    head = "| a | b |\n|---|---|\n"
    rows = [f"| {number} | x |\n" for number in range(50)]
    pieces = segments_of("text\n\n" + head + "".join(rows) + "\nafter")

    assert [piece.kind for piece in pieces].count(SegmentKind.TABLE) == 4
    first, second = pieces[1], pieces[2]
    assert first.text == head + "".join(rows[:TABLE_ROWS])
    assert second.lead == first.text
    assert second.text == "".join(rows[TABLE_ROWS : 2 * TABLE_ROWS])


def test_code_in_a_list_that_is_cut_goes_on_as_code() -> None:
    lines = [f"step({number})" for number in range(200)]
    text = "1. do\n\n   ```py\n" + "".join(f"   {line}\n" for line in lines) + "   ```\n\n2. next\n"
    segments = segments_of(text)

    later = [segment for segment in segments[1:] if segment.kind is SegmentKind.CODE]
    assert later
    assert (
        "\n".join(piece.code for piece in later).split("\n")
        == lines[-len("\n".join(p.code for p in later).split("\n")) :]
    )
    assert segments[-1].text.startswith("2. next")


def test_an_ordered_list_that_is_cut_keeps_counting() -> None:
    segments = segments_of("1. item number\n" * 400)

    assert all(segment.number == segment.start // 15 + 1 for segment in segments[1:])
    assert len(segments) > 2


def test_a_formula_without_an_end_is_text() -> None:
    text = "$$\nx\n\n```\ncode\n\n# still code\n```\n\n# heading\n"
    kinds = [segment.kind for segment in segments_of(text)]

    assert kinds == [SegmentKind.BLOCKS, SegmentKind.CODE, SegmentKind.BLOCKS]


def test_feeding_a_finished_splitter_is_an_error() -> None:
    splitter = Splitter()
    splitter.finish()

    with pytest.raises(RuntimeError):
        splitter.feed("more")


def test_text_that_waits_for_its_slice_can_be_shown_raw() -> None:
    text = "".join(f"paragraph {number}\n\n" for number in range(2_000))
    splitter = Splitter()
    splitter.add(text)
    is_done = splitter.feed_slice(0.0)

    shown = "".join(segment.text for segment in splitter.segments)
    assert not is_done
    assert shown + splitter.waiting_text == text
    while not splitter.feed_slice(perf_counter() + 60):
        pass
    assert splitter.waiting_text == ""


def test_ten_million_characters_of_random_markdown_are_split() -> None:
    source = random.Random(7)
    text = "".join(source.choices(PIECES, k=40_000))
    text = (text * (10_000_000 // len(text) + 1))[:10_000_000]
    splitter = Splitter()
    for start in range(0, len(text), 1_000_000):
        splitter.feed(text[start : start + 1_000_000])
    splitter.finish()

    assert sum(len(segment.text) for segment in splitter.segments) == len(text)
    assert max(len(segment.text) for segment in splitter.segments) <= CODE_LIMIT + LONG_LINE + 64, (
        "and a fence"
    )
