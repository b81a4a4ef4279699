"""What the splitter makes: pieces of one answer, each small enough for one small document.

Invariant: a segment is plain data; `text` is the exact source between `start` and `end`, and all segments of
an answer in a row are its source. No Qt.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

LINE_END = re.compile(r"\r\n|\r|\n")
_QUOTE_MARK = re.compile(r" {0,3}> ?")
_WIDEST_SPACE = 4  # behind the mark of an item; what is indented more is code
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
class Container:
    """A quote (`>`), an item of a list (`-`, `3.`) or a footnote (`[^1]:`) around a block. `width`: columns
    before what stands in an item; `number`: the item's, counted from its list's first."""

    mark: str
    width: int = 0
    number: int = 0

    @property
    def is_quote(self) -> bool:
        """Its mark stands before each of its lines."""
        return self.mark == ">"

    @property
    def opening(self) -> str:
        """What begins it, as wide as it is."""
        if self.is_quote or self.mark.startswith("["):
            return f"{self.mark} "
        space = min(self.width - len(self.mark), _WIDEST_SPACE)
        return " " * (self.width - len(self.mark) - space) + self.mark + " " * space


@dataclass(frozen=True, slots=True)
class Segment:
    """A slice of the source; positions count Python characters from the start of the answer.

    `continues`: the block was begun by the segment before. `goes_on`: the next one continues this block
    (known once closed), as what `goes_on_as` says and within `open_lists` lists of this one. `number`: the
    first item's, where an ordered list goes on. `digits`: how many the numbers of a list that was cut have
    room for. `after_blank`: a blank line is before the piece. `containers`: what is open, outermost first,
    where a piece was cut out of the middle of an item or a quote. `fence` is None for indented code.
    `lead`: the first piece of a table, for its later pieces; of a table in containers without their marks.
    `has_end`: the last line is the closing fence.
    """

    index: int
    start: int
    end: int
    kind: SegmentKind
    closed: bool
    text: str
    continues: bool = False
    goes_on: bool = False
    goes_on_as: SegmentKind | None = None
    open_lists: int = 0
    containers: tuple[Container, ...] = ()
    fence: Fence | None = None
    lead: str = ""
    number: int | None = None
    digits: int = 0
    after_blank: bool = False
    has_end: bool = False

    @property
    def language(self) -> str:
        """The first word behind the fence, or nothing."""
        words = self.fence.info.split() if self.fence else []
        return words[0] if words else ""

    @property
    def quote(self) -> int:
        """How many quotes the piece was cut out of."""
        return sum(each.is_quote for each in self.containers)

    @property
    def strip(self) -> int:
        """The columns of the items that the piece was cut out of."""
        return sum(each.width for each in self.containers)

    @property
    def opening(self) -> str:
        """The marks that begin its containers again."""
        return "".join(each.opening for each in self.containers)

    @property
    def body(self) -> str:
        """The text without what a container has put before its lines; line ends are `\n`."""
        lines = LINE_END.sub("\n", self.text)
        if not self.containers:
            return lines
        return "\n".join(bare_line(line, self.containers) for line in lines.split("\n"))

    @property
    def code(self) -> str:
        """The lines of a piece of code, without fence lines and without a last line end."""
        lines = self.body.split("\n")
        if self.fence is None:
            return "\n".join(without_columns(line, TAB_COLUMNS) for line in lines).rstrip("\n")
        if not self.continues:
            del lines[0]
        if self.has_end:
            while lines and not lines[-1].strip():
                del lines[-1]  # blank lines behind the closing fence
            del lines[-1:]
        elif lines and lines[-1] == "":
            del lines[-1]
        if self.fence.indent:
            lines = [without_columns(line, self.fence.indent) for line in lines]
        return "\n".join(lines)


def bare_line(line: str, containers: Sequence[Container]) -> str:
    """A line without what containers have put before it, as far as it has that."""
    for each in containers:
        if each.is_quote:
            found = _QUOTE_MARK.match(line)
            line = line[found.end() :] if found else line
        else:
            line = without_columns(line, each.width)
    return line


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
