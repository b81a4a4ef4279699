"""How far code and tables that are too wide are scrolled.

Invariant: all pieces of one block stand equally far to the left, and never farther than their widest line.
"""

from collections.abc import Sequence

from sophos_desktop.shell.transcript.drawing.documents import Drawn
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind

Group = tuple[int, int]  # the message's key, the first segment of the block


class Sideways:
    """Lives as long as its view."""

    def __init__(self) -> None:
        """Nothing is scrolled."""
        self._offsets: dict[Group, int] = {}
        self._widths: dict[Group, int] = {}

    def clear(self) -> None:
        """Forget all: another conversation or width."""
        self._offsets.clear()
        self._widths.clear()

    def group(self, key: int, segments: Sequence[Segment], segment: int) -> Group:
        """The block that a segment is a piece of."""
        first = segment
        if segment >= len(segments):
            return key, first  # it went, and the view is about to hear of it
        while first > 0 and segments[first].continues and segments[first - 1].kind is segments[segment].kind:
            first -= 1
        return key, first

    def note(self, group: Group, drawn: Drawn) -> int:
        """Learn how wide a piece is; gives how far to draw it to the left."""
        self._widths[group] = max(self._widths.get(group, 0), drawn.built.natural_width)
        return self._offsets.get(group, 0)

    def offset(self, group: Group) -> int:
        """How far a block is scrolled."""
        return self._offsets.get(group, 0)

    def widest(self, group: Group) -> int:
        """The widest line of a block, as far as it was seen."""
        return self._widths.get(group, 0)

    def scroll(self, group: Group, pixels: int, width: int) -> bool:
        """Scroll a block that has `width` pixels; True if it moved."""
        before = self._offsets.get(group, 0)
        now = max(0, min(before + pixels, self._widths.get(group, 0) - width))
        self._offsets[group] = now
        return now != before


def may_scroll(drawn: Drawn) -> bool:
    """Whether a segment is of a kind that does not wrap."""
    return drawn.segment.kind in (SegmentKind.CODE, SegmentKind.TABLE) and not drawn.built.is_empty
