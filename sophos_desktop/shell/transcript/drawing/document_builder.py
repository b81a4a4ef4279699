"""Writes a segment into a small QTextDocument.

Invariant: only text, our own formats and our own images of formulas enter the document: nothing of an answer
can make Qt read a file or open a connection. The same segment, environment, style and width give the same
document.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument

from sophos_desktop.shell.transcript.drawing.built import (
    QUOTE_PROPERTY,
    BuiltSegment,
    CodeBox,
    QuoteBar,
)
from sophos_desktop.shell.transcript.drawing.canvas import Canvas
from sophos_desktop.shell.transcript.drawing.code_blocks import code_width, write_code, write_code_segment
from sophos_desktop.shell.transcript.drawing.image_cards import begins_with_card
from sophos_desktop.shell.transcript.drawing.inline_writer import InlineWriter, line_for
from sophos_desktop.shell.transcript.drawing.list_marks import ListMarks, Mark
from sophos_desktop.shell.transcript.drawing.math_images import MathImages
from sophos_desktop.shell.transcript.drawing.style import (
    TranscriptTheme,
    characters,
    fixed_line,
    set_margins,
)
from sophos_desktop.shell.transcript.drawing.tables import MOST_COLUMNS, TableWriter, column_widths, rows_of
from sophos_desktop.shell.transcript.markdown import math_rules
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.list_rooms import digits_of_list, room_of_number
from sophos_desktop.shell.transcript.markdown.piece_reading import goes_on
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code

if TYPE_CHECKING:
    from markdown_it.token import Token

_BULLETS = ("•", "◦", "▪")
_DIGITS_OF_FOOTNOTE = 2  # at least: notes stand below each other and are not known together
RULE_HEIGHT = 17


def build(
    document: QTextDocument,
    segment: Segment,
    environment: MarkdownEnvironment,
    style: TranscriptTheme,
    width: int,
    math: MathImages,
) -> BuiltSegment:
    """Fill `document` (what was in it goes) for a column of `width` pixels, and set its text width.

    `environment` has been told of the segment (`update`).
    """
    canvas = Canvas(document, style, width, math)
    # All at once: by itself Qt finds out after each insertion where in its line the cursor is, and for that
    # looks through the paragraph, so that n insertions take n² time.
    whole = QTextCursor(document)
    whole.beginEditBlock()
    if segment.kind is SegmentKind.CODE and not segment.containers:
        write_code_segment(canvas, segment)
    else:
        _Blocks(canvas, environment, segment).write()
    whole.endEditBlock()
    return canvas.finish()


def extend_code(
    document: QTextDocument, before: Segment, now: Segment, built: BuiltSegment, style: TranscriptTheme
) -> BuiltSegment | None:
    """Add what came to an open piece of code, without building it again.

    None, and the document is as it was, if the piece did not just grow at its end: then build it.
    """
    is_code = now.kind is SegmentKind.CODE and not now.containers
    is_same = is_code and replace(before, end=0, text="") == replace(now, end=0, text="")
    old, new = drawable_code(before.code), drawable_code(now.code)
    if not is_same or now.has_end or not new.startswith(old) or len(built.code_boxes) != 1 or not old:
        return None
    if new == old:
        return built
    cursor = QTextCursor(document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    line_format = cursor.blockFormat()
    text = style.code()
    for number, line in enumerate(new[len(old) :].split("\n")):
        if number:
            cursor.insertBlock(line_format, text)
        cursor.insertText(line, text)
    box = replace(built.code_boxes[0], last_block=document.blockCount() - 1, source=now.code)
    natural = max(built.natural_width, code_width(new[len(old) :], style, box.left))
    return replace(built, code_boxes=(box,), natural_width=natural)


def _nothing() -> None:
    """No marks are written."""


@dataclass(frozen=True, slots=True)
class _Quote:
    """One that is open. `left`: of its bar; `is_begun_before`: in the segment before."""

    first_block: int
    left: int
    is_begun_before: bool


class _Blocks:
    """Writes the blocks of one segment."""

    def __init__(self, canvas: Canvas, environment: MarkdownEnvironment, segment: Segment) -> None:
        self._canvas = canvas
        self._environment = environment
        self._segment = segment
        self._inline = InlineWriter(canvas, environment)
        self._left = 0
        self._base = canvas.style.reading()
        self._bases: list[QTextCharFormat] = []
        self._numbers: list[int | None] = []
        self._rooms: list[int] = []
        self._marks = ListMarks(canvas)
        self._quotes: list[_Quote] = []
        self._is_list_start = False
        self._number = segment.number

    def write(self) -> None:
        tokens = self._environment.read(self._segment)
        is_quote = bool(tokens) and tokens[0].type == "blockquote_open"
        self._canvas.goes_on = self._segment.continues and (is_quote or self._segment.quote > 0)
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.level == 0 and token.nesting >= 0 and token.map:
                self._canvas.source_line = token.map[0]
            index = self._block(tokens, index)

    def _block(self, tokens: "Sequence[Token]", index: int) -> int:
        token = tokens[index]
        kind = token.type
        if kind == "paragraph_open":
            self._paragraph(tokens[index + 1], is_tight=token.hidden)
            return index + 3
        if kind == "heading_open":
            self._heading(tokens[index + 1], int(token.tag[1]))
            return index + 3
        if kind == "table_open":
            return self._table(tokens, index)
        if kind in ("fence", "code_block"):
            self._code(token, is_last_token=all(each.nesting < 0 for each in tokens[index + 1 :]))
        elif kind == math_rules.BLOCK:
            self._flush_marker()
            self._inline.display_formula(token, self._base, self._left)
        elif kind == "hr":
            self._rule()
        elif kind == "ordered_list_open":
            self._open_ordered_list(tokens, index)
        else:
            self._container(token)
        return index + 1

    # Containers.

    def _container(self, token: "Token") -> None:
        kind = token.type
        if kind == "bullet_list_open":
            self._open_list(None, self._canvas.style.indent, is_begun_before=goes_on(token))
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._numbers.pop()
            self._left -= self._rooms.pop()
        elif kind == "list_item_open":
            marker = self._next_marker()
            if not goes_on(token):
                self._add_mark(marker, token.meta.get("checked"))
        elif kind in ("list_item_close", "footnote_reference_close"):
            self._flush_marker()
            if kind == "footnote_reference_close":
                self._base = self._bases.pop()
                self._left -= self._rooms.pop()
        elif kind == "blockquote_open":
            self._open_quote()
        elif kind == "blockquote_close":
            self._close_quote()
        elif kind == "footnote_reference_open":
            self._open_footnote(str(token.meta["label"]), is_begun_before=goes_on(token))

    def _open_ordered_list(self, tokens: "Sequence[Token]", index: int) -> None:
        style = self._canvas.style
        first = int(tokens[index].attrs.get("start", 1))
        is_begun_before = goes_on(tokens[index])
        if self._number is not None and not self._numbers:
            first, self._number = self._number, None
            is_begun_before = True
        digits = digits_of_list(tokens, index, first, is_begun=is_begun_before, piece=self._segment)
        room = room_of_number(digits, self._base.font(), style.indent)
        self._open_list(first, room, is_begun_before=is_begun_before)

    def _open_list(self, number: int | None, room: int, *, is_begun_before: bool) -> None:
        is_start = not self._numbers and not is_begun_before
        self._is_list_start = is_start or (bool(self._marks) and self._is_list_start)
        self._numbers.append(number)
        self._rooms.append(room)
        self._left += room

    def _next_marker(self) -> str:
        number = self._numbers[-1]
        if number is None:
            return _BULLETS[min(len(self._numbers), len(_BULLETS)) - 1]
        self._numbers[-1] = number + 1
        return f"{number}."

    def _add_mark(self, text: str, is_checked: bool | None = None) -> None:  # noqa: FBT001
        self._marks.add(Mark(text, self._left - self._rooms[-1], is_checked))

    def _open_quote(self) -> None:
        style = self._canvas.style
        is_begun_before = self._canvas.goes_on and self._canvas.next_block == 0
        is_begun_before &= len(self._quotes) < max(1, self._segment.quote)
        self._quotes.append(_Quote(self._canvas.next_block, self._left, is_begun_before))
        self._left += style.quote_bar + style.quote_padding
        self._bases.append(self._base)
        self._base = characters(style.font(style.reading_size), style.text_2)

    def _close_quote(self) -> None:
        style = self._canvas.style
        quote = self._quotes.pop()
        canvas, first = self._canvas, quote.first_block
        self._left -= style.quote_bar + style.quote_padding
        self._base = self._bases.pop()
        last = canvas.next_block - 1
        if last >= first:
            block = canvas.document.findBlockByNumber(first)
            is_right = block.blockFormat().layoutDirection() is Qt.LayoutDirection.RightToLeft
            above = canvas.reach_above(first, is_begun_before=quote.is_begun_before)
            bar = QuoteBar(first, last, quote.left, is_right, above, canvas.reach_below)
            canvas.quote_bars.append(bar)

    def _open_footnote(self, label: str, *, is_begun_before: bool) -> None:
        style = self._canvas.style
        number = self._environment.footnote_number(label)
        self._bases.append(self._base)
        self._base = characters(style.font(style.small_size), style.text_2)
        digits = max(_DIGITS_OF_FOOTNOTE, len(str(number or 0)))
        self._rooms.append(room_of_number(digits, self._base.font(), style.indent))
        self._left += self._rooms[-1]
        if not is_begun_before:
            self._add_mark(f"{number}." if number is not None else f"{label}.")

    # Blocks.

    def _paragraph(self, inline: "Token", *, is_tight: bool) -> None:
        style = self._canvas.style
        is_list_start, self._is_list_start = self._is_list_start, False
        is_apart = self._segment.after_blank and self._canvas.next_block == 0
        gap = 0 if is_tight and not (is_list_start or is_apart) else style.gap
        if self._segment.kind is SegmentKind.TEXT:
            gap = 0
        marks = self._marks.take()
        has_card = begins_with_card(inline)

        def begin() -> None:
            nonlocal gap, marks
            self._begin_paragraph(inline, gap, marks)
            gap, marks = style.gap, []

        def mark_card(block: QTextBlockFormat) -> Callable[[], None]:
            nonlocal gap, marks
            waiting, gap, marks = marks, style.gap, []
            left = self._left + style.image_left
            return self._marks.make_room(waiting, block, left, self._base) if waiting else _nothing

        is_begun = bool(marks) and not has_card
        if is_begun:
            begin()  # a marker stands there even if nothing follows
        self._inline.write(inline, self._base, begin, is_begun=is_begun, left=self._left, mark_card=mark_card)

    def _begin_paragraph(self, inline: "Token", gap: int, marks: "Sequence[Mark]") -> None:
        canvas = self._canvas
        block = line_for(canvas, inline, self._base, self._line, can_break=True)
        block.setTopMargin(canvas.take_gap(gap))
        set_margins(block, inline.content, self._left, canvas.right_margin)
        if self._quotes:
            block.setProperty(QUOTE_PROPERTY, len(self._quotes))
        self._begin_marked(block, marks, self._base)

    def _begin_marked(self, block: QTextBlockFormat, marks: "Sequence[Mark]", text: QTextCharFormat) -> None:
        """Begin a block whose text begins at the left of what is open, with marks before it."""
        write = self._marks.make_room(marks, block, self._left, self._base) if marks else _nothing
        self._canvas.begin_block(block, text)
        write()

    @property
    def _line(self) -> int:
        style = self._canvas.style
        is_small = self._base.font().pixelSize() == style.small_size
        return style.small_line if is_small else style.reading_line

    def _flush_marker(self) -> None:
        """An item that does not begin with text has its marker on a line of its own."""
        if self._marks:
            from markdown_it.token import Token

            empty = Token("inline", "", 0, children=[])
            self._paragraph(empty, is_tight=True)

    def _heading(self, inline: "Token", level: int) -> None:
        canvas, style = self._canvas, self._canvas.style
        marks = self._marks.take()
        text = style.heading(level)
        block = line_for(canvas, inline, text, style.heading_line(level))
        block.setTopMargin(canvas.take_gap(style.gap if marks else style.heading_gap))
        set_margins(block, inline.content, self._left, 0)
        block.setHeadingLevel(level)
        self._begin_marked(block, marks, text)
        self._inline.write(inline, text)

    def _rule(self) -> None:
        canvas = self._canvas
        self._flush_marker()
        block = fixed_line(RULE_HEIGHT)
        block.setTopMargin(canvas.take_gap(0))
        block.setLeftMargin(self._left)
        canvas.begin_block(block, characters(canvas.style.font(1), canvas.style.text))
        canvas.rules.append(canvas.cursor.blockNumber())

    def _code(self, token: "Token", *, is_last_token: bool) -> None:
        begun = self._mark_bar()
        words = token.info.split()
        goes_on_behind = is_last_token and self._segment.goes_on_as is SegmentKind.CODE
        is_piece = self._segment.kind is SegmentKind.CODE
        source = self._segment.code if is_piece else token.content.removesuffix("\n")
        language = words[0] if words else ""
        box = CodeBox(0, 0, self._left, language, source, not is_piece, not goes_on_behind)
        write_code(self._canvas, box, wraps=True, begun=begun)

    def _mark_bar(self) -> int:
        """Write marks beside the bar above code, in a line that the bar covers; gives its height."""
        marks = self._marks.take()
        if not marks:
            return 0
        block = fixed_line(self._line)
        block.setTopMargin(self._canvas.take_gap(self._canvas.style.gap))
        block.setLeftMargin(self._left)
        self._begin_marked(block, marks, self._base)
        return self._line

    def _table(self, tokens: "Sequence[Token]", index: int) -> int:
        end = index
        while tokens[end].type != "table_close":
            end += 1
        self._flush_marker()
        rows = rows_of(tokens[index:end])
        is_piece = self._segment.kind is SegmentKind.TABLE and self._segment.continues
        style = self._canvas.style
        measured = rows_of(self._environment.read_lead(self._segment)) if is_piece else rows
        if is_piece:
            del rows[:1]
        widths = column_widths(measured, style, max(0, self._canvas.width - self._left))
        if len(widths) > MOST_COLUMNS:
            box = CodeBox(0, 0, self._left, "", self._segment.body.strip("\n"))
            write_code(self._canvas, box, wraps=False)
        elif rows:
            TableWriter(self._canvas, self._inline).write(rows, widths, self._left, has_head=not is_piece)
        return end + 1
