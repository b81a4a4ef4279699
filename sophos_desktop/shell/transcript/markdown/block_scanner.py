"""Decides, line by line, where the segments of an answer begin.

Invariant: each decision depends on the text up to and including the line it is made at, never on how the text
arrived, and is not taken back. Where CommonMark leaves it open whether a line goes on with a list or a quote,
nothing is cut. No Qt.
"""

from dataclasses import replace

from sophos_desktop.shell.transcript.markdown.container_chain import ContainerChain
from sophos_desktop.shell.transcript.markdown.density import Spent
from sophos_desktop.shell.transcript.markdown.line_kinds import (
    MATH_LIMIT,
    Line,
    LineKind,
    closes,
    inside_containers,
    is_definition,
    is_setext,
    is_table_head,
    math_closes,
    read_line,
)
from sophos_desktop.shell.transcript.markdown.segments import Fence, SegmentKind, columns_of
from sophos_desktop.shell.transcript.markdown.shapes import PLAIN, Block, InnerTable, Shape

# Characters, with what the marks among them cost.
BLOCKS_TARGET = 600  # after so many a segment ends at the next block
ITEM_TARGET = 2_500  # … at the next item of a list
ITEM_LINES = 100
QUOTE_TARGET = 1_500  # … at the next paragraph of a quote
CONTAINER_LIMIT = 4_000  # … at the next line, wherever that is
CONTAINER_LINES = 80
CODE_LINES = 80
CODE_LIMIT = 6_000
TABLE_ROWS = 16
TABLE_LIMIT = 2_500
_UNKNOWN = Line(LineKind.INDENTED, 4, interrupts=False)


class BlockScanner:
    """Reads lines and calls `cut`; the splitter, which owns the text, derives from it."""

    def __init__(self) -> None:
        self.shape = PLAIN
        self.segment_start = 0
        self.line_start = 0
        self.next_line = 0
        self.spent = Spent()
        self.has_end = False
        self.block = Block.NONE
        self.inner_fence: Fence | None = None
        self._after_blank = False
        self._lines = 0
        self.paragraph_start = 0
        self.only_definitions = False
        self._previous = ""
        self._previous_start = -1
        self._marker = ""
        self._content_indent = 0
        self._number = 0
        self._chain = ContainerChain()
        self._cut_digits = 0
        self._inner_is_text = False
        self._inner_previous = ""
        self._inner_table: InnerTable | None = None
        self._math_start = 0
        self._before_math = (Block.NONE, "")
        self._no_math_before: dict[str, int] = {}

    # What the splitter gives.

    def cut(self, at: int, shape: Shape = PLAIN) -> None:
        """End the open segment before `at` (nothing if it is empty) and begin one of `shape`."""
        raise NotImplementedError

    def read_again(self, start: int) -> None:
        """Read the lines from `start` on once more."""
        raise NotImplementedError

    def source(self, start: int, end: int) -> str:
        """Text of the open segment."""
        raise NotImplementedError

    def begin_segment(self, at: int, shape: Shape) -> None:
        """Called by `cut`."""
        self.segment_start = at
        self.spent.begin(at, self.source(at, self.spent.end))
        self.shape = shape
        self.has_end = False
        self._lines = 0

    # Reading.

    def read(self, text: str, *, is_long: bool) -> None:
        """Take in the line from `line_start` to `next_line`; of a long one only its beginning."""
        if self.block is Block.FENCE:
            self._read_in_fence(text, is_long=is_long)
        elif self.block is Block.MATH:
            self._read_in_math(text, is_long=is_long)
        elif not text.strip(" \t"):
            if is_long:
                self._read_filled(text, _UNKNOWN, is_long=True)
            else:
                self._read_blank()
        else:
            self._read_filled(text, self._line(text, is_long=is_long), is_long=is_long)
        self._lines += 1

    def _line(self, text: str, *, is_long: bool) -> Line:
        line = read_line(text)
        is_math = line.kind in (LineKind.MATH, LineKind.MATH_LINE)
        if is_math and self.line_start < self._no_math_before.get(line.marker, 0):
            is_long = True
        if is_long and (is_math or line.kind is LineKind.FENCE):
            return Line(LineKind.TEXT, line.indent, interrupts=False)
        return line

    def _read_in_fence(self, text: str, *, is_long: bool) -> None:
        fence = self.shape.fence
        if fence is not None and not is_long and closes(fence, text):
            self.has_end = True
            self.block = Block.NONE
            self._after_blank = False
            return
        content_lines = self._lines - (0 if self.shape.continues else 1)
        is_full = content_lines >= CODE_LINES or self.line_start - self.segment_start >= CODE_LIMIT
        if content_lines > 0 and (is_full or is_long):
            self.cut(self.line_start, Shape(SegmentKind.CODE, continues=True, fence=fence))

    def _read_in_math(self, text: str, *, is_long: bool) -> None:
        is_too_long = is_long or self.next_line - self._math_start > MATH_LIMIT
        if is_too_long or not text.strip(" \t"):
            self.give_up_math()
        elif math_closes(self._marker, text):
            self._end_math()

    def _end_math(self) -> None:
        size = self._math_start - self.segment_start
        if size and (size >= BLOCKS_TARGET or not self.shape.is_plain):
            self.cut(self._math_start)
        self._leave()
        self.inner_fence = None

    def give_up_math(self) -> None:
        """The formula has no end: its lines are text."""
        self._no_math_before[self._marker] = self.line_start
        self.block, self._marker = self._before_math
        self.read_again(self._math_start)

    def _leave(self) -> None:
        self.block = Block.NONE
        self._after_blank = False
        self._previous_start = -1

    def _read_blank(self) -> None:
        if self.block in (Block.PARAGRAPH, Block.QUOTE, Block.TABLE):
            self.block = Block.NONE
        self._after_blank = True
        self._previous_start = -1
        self._inner_previous, self._inner_table = "", None
        is_code = self.block is Block.LIST and self._chain.holds_code
        if self.next_line - self.segment_start >= CONTAINER_LIMIT * (2 if is_code else 1):
            if self.block is Block.LIST:
                self._cut_within(self.next_line, "")
            elif self.block is Block.INDENTED:
                self.cut(self.next_line, Shape(SegmentKind.CODE, continues=True))
            else:
                self.cut(self.next_line)

    def _read_filled(self, text: str, line: Line, *, is_long: bool) -> None:
        if self.block is Block.LIST:
            goes_on = self._read_in_list(text, line)
        elif self.block is Block.QUOTE:
            goes_on = self._read_in_quote(text, line)
        elif self.block is Block.PARAGRAPH:
            goes_on = self._read_in_paragraph(text, line, is_long=is_long)
        elif self.block is Block.TABLE:
            goes_on = self._read_in_table(line, is_long=is_long)
        elif self.block is Block.INDENTED:
            goes_on = self._read_in_indented(line)
        else:
            goes_on = False
        if not goes_on:
            self._start(text, line, is_long=is_long)
        if self.block is not Block.MATH:
            self._after_blank = False

    # Blocks that go on; each returns False if the line begins another block.

    def _read_in_paragraph(self, text: str, line: Line, *, is_long: bool) -> bool:
        if not is_long and is_setext(text):
            self._leave()
            return True
        if line.interrupts:
            return False
        if not is_long and self._begins_table(text):
            self.cut(self._previous_start, Shape(SegmentKind.TABLE))
            self.block = Block.TABLE
            self._lines = -1  # becomes 0: rows are counted
            return True
        self._remember(text, is_long=is_long)
        return True

    def _begins_table(self, text: str) -> bool:
        return self._previous_start >= self.segment_start and is_table_head(self._previous, text)

    def _remember(self, text: str, *, is_long: bool) -> None:
        self.only_definitions = self.only_definitions and not is_long and is_definition(text)
        self._previous = text
        self._previous_start = -1 if is_long else self.line_start

    def _read_in_table(self, line: Line, *, is_long: bool) -> bool:
        if is_long or line.kind is not LineKind.TEXT:
            return False
        # The first row stays with its head, whatever that costs.
        if self._lines >= TABLE_ROWS or (self._lines > 0 and self.spent.total >= TABLE_LIMIT):
            lead = self.shape.lead or self.source(self.segment_start, self.line_start)
            self.cut(self.line_start, Shape(SegmentKind.TABLE, continues=True, lead=lead))
        return True

    def _read_in_indented(self, line: Line) -> bool:
        if line.kind is not LineKind.INDENTED:
            return False
        if self._lines >= CODE_LINES or self.line_start - self.segment_start >= CONTAINER_LIMIT:
            self.cut(self.line_start, Shape(SegmentKind.CODE, continues=True))
        return True

    def _read_in_list(self, text: str, line: Line) -> bool:
        if line.indent >= self._content_indent:
            self._read_inside(text)
            return True
        if line.kind is LineKind.ITEM and line.marker == self._marker:
            self._number += 1
            if self.spent.total >= ITEM_TARGET or self._lines >= ITEM_LINES or not self.shape.is_plain:
                number = self._number if self._marker in ".)" else None
                self._cut_and_go_on(self.line_start, Shape(number=number))
            self._begin_item(text, line)
            return True
        if self._after_blank or not self._is_lazy(line):
            return False
        self._read_inside(text)
        return True

    def _read_in_quote(self, text: str, line: Line) -> bool:
        if line.kind is LineKind.QUOTE:
            is_open = self._inner_is_text or self.inner_fence is not None or self._chain.holds_code
            if self.spent.total >= QUOTE_TARGET and not is_open and not columns_of(inside_containers(text)):
                self._cut_within(self.line_start, text)
            self._read_inside(text)
            return True
        if not self._is_lazy(line):
            return False
        self._read_inside(text)
        return True

    def _is_lazy(self, line: Line) -> bool:
        """Goes on with the paragraph in the list or quote, though it has not its mark or indentation."""
        return not line.interrupts and self._inner_is_text and self.inner_fence is None

    def _read_inside(self, text: str) -> None:
        """A line of the open list or quote that is not an item of its own."""
        is_full = self.spent.total >= CONTAINER_LIMIT or self._lines >= CONTAINER_LINES
        if self.shape.kind is not SegmentKind.BLOCKS:
            is_full |= not self._goes_on_with_piece(text)
        if is_full and self.line_start > self.segment_start and not self._ends_code(text):
            self._cut_within(self.line_start, text)
        self._follow_inner(text)

    def _ends_code(self, text: str) -> bool:
        rest, _, is_inside = self._chain.at(text)
        if is_inside and self._chain.is_among_blanks(rest, is_after_blank=self._after_blank):
            # Before a cut blank lines would be lost.
            return self.next_line - self.segment_start < 2 * CONTAINER_LIMIT
        return self.inner_fence is not None and is_inside and closes(self.inner_fence, rest)

    def _goes_on_with_piece(self, text: str) -> bool:
        """Whether a line belongs to the paragraph, table or code that the segment is a piece of."""
        rest, _, is_inside = self._chain.at(text)
        if self.shape.kind is SegmentKind.CODE:
            return is_inside and (self.inner_fence is not None or self._chain.goes_on_with_code(rest))
        if self._after_blank or not rest.strip(" \t"):
            return False
        kind = read_line(rest).kind
        if self.shape.kind is SegmentKind.TABLE:
            return is_inside and self._inner_table is not None and kind is LineKind.TEXT
        return kind in (LineKind.TEXT, LineKind.INDENTED)

    def _follow_inner(self, text: str) -> None:
        fence = self.inner_fence
        is_text = self._inner_is_text and not self._after_blank
        inner = self._chain.follow(text, is_text=is_text, is_code=fence is not None)
        has_changed = self._chain.has_changed
        if fence is not None and not has_changed:
            if closes(fence, inner):
                self.inner_fence = None
                self.has_end = self.shape.kind is SegmentKind.CODE
            self._inner_is_text = False
            return
        line = read_line(inner) if inner.strip(" \t") else None
        self.inner_fence = line.fence if line is not None else None
        is_going_on = line is not None and line.kind is LineKind.INDENTED and is_text and not has_changed
        self._inner_is_text = is_going_on or (line is not None and line.kind is LineKind.TEXT)
        if not self._inner_is_text or has_changed:
            self._inner_table = None
        elif self._inner_table is None and is_text and is_table_head(self._inner_previous, inner):
            self._inner_table = InnerTable(self._inner_previous, inner, self.next_line)
        self._inner_previous = inner if self._inner_is_text else ""

    def _cut_within(self, at: int, text: str) -> None:
        """Cut a list or a quote where it has no seam, before the line `text`."""
        rest, containers, is_inside = self._chain.at(text)
        is_text = bool(rest.strip(" \t")) and read_line(rest).kind in (LineKind.TEXT, LineKind.INDENTED)
        goes_on = is_text and self._inner_is_text and not self._after_blank
        if is_inside and (self.inner_fence is not None or self._chain.goes_on_with_code(rest)):
            shape = Shape(SegmentKind.CODE, containers=containers, fence=self.inner_fence)
        elif goes_on and is_inside and self._inner_table is not None:
            rows = self.source(max(self._inner_table.rows_start, self.segment_start), at)
            lead = self.shape.lead or self._inner_table.lead(rows, self._chain.open)
            shape = Shape(SegmentKind.TABLE, containers=containers, lead=lead)
        elif goes_on:
            shape = Shape(SegmentKind.TEXT, containers=self._chain.open)
        elif len(containers) == 1 and containers[0].is_quote:
            shape = Shape()  # its marks stand before its lines
        else:
            shape = Shape(containers=containers)
        self._cut_and_go_on(at, shape)

    def _cut_and_go_on(self, at: int, shape: Shape) -> None:
        digits = self._digits_of_cut_list()
        self.cut(at, replace(shape, continues=True, digits=digits, after_blank=self._after_blank))

    def _digits_of_cut_list(self) -> int:
        """Of a list that has been cut: the same for all of its pieces, so a guess made at the first cut."""
        if not self._cut_digits:
            highest = max([self._number, *(each.number for each in self._chain.open)])
            self._cut_digits = 2 if highest < 10 else max(3, len(str(highest)))
        return self._cut_digits

    def continued_shape(self) -> Shape:
        """The shape of what follows where the open line is cut in its middle."""
        if self.block is Block.FENCE:
            return Shape(SegmentKind.CODE, continues=True, fence=self.shape.fence)
        if self.block is Block.INDENTED:
            return Shape(SegmentKind.CODE, continues=True)
        containers = self._chain.open if self.block in (Block.LIST, Block.QUOTE) else ()
        kind = SegmentKind.TEXT if self.inner_fence is None else SegmentKind.CODE
        digits = self._digits_of_cut_list() if containers else 0
        return Shape(kind, True, containers, self.inner_fence, digits=digits)

    # A new block.

    def _start(self, text: str, line: Line, *, is_long: bool) -> None:
        if line.kind is LineKind.MATH:
            self._before_math = (self.block, self._marker)
            self.block = Block.MATH
            self._math_start = self.line_start
            self._marker = line.marker
            return
        size = self.spent.total
        is_code = line.kind is LineKind.FENCE
        if is_code or is_long or size >= BLOCKS_TARGET or not self.shape.is_plain:
            self.cut(self.line_start, Shape(SegmentKind.CODE, fence=line.fence) if is_code else PLAIN)
        self._leave()
        self.inner_fence = None
        if is_code:
            self.block = Block.FENCE
        elif line.kind is LineKind.QUOTE:
            self.block = Block.QUOTE
            self._begin_containers()
            self._follow_inner(text)
        elif line.kind in (LineKind.ITEM, LineKind.FOOTNOTE):
            self.block = Block.LIST
            self._marker = line.marker
            digits = text.strip(" \t").partition(line.marker)[0]
            self._number = int(digits) if digits.isdigit() else 0
            self._begin_containers()
            self._begin_item(text, line)
        elif line.kind is LineKind.INDENTED:
            self.block = Block.INDENTED
        elif line.kind is LineKind.TEXT or (is_long and line.kind is LineKind.HEADING):
            self.block = Block.PARAGRAPH
            self.paragraph_start = self.line_start
            self.only_definitions = True
            self._remember(text, is_long=is_long)

    def _begin_containers(self) -> None:
        self._chain.clear()
        self._cut_digits = 0
        self._inner_is_text = False
        self._inner_previous, self._inner_table = "", None

    def _begin_item(self, text: str, line: Line) -> None:
        self._content_indent = line.content_indent
        self.inner_fence = None
        self._follow_inner(text)
        if line.kind is LineKind.FOOTNOTE:
            self._inner_is_text = True
