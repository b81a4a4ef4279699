"""While an answer arrives, what is built piece by piece ends as what is built at once."""

import random

import psutil
import pytest

from sophos_desktop.shell.transcript.drawing.built import BuiltSegment, SegmentDocument
from sophos_desktop.shell.transcript.drawing.document_builder import build, extend_code
from sophos_desktop.shell.transcript.drawing.documents import LIMIT
from sophos_desktop.shell.transcript.drawing.math_images import MathImages
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.markdown.splitter import Splitter
from tests.shell.transcript.answers import LIGHT, WIDTH, Answer
from tests.shell.transcript.samples import CORPUS, PIECES, segments_of
from tests.shell.transcript.viewing import answer, until_idle, user
from tests.shell.transcript.viewing import shown as shown_in_view


def test_an_open_block_of_code_grows_as_if_it_were_built_anew() -> None:
    text = "```py\n" + "".join(f"line_{number} = {number} # é😀\n" for number in range(30))
    splitter = Splitter()
    environment = MarkdownEnvironment()
    math = MathImages()
    document, grown = SegmentDocument(), 0
    before: Segment | None = None
    built: BuiltSegment | None = None
    for start in range(0, len(text), 7):
        environment.update(splitter.segments, splitter.feed(text[start : start + 7]))
        now = splitter.segments[-1]
        longer = extend_code(document, before, now, built, LIGHT) if before and built else None
        grown += longer is not None
        built = longer or build(document, now, environment, LIGHT, WIDTH, math)
        before = now
    fresh = SegmentDocument()
    assert before is not None
    assert build(fresh, before, environment, LIGHT, WIDTH, math) == built
    assert fresh.toPlainText() == document.toPlainText()
    assert fresh.size() == document.size()
    assert grown > 60


def shown(segment: Segment, environment: MarkdownEnvironment, math: MathImages) -> tuple[str, BuiltSegment]:
    document = SegmentDocument()
    built = build(document, segment, environment, LIGHT, WIDTH, math)
    return document.toPlainText(), built


@pytest.mark.parametrize("text", CORPUS)
def test_the_final_picture_is_that_of_a_fresh_rendering(text: str) -> None:
    math = MathImages()
    splitter = Splitter()
    environment = MarkdownEnvironment()
    screen: dict[int, tuple[str, BuiltSegment]] = {}
    for part in [*(text[start : start + 3] for start in range(0, len(text), 3)), None]:
        changed = splitter.finish() if part is None else splitter.feed(part)
        for index in environment.update(splitter.segments, changed) | set(changed):
            if index < len(splitter.segments):
                screen[index] = shown(splitter.segments[index], environment, math)
    segments = segments_of(text)
    fresh = MarkdownEnvironment()
    fresh.update(segments, range(len(segments)))

    assert [screen[index] for index in range(len(segments))] == [
        shown(segment, fresh, math) for segment in segments
    ]


def test_random_and_hostile_markdown_is_built() -> None:
    source = random.Random(5)
    texts = ["".join(source.choices(PIECES, k=50)) for _ in range(15)]
    texts += [
        ">" * 5_000,
        "- " * 3_000,
        "![" * 3_000,
        "|" * 500 + "\n" + "|-" * 250,
        "$x$" * 900,
        "\\" * 3_000,
    ]
    for text in texts:
        answer = Answer(text)
        assert len(answer.built) == len(answer.segments)


@pytest.mark.parametrize(
    "text",
    [
        "`" * 1_000_000,
        "".join("  " * depth + "- x\n" for depth in range(1_000)),
        ">" * 10_000 + " x",
        "\u200b\u202e\u2066\u200d" * 5_000,
        "a\ud83d\0b" * 5_000,
        "word\u0301" * 10_000,
        "\u0301" * 20_000,
        "[" * 20_000 + "](x)" * 20_000,
    ],
    ids=lambda text: ascii(text[:6]),
)
def test_hostile_text_is_shown_with_few_documents_and_the_view_comes_to_rest(text: str) -> None:
    with shown_in_view([answer("a", "before\n\n" + text)]) as view:
        until_idle(view)
        assert view.is_at_end
        view.scroll_to_message(0)
        until_idle(view)
        assert view.transcript_layout.placed[0].message == 0
        assert len(view.transcript_layout.documents) <= LIMIT


@pytest.mark.long
def test_ten_million_characters_of_random_markdown_are_shown_from_end_to_beginning() -> None:
    source = random.Random(11)
    text = "".join(source.choices(PIECES, k=40_000))
    text = (text * (10_000_000 // len(text) + 1))[:10_000_000]
    process = psutil.Process()
    with shown_in_view([user("u", "?"), answer("a", text)]) as view:
        until_idle(view, turns=200_000)
        before = process.memory_info().rss
        assert view.is_at_end
        for part in range(20):
            bar = view.verticalScrollBar()
            bar.setValue(bar.maximum() * (19 - part) // 20)
            until_idle(view, turns=200_000)
            assert len(view.transcript_layout.documents) <= LIMIT
        assert view.transcript_layout.placed[0].message == 0
        assert process.memory_info().rss - before < 200_000_000
