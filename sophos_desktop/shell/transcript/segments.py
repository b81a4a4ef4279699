"""What the splitter makes: pieces of one answer, each small enough for one small document.

Invariant: a segment is plain data; `text` is the exact source between `start` and `end`, and all segments of
an answer in a row are its source. No Qt.
"""

import re
from dataclasses import dataclass
from enum import Enum

LINE_END = re.compile(r"\r\n|\r|\n")
_QUOTE_MARK = re.compile(r" {0,3}> ?")
TAB_COLUMNS = 4


class SegmentKind(Enum):
    """How a segment is read."""

    BLOCKS = "blocks"  # Markdown
    CODE = "code"  # lines of one code block, fence lines included; no Markdown in it
    TABLE = "table"  # rows of one table
    TEXT = "text"  # the middle or end of a paragraph: inline Markdown only


@dataclass(frozen=True, slots=True)
class Fence:
    """The opening line of a code block; `indent` is what its lines are indented by, in columns."""

    mark: str
    length: int
    indent: int
    info: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A slice of the source; positions count Python characters from the start of the answer.

    `continues`: the block was begun by the segment before. `goes_on`: the next one continues this block
    (known once closed). `number`: the first item's, where an ordered list goes on. `strip`, `depth` and
    `quote`: a piece cut out of the middle of a list item or a quote is read without `strip` columns or
    `quote` marks, and drawn `depth` list levels deeper. `fence` is None for indented code. `lead`: the first
    piece of a table, for its later pieces. `has_end`: the last line is the closing fence.
    """

    index: int
    start: int
    end: int
    kind: SegmentKind
    closed: bool
    text: str
    continues: bool = False
    goes_on: bool = False
    strip: int = 0
    depth: int = 0
    quote: int = 0
    fence: Fence | None = None
    lead: str = ""
    number: int | None = None
    has_end: bool = False

    @property
    def language(self) -> str:
        """The first word behind the fence, or nothing."""
        words = self.fence.info.split() if self.fence else []
        return words[0] if words else ""

    @property
    def body(self) -> str:
        """The text without what a container has put before its lines; line ends are `\\n`."""
        lines = LINE_END.sub("\n", self.text)
        if not self.strip and not self.quote:
            return lines
        return "\n".join(self._bare(line) for line in lines.split("\n"))

    def _bare(self, line: str) -> str:
        for _ in range(self.quote):
            line = _QUOTE_MARK.sub("", line, count=1)
        return without_columns(line, self.strip)

    @property
    def code(self) -> str:
        """The lines of a piece of code, without fence lines and without a last line end."""
        lines = self.body.split("\n")
        if self.fence is None:
            return "\n".join(without_columns(line, 0 if self.strip else 4) for line in lines).rstrip("\n")
        if not self.continues:
            del lines[0]
        if self.has_end:
            while lines and not lines[-1].strip():
                del lines[-1]  # blank lines behind the closing fence
            del lines[-1:]
        elif lines and lines[-1] == "":
            del lines[-1]
        if self.fence.indent and not self.strip:
            lines = [without_columns(line, self.fence.indent) for line in lines]
        return "\n".join(lines)


def columns_of(line: str) -> int:
    """How far a line is indented; a tab goes on to the next multiple of four."""
    columns = 0
    for character in line:
        if character == " ":
            columns += 1
        elif character == "\t":
            columns += TAB_COLUMNS - columns % TAB_COLUMNS
        else:
            break
    return columns


def without_columns(line: str, columns: int) -> str:
    """A line without its first `columns` columns of blanks, as far as it has them."""
    taken = 0
    for position, character in enumerate(line):
        if taken >= columns or character not in " \t":
            return " " * max(0, taken - columns) + line[position:]
        taken += 1 if character == " " else TAB_COLUMNS - taken % TAB_COLUMNS
    return " " * max(0, taken - columns)
