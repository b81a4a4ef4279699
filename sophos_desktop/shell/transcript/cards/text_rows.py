"""Finds the rows that a long text is drawn in, a slice at a time.

Invariant: a row is a place in the text (never a copy), at most `columns` wide; rows in a row are the text
without its line ends, and blanks at which a line was broken stay at the row's end. No Qt.
"""

from array import array
from bisect import bisect_right
from time import perf_counter
from unicodedata import category, east_asian_width

_ROWS_BETWEEN_LOOKS = 256
UNBOUNDED = 1 << 60


class TextRows:
    """Lives as long as its text is shown at one width; any thread, one at a time."""

    def __init__(self, text: str, columns: int) -> None:
        """`columns`: how many characters of normal width fit into a row."""
        self.text = text
        self.columns = max(8, columns)
        self._starts = array("Q")
        self._ends = array("Q")
        self._line_count = 0
        self._next = 0
        self._line_end = -1  # of the line that is being broken
        self._is_plain = False
        self._is_done = False

    @property
    def count(self) -> int:
        """How many rows are found so far."""
        return len(self._starts)

    @property
    def line_count(self) -> int:
        """How many lines of the text are begun so far."""
        return self._line_count

    @property
    def is_done(self) -> bool:
        """True once all rows are found."""
        return self._is_done

    @property
    def found_to(self) -> int:
        """How far the text is read."""
        return self._next

    def row(self, number: int) -> tuple[int, int]:
        """Start and end of a row in the text. Raises IndexError for one that is not found."""
        return self._starts[number], self._ends[number]

    def row_text(self, number: int) -> str:
        """What stands in a row."""
        start, end = self.row(number)
        return self.text[start:end]

    def row_at(self, position: int) -> int:
        """The row that holds a place of the text, among those that are found."""
        return max(0, bisect_right(self._starts, position) - 1)

    def line_start(self, number: int) -> int:
        """Where the line that a row is part of starts in the text."""
        return self.text.rfind("\n", 0, self._starts[number]) + 1

    def find(self, deadline: float | None = None, most: int = UNBOUNDED) -> bool:
        """Find rows until `deadline` (of time.perf_counter, in seconds) or until there are `most`; gives
        whether all are found."""
        looks = 0
        while not self._is_done and self.count < most:
            self._find_row()
            looks += 1
            if deadline is not None and looks % _ROWS_BETWEEN_LOOKS == 0 and perf_counter() >= deadline:
                break
        return self._is_done

    def _find_row(self) -> None:
        text, start = self.text, self._next
        if self._line_end < 0:
            found = text.find("\n", start)
            self._line_end = len(text) if found < 0 else found
            self._line_count += 1
            self._is_plain = self._line_end - start <= self.columns and text[start : self._line_end].isascii()
        end = self._line_end
        last = end - 1 if end > start and text[end - 1] == "\r" else end
        stop = last if self._is_plain else self._break(start, last)
        self._starts.append(start)
        self._ends.append(stop)
        if stop < last:
            self._next = stop
            return
        self._line_end = -1
        self._next = end + 1
        # A line end at the very end of the text begins no further line.
        self._is_done = end + 1 >= len(text)

    def _break(self, start: int, end: int) -> int:
        """Where a row that starts in the middle of a line ends: behind a blank if there is one."""
        limit = self._fitting(start, end)
        if limit >= end:
            return end
        blank = self.text.rfind(" ", start + (limit - start) // 2, limit + 1)
        return blank + 1 if blank >= 0 else limit

    def _fitting(self, start: int, end: int) -> int:
        most = min(end, start + self.columns)
        part = self.text[start:most]
        if part.isascii() and "\t" not in part:
            return most
        used = 0
        for position in range(start, min(end, start + 4 * self.columns)):
            used += _columns_of(self.text[position])
            if used > self.columns:
                return max(position, start + 1)
        return min(end, start + 4 * self.columns)


def _columns_of(character: str) -> int:
    if character < "\x7f":
        return 4 if character == "\t" else 1
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
