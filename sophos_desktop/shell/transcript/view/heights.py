"""Heights that are known or guessed, and where each begins.

Invariant: sums are made again only from the first height that changed on, so that growing at the end costs
nothing, however long the conversation is. Pixels, whole numbers. No Qt.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind

_CHARACTERS_A_LINE = 72
_LINE = 24
_CODE_LINE = 18
_TABLE_ROW = 28
_BREAK = 12  # a line end in Markdown: half of them begin a block, most others nothing
_CODE_FRAME = 50


class PrefixSums:
    """Heights in a row."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        """In their order."""
        self._heights = list(heights)
        self._total = sum(self._heights)  # asked for at each change, wherever that was
        self._tops: list[int] = [0]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        """One height."""
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        """One height changed."""
        if self._heights[index] != height:
            self._total += height - self._heights[index]
            self._heights[index] = height
            del self._tops[index + 1 :]

    def replace(self, first: int, end: int, heights: Iterable[int]) -> None:
        """Put `heights` in the place of those from `first` to before `end`."""
        new = list(heights)
        self._total += sum(new) - sum(self._heights[first:end])
        self._heights[first:end] = new
        del self._tops[first + 1 :]

    def top(self, index: int) -> int:
        """The sum of the heights before `index`; `index` may be their number."""
        known = len(self._tops) - 1
        if index > known:
            more = accumulate(self._heights[known:index], initial=self._tops[-1])
            next(more)
            self._tops.extend(more)
        return self._tops[index]

    @property
    def total(self) -> int:
        """The sum of all."""
        return self._total

    def at(self, offset: int) -> int:
        """The index of what covers `offset`; the first or last one beyond the ends. Not for no heights."""
        self.top(len(self._heights))
        return max(0, min(len(self._heights) - 1, bisect_right(self._tops, offset) - 1))


def guessed_text(length: int, line_ends: int) -> int:
    """The height of Markdown that nobody has read."""
    return max(_LINE, length * _LINE // _CHARACTERS_A_LINE + line_ends * _BREAK)


def guessed_segment(segment: Segment) -> int:
    """The height of a segment that is not laid out."""
    text = segment.text
    length = segment.end - segment.start
    if len(text) < length:
        return guessed_text(length, length // 60)
    if segment.kind is SegmentKind.CODE:
        return text.count("\n") * _CODE_LINE + (0 if segment.continues else _CODE_FRAME)
    if segment.kind is SegmentKind.TABLE:
        return max(1, text.count("\n")) * _TABLE_ROW
    return guessed_text(length, text.count("\n"))
