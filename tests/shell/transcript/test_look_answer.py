"""What is painted of an answer has the heights, distances, colours and type of the look (§2-6)."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QTextCursor, QTextDocument

from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from sophos_desktop.shell.transcript.drawing.built import BuiltSegment, text_rectangles
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.view.geometry import TextPart
from sophos_desktop.shell.transcript.view.hit_areas import (
    COPY,
    box_rectangle,
    copy_rectangle,
    image_rectangle,
)
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView
from tests.shell.transcript.viewing import PROSE, answer, on_screen, settle, shown, until_idle

BOTH = pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
TABLE = "| Field | Net |\n|---|--:|\n| `date` | 1,234 |\n| `net` | 11.50 |\n"


@contextmanager
def of(text: str, tokens: Tokens = LIGHT) -> Iterator[TranscriptView]:
    with shown([answer("a", text)], tokens=tokens) as view:
        until_idle(view)
        yield view


def part_of(view: TranscriptView, number: int = 0) -> TextPart:
    part = view.geometry_of_text.text_part(view.transcript_layout.placed[number])
    assert part is not None
    return part


def built_of(view: TranscriptView) -> BuiltSegment:
    return part_of(view).drawn.built


def colour(picture: QImage, x: float, y: float) -> str:
    return QColor(picture.pixelColor(round(x), round(y))).name().upper()


def runs(picture: QImage, x: float, top: float, bottom: float) -> list[tuple[str, int, int]]:
    """Colours along a column of pixels: which, from where, how many."""
    found, y = [], round(top)
    for name, same in groupby(colour(picture, x, row) for row in range(round(top), round(bottom))):
        length = len(list(same))
        found.append((name, y, length))
        y += length
    return found


def font_at(document: QTextDocument, words: str) -> tuple[str, int, int, str]:
    """Family, size, weight and colour of some words."""
    found = document.find(words)
    assert not found.isNull(), words
    form = found.charFormat()
    font = form.font()
    return font.families()[0], font.pixelSize(), font.weight(), form.foreground().color().name().upper()


def line_of(document: QTextDocument, words: str) -> QRectF:
    """The line that begins some words."""
    start = document.find(words).selectionStart()
    return text_rectangles(document, start, start + 1)[0]


def test_words_are_set_in_the_type_of_the_look() -> None:
    text = "# One\n\n## Two\n\n### Three\n\nwords `code` [link](https://a.org)\n\n> quoted\n"
    with of(text) as view:
        document = part_of(view).drawn.document
        assert font_at(document, "One") == ("Inter", 20, 600, LIGHT.text)
        assert font_at(document, "Two") == ("Inter", 17, 600, LIGHT.text)
        assert font_at(document, "Three") == ("Inter", 15, 600, LIGHT.text)
        assert font_at(document, "words") == ("Inter", 15, 400, LIGHT.text)
        assert font_at(document, "code") == ("JetBrains Mono", 13, 400, LIGHT.code_text)
        assert font_at(document, "link") == ("Inter", 15, 400, LIGHT.accent)
        assert font_at(document, "quoted") == ("Inter", 15, 400, LIGHT.text_2)
        assert document.find("link").charFormat().fontUnderline()
        for heading, spacing in (("One", -0.1), ("Two", -0.1), ("Three", 0.0)):
            assert document.find(heading).charFormat().font().letterSpacing() == pytest.approx(
                spacing, abs=0.01
            )


@pytest.mark.parametrize(
    ("text", "height"), [("# One", 28), ("## Two", 24), ("### Three", 24), ("words", 24), ("> quoted", 24)]
)
def test_a_line_is_as_high_as_its_role_says(text: str, height: int) -> None:
    with of(text) as view:
        assert part_of(view).placed.height == height


def test_blocks_are_8_apart_and_headings_16_and_words_end_at_the_measure() -> None:
    with of(PROSE * 3 + "\n\nsecond\n\n## Two\n\nthird\n") as view:
        document = part_of(view).drawn.document
        first, second = line_of(document, "Some words"), line_of(document, "second")
        two, third = line_of(document, "Two"), line_of(document, "third")
        lines = round((second.top() - 8 - first.top()) / 24)
        assert lines >= 4
        assert second.top() == first.top() + 24 * lines + 8
        assert third.top() - second.top() == 24 + 16 + 24 + 8
        assert two.bottom() - second.bottom() == pytest.approx(24 + 16, abs=1.0)
        lefts = text_rectangles(document, 0, document.find("second").selectionStart() - 1)
        assert max(line.right() for line in lefts) <= 520
        assert view.transcript_layout.documents.column == 600


@BOTH
def test_code_in_a_sentence_has_a_square_ground_of_19_with_2_on_either_side(tokens: Tokens) -> None:
    with of("one\n\ncall `WWWW`. Then\n", tokens) as view:
        part, picture = part_of(view), on_screen(view)
        run = built_of(view).inline_code[0]
        letters = text_rectangles(part.drawn.document, run.start, run.end)[0].translated(part.origin)
        left, right = round(letters.left() - 2), round(letters.right())
        column = [
            (name, y, length)
            for name, y, length in runs(picture, left, letters.top(), letters.bottom())
            if name == tokens.inline
        ]
        assert column == [(tokens.inline, round(letters.top()), 19)], "its first pixels, corners and all"
        assert [colour(picture, x, letters.top() + 1) for x in (left - 1, left, right - 1, right)] == [
            tokens.paper,
            tokens.inline,
            tokens.inline,
            tokens.paper,
        ]
        stop = text_rectangles(part.drawn.document, run.end, run.end + 1)[0].translated(part.origin)
        assert stop.left() == letters.right(), "the full stop stands right behind the ground"


@BOTH
def test_a_table_has_rows_of_28_between_lines_and_code_without_a_ground(tokens: Tokens) -> None:
    with of(TABLE, tokens) as view:
        part, picture = part_of(view), on_screen(view)
        left, top = part.origin.x(), part.placed.top
        seen = runs(picture, left + 200, top, part.placed.bottom)
        assert [(name, length) for name, _, length in seen][:6] == [
            (tokens.paper, 28),
            (tokens.border_strong, 1),
            (tokens.paper, 28),
            (tokens.border, 1),
            (tokens.paper, 28),
            (tokens.border, 1),
        ]
        for x in (left, left + 599):
            assert colour(picture, x, seen[1][1]) == tokens.border_strong
        assert colour(picture, left + 600, seen[1][1]) == tokens.paper
        assert built_of(view).inline_code == ()
        row = [colour(picture, left + x, top + 29 + y) for x in range(40) for y in range(28)]
        assert tokens.inline not in row
        document = part.drawn.document
        assert font_at(document, "Field") == ("Inter", 12, 600, tokens.text_2)
        assert font_at(document, "1,234") == ("Inter", 14, 400, tokens.text)
        assert font_at(document, "date") == ("JetBrains Mono", 13, 400, tokens.code_text)
        # Figures of one width, so that they stand under each other.
        narrow, wide = (text_rectangles(document, *found(document, words))[0] for words in ("11", "34"))
        assert narrow.width() == pytest.approx(wide.width(), abs=0.1)
        assert text_rectangles(document, *found(document, "1,234"))[0].right() == pytest.approx(600, abs=0.1)


def found(document: QTextDocument, words: str) -> tuple[int, int]:
    cursor: QTextCursor = document.find(words)
    return cursor.selectionStart(), cursor.selectionEnd()


@BOTH
def test_a_block_of_code_has_its_bar_line_and_paddings(tokens: Tokens) -> None:
    with of("before\n\n```py\na = 1\nb = 2\n```\n", tokens) as view:
        picture = on_screen(view)
        part = part_of(view, 1)
        (box,) = part.drawn.built.code_boxes
        looks = view.looks
        frame = box_rectangle(part.drawn.document, box, part.drawn.width, looks).translated(part.still)
        assert (frame.width(), frame.height()) == (600, 1 + 28 + 2 * 18 + 12 + 1)
        middle = frame.center().x() + 100
        edge = [colour(picture, middle, y) for y in (frame.top() - 1, frame.top(), frame.top() + 1)]
        assert edge == [tokens.paper, tokens.border, tokens.sunken]
        assert colour(picture, frame.left() + 1, frame.top() + 40) == tokens.sunken
        assert colour(picture, frame.left(), frame.top()) != tokens.border, "its corners are round"
        letters = text_rectangles(part.drawn.document, 0, 1)[0].translated(part.origin)
        assert letters.left() - frame.left() == 1 + 16
        assert font_at(part.drawn.document, "= 1")[:3] == ("JetBrains Mono", 12, 400)
        button = copy_rectangle(frame, looks, COPY)
        assert button.height() == 24
        bar = {colour(picture, x, y) for x in range(round(frame.left()) + 17, round(frame.left()) + 60)
               for y in range(round(frame.top()) + 2, round(frame.top()) + 28)}  # fmt: skip
        assert tokens.text_2 in bar, "the language"
        above = part_of(view, 0)
        assert frame.top() - above.placed.bottom == 8


@BOTH
def test_a_quote_has_a_rule_of_3_and_16_beside_it_and_a_rule_of_1_lies_between_blocks(tokens: Tokens) -> None:
    with of("> quoted\n\nbetween\n\n---\n\nafter\n", tokens) as view:
        part, picture = part_of(view), on_screen(view)
        left, document = part.origin.x(), part.drawn.document
        quoted = line_of(document, "quoted").translated(part.origin)
        assert quoted.left() - left == 3 + 16
        assert [colour(picture, left + x, quoted.center().y()) for x in range(4)] == [
            *[tokens.border_strong] * 3,
            tokens.paper,
        ]
        between, after = (line_of(document, words).translated(part.origin) for words in ("between", "after"))
        low = quoted.top() - part.placed.top  # letters stand low in their line
        seen = runs(picture, left + 300, between.top() - low + 24, after.top() - low)
        assert [(name, length) for name, _, length in seen] == [
            (tokens.paper, 8),
            (tokens.border_strong, 1),
            (tokens.paper, 16),
        ]


@BOTH
def test_lists_indent_20_and_boxes_are_16(tokens: Tokens) -> None:
    with of("- one\n  - two\n\n1. three\n\n- [x] done\n- [ ] open\n", tokens) as view:
        picture = on_screen(view)
        parts = [part_of(view, number) for number in range(len(view.transcript_layout.placed))]
        places = {
            words: line_of(part.drawn.document, words).translated(part.origin)
            for part in parts
            for words in ("one", "two", "three", "done", "open")
            if not part.drawn.document.find(words).isNull()
        }
        left = parts[0].origin.x()
        assert [places[words].left() - left for words in ("one", "two", "three", "done")] == [20, 40, 20, 20]
        assert places["two"].top() - places["one"].top() == 24
        for words, line in (("done", tokens.accent), ("open", tokens.border_control)):
            words_middle = places[words].center().y()
            box = [
                y
                for name, y, length in runs(picture, left + 8, words_middle - 12, words_middle + 12)
                for y in range(y, y + length)
                if name != tokens.paper
            ]
            assert (len(box), colour(picture, left + 8, box[0])) == (16, line)
            assert (box[0] + box[-1]) / 2 == pytest.approx(words_middle, abs=1.0)


@BOTH
@pytest.mark.parametrize("zoom", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize(("words", "high"), [("", 46), ("chart", 56)], ids=["bare", "with words"])
def test_an_image_that_is_not_loaded_is_a_dashed_frame_of_46_and_10_more_for_its_words(
    tokens: Tokens, zoom: float, words: str, high: int
) -> None:
    with of(f"words\n\n![{words}](https://img.example.org/chart.png)\n\nafter\n", tokens) as view:
        view.set_looks(Looks.of(tokens, zoom))
        settle()
        part, picture = part_of(view), on_screen(view)
        (image,) = part.drawn.built.blocked_images
        frame = image_rectangle(part.drawn.document, image, part.drawn.width, view.looks)
        assert frame.height() == pytest.approx(high * zoom, abs=2)
        assert frame.top() == pytest.approx(24 * zoom + 8 * zoom, abs=0.5), "8 below the words"
        assert part.placed.height == pytest.approx((24 + 8 + high + 8 + 24) * zoom, abs=3)
        frame.translate(part.still)
        dashes = {colour(picture, x, frame.top()) for x in range(round(frame.left()) + 20, 300)}
        assert {tokens.border_control, tokens.paper} <= dashes
        assert line_of(part.drawn.document, "Image").left() == view.looks.style.image_left == round(47 * zoom)


@pytest.mark.parametrize("zoom", [0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0])
def test_the_frame_of_code_is_closed_at_every_zoom(zoom: float) -> None:
    code = "".join(f"value_{number} = {number}\n" for number in range(4))
    with of(f"words\n\n```python\n{code}```\n\n| a |\n|---|\n| b |\n") as view:
        view.set_looks(Looks.of(LIGHT, zoom))
        settle()
        until_idle(view)
        number = next(
            number
            for number in range(len(view.transcript_layout.placed))
            if built_of_any(view, number) is not None
        )
        part, picture = part_of(view, number), on_screen(view)
        seen = runs(picture, part.origin.x() + 200, part.placed.top, part.placed.bottom)
        assert (seen[0][0], seen[0][2]) == (LIGHT.border, 1)
        assert (seen[-1][0], seen[-1][2]) == (LIGHT.border, 1)


def built_of_any(view: TranscriptView, number: int) -> BuiltSegment | None:
    """What a placed part was made to, if it is text with a frame for code."""
    part = view.geometry_of_text.text_part(view.transcript_layout.placed[number])
    return part.drawn.built if part is not None and part.drawn.built.code_boxes else None


def test_a_zoom_makes_everything_larger_and_leaves_lines_at_1() -> None:
    with of(TABLE) as view:
        view.set_looks(Looks.of(LIGHT, 1.5))
        settle()
        until_idle(view)
        part, picture = part_of(view), on_screen(view)
        seen = runs(picture, part.origin.x() + 300, part.placed.top, part.placed.bottom)
        assert [length for _, _, length in seen][:6] == [42, 1, 42, 1, 42, 1]
        font: QFont = part.drawn.document.find("1,234").charFormat().font()
        assert font.pixelSize() == 21
