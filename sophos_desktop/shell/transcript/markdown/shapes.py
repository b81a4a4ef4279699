"""What the scanner knows of the segment and the block that are open.

Invariant: plain data. No Qt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sophos_desktop.shell.transcript.markdown.segments import (
    LINE_END,
    Container,
    Fence,
    SegmentKind,
    bare_line,
)


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
    containers: tuple[Container, ...] = ()
    fence: Fence | None = None
    lead: str = ""
    number: int | None = None
    digits: int = 0
    after_blank: bool = False

    @property
    def is_plain(self) -> bool:
        """More blocks may follow in the same segment."""
        return self.kind is SegmentKind.BLOCKS and not self.containers

    @property
    def lists(self) -> int:
        """How many lists of the segment before go on."""
        items = sum(not each.is_quote for each in self.containers)
        return items or int(self.number is not None)


PLAIN = Shape()


@dataclass(frozen=True, slots=True)
class InnerTable:
    """A table in a list or a quote: its first two lines without their marks, and where the third begins."""

    head: str
    delimiters: str
    rows_start: int

    def lead(self, rows: str, containers: Sequence[Container]) -> str:
        """The table so far without the marks of its containers: `rows` have them still."""
        bare = [bare_line(row, containers) for row in LINE_END.split(rows)]
        return "\n".join([self.head, self.delimiters, *bare])
