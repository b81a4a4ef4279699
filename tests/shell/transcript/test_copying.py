"""What the clipboard gets of a selection: plain text, or Markdown that is the source."""

import random

import pytest
from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.copying.clipboard import (
    Span,
    copied_markdown,
    copied_text,
    message_span,
    whole_span,
)
from sophos_desktop.shell.transcript.copying.source_slices import groups_of
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.markdown.segments import SegmentKind
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptMessage
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.samples import CORPUS
from tests.shell.transcript.viewing import PROSE, answer, conversation, shown, user


def text_of(view: TranscriptView, span: Span | None) -> str:
    assert span is not None
    return copied_text(view.model, ScratchDocuments(view).document, span)


def markdown_of(view: TranscriptView, span: Span | None) -> str:
    assert span is not None
    return copied_markdown(view.model, ScratchDocuments(view).document, span)


def test_markdown_of_whole_messages_is_their_source() -> None:
    messages = conversation(5)
    with shown(messages) as view:
        for index, message in enumerate(messages):
            assert markdown_of(view, message_span(view.model, index)) == message.text.strip("\n")
        whole = markdown_of(view, whole_span(view.model))
        # The line ends at a message's end belong to it.
        assert whole.replace("\n", "") == "".join(message.text for message in messages).replace("\n", "")


def test_markdown_of_any_whole_answer_is_exact() -> None:
    code = "```py\n" + "x = 1\n" * 200 + "```\n\n"
    long = "".join(f"## Part {number}\n\n{PROSE * 4}\n\n{code}" for number in range(4))
    for text in (*CORPUS, long):
        with shown([answer("a", text)]) as view:
            assert markdown_of(view, message_span(view.model, 0)) == text.strip("\n")


def test_plain_text_has_tabs_between_cells_and_no_marks() -> None:
    source = "# Title\n\nSome *words* and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n"
    with shown([user("u", "Ask *this*"), answer("a", source)]) as view:
        text = text_of(view, whole_span(view.model))
        rows, items = "a\tb\n1\t2", "•\tone\n•\ttwo"
        assert text == f"Ask *this*\n\nTitle\n\nSome words and code.\n\n{rows}\n\n{items}"


def test_empty_lines_of_code_are_copied_as_they_are_and_none_is_added() -> None:
    code = "x = 1\n\n\ny = 2\n"
    with shown([answer("a", f"Before\n\n```python\n{code}```\n\nafter\n\n---\n\nend")]) as view:
        assert text_of(view, whole_span(view.model)) == f"Before\n\n{code}\nafter\n\nend"


def test_a_part_of_an_answer_is_marked_up_as_it_looks() -> None:
    with shown([answer("a", "Some *words* and `code` here.")]) as view:
        span = Span(TextPosition(0, 0, 5), TextPosition(0, 0, 19))
        assert text_of(view, span) == "words and code"
        assert markdown_of(view, span) == "*words* and `code`"


def test_a_part_of_code_is_code() -> None:
    with shown([answer("a", "```python\none = 1\ntwo = 2\nthree = 3\n```\n")]) as view:
        span = Span(TextPosition(0, 0, 0), TextPosition(0, 0, 15))
        assert text_of(view, span) == "one = 1\ntwo = 2"
        assert "one = 1\ntwo = 2" in markdown_of(view, span)
        assert "three" not in markdown_of(view, span)


def test_a_formula_is_copied_as_its_source() -> None:
    with shown([answer("a", "The sum $a_1 + b$ is *known* by now.")]) as view:
        assert "$a_1 + b$" in text_of(view, message_span(view.model, 0))
        document = ScratchDocuments(view).document(0, 0)
        part = Span(TextPosition(0, 0, 4), TextPosition(0, 0, document.characterCount() - 2))
        assert "$a_1 + b$" in markdown_of(view, part)
        assert "formula:" not in markdown_of(view, part)


def test_cards_between_messages_are_left_out() -> None:
    card = TranscriptMessage("c", MessageKind.CARD, payload=None)
    with shown([user("u", "one"), card, answer("a", "two")]) as view:
        assert text_of(view, whole_span(view.model)) == "one\n\ntwo"
        assert message_span(view.model, 1) is None


def test_a_long_paragraph_is_copied_without_a_seam() -> None:
    words = " ".join(f"word{number}" for number in range(2_000))
    with shown([answer("a", words)]) as view:
        assert len(view.model.segments(0)) > 1
        assert text_of(view, message_span(view.model, 0)) == words


def test_parts_put_together_are_the_whole() -> None:
    chance = random.Random(3)
    messages = [answer("a", "One *two* three four five six. " * 6)]
    with shown(messages) as view:
        whole = text_of(view, message_span(view.model, 0))
        for _ in range(20):
            cut = chance.randrange(1, len(whole))
            first = Span(TextPosition(0, 0, 0), TextPosition(0, 0, cut))
            second = Span(TextPosition(0, 0, cut), TextPosition(0, 0, len(whole)))
            assert text_of(view, first) + text_of(view, second) == whole


def test_markdown_of_any_whole_blocks_is_the_exact_slice_of_the_source() -> None:
    chance = random.Random(5)
    count = 0
    for text in (
        *CORPUS,
        "# One\ntwo\n***\n- a\n\n  - b\n\n> c\n\n| d | e |\n|--|--|\n| f | g |\n\nend [^1]\n",
    ):
        with shown([answer("a", text)]) as view:
            scratch = ScratchDocuments(view)
            for segment in view.model.segments(0):
                document = scratch.document(0, segment.index)
                groups = groups_of(document, segment)
                assert "".join(segment.text[each.source_start : each.source_end] for each in groups) in text
                for _ in range(8 if groups and segment.kind is SegmentKind.BLOCKS else 0):
                    first = chance.randrange(len(groups))
                    last = chance.randrange(first, len(groups))
                    span = Span(
                        TextPosition(0, segment.index, groups[first].start),
                        TextPosition(0, segment.index, groups[last].end),
                    )
                    if span.start == span.end:
                        continue  # a rule: nothing is selected
                    source = segment.text[groups[first].source_start : groups[last].source_end]
                    assert markdown_of(view, span) == source.strip("\n")
                    count += 1
    assert count > 100


@pytest.mark.parametrize(
    ("source", "selected", "copied"),
    [
        ("Plain words, 2 * 3 \\* 4 &amp; more.", "words, 2 * 3 * 4 & m", None),
        ("Some __bold words__ here.", "bold words", "__bold words__"),
        ("Some **bold words** here.", "old wor", "**old wor**"),
        ("Some *leaning* and **bold** text.", "ning and bo", "*ning* and **bo**"),
        ("See [the page](http://x.org/a_b) now.", "page", "[page](http://x.org/a_b)"),
        ("See [the page](http://x.org/a_b) now.", "See the page no", "See [the page](http://x.org/a_b) no"),
        ("Call `run(1)` or ``a`b`` here.", "n(1) or", "`n(1)` or"),
        ("- one\n- two **three** four\n- five\n", "two three", "- two **three**"),
        ("- one\n- two\n- five\n", "ne\ntwo\nfi", "- ne\n- two\n- fi"),
        ("1. one\n2. two\n   - inner\n3. last\n", "inner\nlast", "- inner\n3. last"),
        ("The sum $a_1 + b$ is known.", "sum $a_1 + b$ is", "sum $a_1 + b$ is"),
        ("## A *heading* of words\n\nThen text.\n", "heading of", "*heading* of"),
    ],
)
def test_a_part_of_a_block_is_a_slice_of_its_source_with_its_marks_in_pairs(
    source: str, selected: str, copied: str | None
) -> None:
    with shown([answer("a", source)]) as view:
        whole = text_of(view, message_span(view.model, 0)).replace("\t", " ")
        document = ScratchDocuments(view).document(0, 0)
        shown_text = plain_text(document)
        start, end = place_of(document, selected)
        part = Span(TextPosition(0, 0, start), TextPosition(0, 0, end))
        assert selected.split("\n")[0] in whole, shown_text
        assert markdown_of(view, part) == (selected_source(source, selected) if copied is None else copied)


def selected_source(source: str, _selected: str) -> str:
    """What stands in the source for a part in which nothing is marked."""
    return source[source.index("words") : source.index("m", source.index("&amp;") + 5) + 1]


def place_of(document: QTextDocument, selected: str) -> tuple[int, int]:
    """Where a text is shown; a formula counts as one character, a marker as nothing."""
    shown_text = document.toPlainText()
    first, *_, last = (line.replace("$a_1 + b$", "\ufffc") for line in (selected, *selected.split("\n")))
    first = first.split("\n")[0]
    start = shown_text.index(first)
    return start, shown_text.index(last, start) + len(last)


def test_code_with_backticks_is_copied_between_longer_ones() -> None:
    with shown([answer("a", "````md\n```py\nx = `1`\n```\n````\n")]) as view:
        assert markdown_of(view, Span(TextPosition(0, 0, 0), TextPosition(0, 0, 13))).startswith(
            "````md\n```py\nx"
        )
        assert (
            markdown_of(view, Span(TextPosition(0, 0, 6), TextPosition(0, 0, 13))) == "````md\nx = `1`\n````"
        )
        assert markdown_of(view, Span(TextPosition(0, 0, 8), TextPosition(0, 0, 13))) == "`` = `1` ``"
