"""Decides, line by line, where the segments of an answer begin.

Invariant: each decision depends on the text up to and including the line it is made at, never on how the text
arrived, and is not taken back. Where CommonMark leaves it open whether a line goes on with a list or a quote,
nothing is cut. No Qt.
"""

from dataclasses import dataclass, replace
from enum import Enum

from sophos_desktop.shell.transcript.line_kinds import (
    MATH_LIMIT,
    Line,
    LineKind,
    closes,
    inside_containers,
    is_definition,
    is_setext,
    is_table_head,
    math_closes,
    read_fence,
    read_line,
)
from sophos_desktop.shell.transcript.segments import Fence, SegmentKind, columns_of

BLOCKS_TARGET = 600  # characters after which a segment ends at the next block
CONTAINER_TARGET = 1_500  # … at the next item of a list, the next paragraph of a quote
CONTAINER_LIMIT = 4_000  # … at the next line, wherever that is
CONTAINER_LINES = 80
CODE_LINES = 80
CODE_LIMIT = 6_000
TABLE_ROWS = 16
TABLE_LIMIT = 2_500
_DEEPEST = 6
_UNKNOWN = Line(LineKind.INDENTED, 4, interrupts=False)


class Block(Enum):
    """The top-level block that is open."""

    NONE = "none"
    PARAGRAPH = "paragraph"
    QUOTE = "quote"
    LIST = "list"
    FENCE = "fence"
    MATH = "math"
    TABLE = "table"
    INDENTED = "indented"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a segment is from its start on; the fields are those of Segment."""

    kind: SegmentKind = SegmentKind.BLOCKS
    continues: bool = False
    strip: int = 0
    depth: int = 0
    quote: int = 0
    fence: Fence | None = None
    lead: str = ""
    number: int | None = None

    @property
    def is_plain(self) -> bool:
        """More blocks may follow in the same segment."""
        return self.kind is SegmentKind.BLOCKS and not (self.strip or self.depth or self.quote)


PLAIN = Shape()


def _code_within(fence: Fence, depth: int, quote: int) -> Shape:
    return Shape(SegmentKind.CODE, continues=True, strip=fence.indent, depth=depth, quote=quote, fence=fence)


class BlockScanner:
    """Reads lines and calls `cut`; the splitter, which owns the text, derives from it. Positions count from
    the start of the answer."""

    def __init__(self) -> None:
        self.shape = PLAIN
        self.segment_start = 0
        self.line_start = 0
        self.next_line = 0
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
        self._inner_is_text = False
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
        if self.next_line - self.segment_start >= CONTAINER_LIMIT:
            if self.block is Block.LIST:
                self._cut_within(self.next_line, self._content_indent)
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
        if self._lines >= TABLE_ROWS or self.line_start - self.segment_start >= TABLE_LIMIT:
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
            self._read_inside(text, line.indent)
            return True
        if line.kind is LineKind.ITEM and line.marker == self._marker:
            self._number += 1
            if self.line_start - self.segment_start >= CONTAINER_TARGET or not self.shape.is_plain:
                number = self._number if self._marker in ".)" else None
                self.cut(self.line_start, Shape(continues=True, number=number))
            self._begin_item(text, line)
            return True
        if self._after_blank or not self._is_lazy(line):
            return False
        self._read_inside(text, line.indent)
        return True

    def _read_in_quote(self, text: str, line: Line) -> bool:
        if line.kind is LineKind.QUOTE:
            inner = inside_containers(text)
            may_cut = not self._inner_is_text and self.inner_fence is None and columns_of(inner) == 0
            if may_cut and self.line_start - self.segment_start >= CONTAINER_TARGET:
                self.cut(self.line_start, Shape(continues=True))
            self._read_inside(text, 0)
            return True
        if not self._is_lazy(line):
            return False
        self._read_inside(text, line.indent)
        return True

    def _is_lazy(self, line: Line) -> bool:
        """Goes on with the paragraph in the list or quote, though it has not its mark or indentation."""
        return not line.interrupts and self._inner_is_text and self.inner_fence is None

    def _read_inside(self, text: str, indent: int) -> None:
        """A line of the open list or quote that is not an item of its own."""
        inner = inside_containers(text)
        is_full = self.line_start - self.segment_start >= CONTAINER_LIMIT or self._lines >= CONTAINER_LINES
        if self.shape.kind is SegmentKind.TEXT:
            kind = read_line(inner).kind if inner.strip(" \t") else LineKind.RULE
            is_full |= self._after_blank or kind not in (LineKind.TEXT, LineKind.INDENTED)
        elif self.shape.kind is SegmentKind.CODE:
            is_full |= self.inner_fence is None
        if is_full and self.line_start > self.segment_start:
            self._cut_within(self.line_start, indent)
        self._follow_inner(text, inner)

    def _follow_inner(self, text: str, inner: str) -> None:
        fence = self.inner_fence
        offset = len(text) - len(inner)
        if fence is not None:
            if closes(fence, inner, fence.indent):
                self.inner_fence = None
                self.has_end = self.shape.kind is SegmentKind.CODE
            elif not (offset and self.block is Block.LIST and columns_of(text) < fence.indent):
                return
            else:
                self.inner_fence = None
        else:
            opened = read_fence(inner)
            if opened is not None:
                inset = 0 if self.block is Block.QUOTE else offset
                self.inner_fence = replace(opened, indent=inset + opened.indent)
        is_text = bool(inner.strip(" \t")) and self.inner_fence is None and fence is None
        self._inner_is_text = is_text and read_line(inner).kind in (LineKind.TEXT, LineKind.INDENTED)

    def _cut_within(self, at: int, indent: int) -> None:
        """Cut a list or a quote where it has no seam."""
        level = 1 + max(0, indent - self._content_indent) // 2
        depth = min(level, _DEEPEST) if self.block is Block.LIST else 0
        quote = 1 if self.block is Block.QUOTE else 0
        fence = self.inner_fence
        if fence is not None:
            self.cut(at, _code_within(fence, depth, quote))
        elif self.block is Block.LIST:
            self.cut(at, Shape(continues=True, strip=indent, depth=depth))
        else:
            self.cut(at, Shape(continues=True))

    def continued_shape(self) -> Shape:
        """The shape of what follows where the open line is cut in its middle."""
        if self.block is Block.FENCE:
            return Shape(SegmentKind.CODE, continues=True, fence=self.shape.fence)
        if self.block is Block.INDENTED:
            return Shape(SegmentKind.CODE, continues=True)
        depth = 1 if self.block is Block.LIST else 0
        quote = 1 if self.block is Block.QUOTE else 0
        if self.inner_fence is not None:
            return _code_within(self.inner_fence, depth, quote)
        return Shape(SegmentKind.TEXT, continues=True, depth=depth, quote=quote)

    # A new block.

    def _start(self, text: str, line: Line, *, is_long: bool) -> None:
        if line.kind is LineKind.MATH:
            self._before_math = (self.block, self._marker)
            self.block = Block.MATH
            self._math_start = self.line_start
            self._marker = line.marker
            return
        size = self.line_start - self.segment_start
        is_code = line.kind is LineKind.FENCE
        if is_code or is_long or size >= BLOCKS_TARGET or not self.shape.is_plain:
            self.cut(self.line_start, Shape(SegmentKind.CODE, fence=line.fence) if is_code else PLAIN)
        self._leave()
        self.inner_fence = None
        if is_code:
            self.block = Block.FENCE
        elif line.kind is LineKind.QUOTE:
            self.block = Block.QUOTE
            self._follow_inner(text, inside_containers(text))
        elif line.kind in (LineKind.ITEM, LineKind.FOOTNOTE):
            self.block = Block.LIST
            self._marker = line.marker
            digits = text.strip(" \t").partition(line.marker)[0]
            self._number = int(digits) if digits.isdigit() else 0
            self._begin_item(text, line)
        elif line.kind is LineKind.INDENTED:
            self.block = Block.INDENTED
        elif line.kind is LineKind.TEXT or (is_long and line.kind is LineKind.HEADING):
            self.block = Block.PARAGRAPH
            self.paragraph_start = self.line_start
            self.only_definitions = True
            self._remember(text, is_long=is_long)

    def _begin_item(self, text: str, line: Line) -> None:
        self._content_indent = line.content_indent
        self.inner_fence = None
        self._follow_inner(text, inside_containers(text))
        if line.kind is LineKind.FOOTNOTE:
            self._inner_is_text = True
