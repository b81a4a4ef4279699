"""Cuts an answer into segments while it arrives.

Invariant: after the same text the segments are the same, however it was fed; closed segments never change;
all segments in a row are the text. Feeding costs what the new text costs. No Qt.
"""

import re
from collections.abc import Sequence
from time import perf_counter

from sophos_desktop.shell.transcript.markdown.block_scanner import BlockScanner
from sophos_desktop.shell.transcript.markdown.density import affordable, best_cut
from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.markdown.shapes import PLAIN, Block, Shape

PARAGRAPH_LIMIT = 3_000  # characters, with what the marks among them cost
LINE_LIMIT = 4_000  # characters of one line of code
LONG_LINE = 2_048  # a longer line is read by its beginning
_DEAR_LINE = 6_000  # and so is one whose beginning costs more than that, where no row of a table is expected
_DEFINITIONS_LIMIT = 600  # characters of link definitions: the parser reads n of them in n² time
_DEAR_CHARACTERS = 3_000  # in a slice: of segments that must be parsed before others can be shown
_LINES_BETWEEN_LOOKS = 32
_LINE_END = re.compile(r"\r\n|\r|\n")
_CODE_BLOCKS = frozenset({Block.FENCE, Block.INDENTED})


class Splitter(BlockScanner):
    """Lives as long as its answer is shown; any thread, one at a time."""

    def __init__(self) -> None:
        """Empty."""
        super().__init__()
        self._buffer = ""
        self._base = 0
        self._scan = 0
        self._in_line = False
        self._has_returns = False
        self._finished = False
        self._can_step = False
        self._segments: list[Segment] = []
        self._closed_count = 0
        self._dear = 0  # characters, in this slice

    @property
    def segments(self) -> Sequence[Segment]:
        """All segments; the last is open until `finish` (or absent, if nothing is in it)."""
        return self._segments

    @property
    def closed_count(self) -> int:
        """How many segments will not change any more."""
        return self._closed_count

    @property
    def waiting_text(self) -> str:
        """What was added and is in no segment yet."""
        return "" if self._is_at_end else self._buffer[self._scan - self._base :]

    @property
    def _end(self) -> int:
        return self._base + len(self._buffer)

    @property
    def _is_at_end(self) -> bool:
        return not self._can_step

    def feed(self, text: str) -> range:
        """Take in `text` at once; gives the indices of the segments that are new or changed.

        Raises RuntimeError after `finish`.
        """
        first = self._closed_count
        self.add(text)
        self._advance(None)
        return range(first, len(self._segments))

    def add(self, text: str) -> None:
        """Take in `text` for `feed_slice` to read. Raises RuntimeError after `finish`."""
        if self._finished:
            raise RuntimeError("the splitter is finished")
        self._buffer += text
        self._has_returns = self._has_returns or "\r" in text
        self._can_step = True

    def feed_slice(self, deadline: float) -> bool:
        """Read on until `deadline` (of time.perf_counter, in seconds); True when all is read."""
        self._advance(deadline)
        return self._is_at_end

    def finish(self) -> range:
        """The text has ended: close the last segment; gives the indices that changed."""
        first = self._closed_count
        self._finished = True
        self._can_step = True
        self._advance(None)
        return range(first, len(self._segments))

    # Lines.

    def _advance(self, deadline: float | None) -> None:
        self._drop_open()
        looks, closed, self._dear = 0, self._closed_count, 0
        while self._step():
            # A line takes microseconds, a new segment a good part of a millisecond.
            looks += 1 if self._closed_count == closed else _LINES_BETWEEN_LOOKS
            closed = self._closed_count
            is_late = looks >= _LINES_BETWEEN_LOOKS and deadline is not None and perf_counter() >= deadline
            looks %= _LINES_BETWEEN_LOOKS
            if is_late or (deadline is not None and self._dear >= _DEAR_CHARACTERS):
                break
        else:
            self._can_step = False
        if self._finished and not self._can_step:
            self.cut(self._end)
        else:
            self._show_open()
        self._forget_closed()

    def _step(self) -> bool:
        """Read one line or a part of a long one; False if more text is needed."""
        if self._in_line:
            return self._read_on()
        end, following = self._line_end(self._scan)
        if (beginning := self._long_beginning(end)) is not None:
            self._begin_long_line(beginning)
            return True
        if following < 0:
            if not self._finished:
                return False
            if end == self._scan:
                return self._give_up_open_math()
            following = end
        self.line_start, self.next_line = self._scan, following
        text = self._buffer[self._scan - self._base : end - self._base]
        self._scan = following
        self._take_in(text, is_long=False)
        self._keep_paragraph_short()
        return True

    def _give_up_open_math(self) -> bool:
        if self.block is not Block.MATH:
            return False
        self.line_start = self._end
        self.give_up_math()
        return True

    def _line_end(self, start: int, stop: int | None = None) -> tuple[int, int]:
        """Where the line's content ends and where the next line starts (-1: not known yet)."""
        limit = len(self._buffer) if stop is None else min(stop - self._base, len(self._buffer))
        offset = start - self._base
        if not self._has_returns:
            found = self._buffer.find("\n", offset, limit)
            return (self._base + found, self._base + found + 1) if found >= 0 else (self._base + limit, -1)
        match = _LINE_END.search(self._buffer, offset, limit)
        if match is None:
            return self._base + limit, -1
        # A carriage return at the very end may be half of a line end.
        is_half = match.group() == "\r" and match.end() == limit and not self._finished
        if is_half and limit < len(self._buffer):
            is_half = False
        return self._base + match.start(), -1 if is_half else self._base + match.end()

    def _long_beginning(self, end: int) -> str | None:
        """The part by which the line that ends at `end`, as far as it is here, is read; None: all of it."""
        text = self.source(self._scan, min(end, self._scan + LONG_LINE))
        if self.block in (Block.PARAGRAPH, Block.NONE):
            cheap = text[: affordable(text, _DEAR_LINE)]
            if len(cheap) < len(text):
                return cheap
        return text if len(text) == LONG_LINE else None

    def _begin_long_line(self, beginning: str) -> None:
        self.line_start, self.next_line = self._scan, self._scan + len(beginning)
        self._scan = self.next_line
        self._in_line = True
        self._take_in(beginning, is_long=True)

    def _take_in(self, text: str, *, is_long: bool) -> None:
        if self.line_start < self.spent.end:  # once more
            self.spent.begin(self.segment_start, self.source(self.segment_start, self.line_start))
        self.read(text, is_long=is_long)
        self.spent.add(text, self.next_line, is_code=self._is_in_code)

    @property
    def _is_in_code(self) -> bool:
        """The line that was read last is one of code."""
        return self.block in _CODE_BLOCKS or self.inner_fence is not None

    def _read_on(self) -> bool:
        is_paragraph = self.block in (Block.PARAGRAPH, Block.NONE)
        start = self.segment_start if is_paragraph else max(self.segment_start, self.line_start)
        limit = LINE_LIMIT if self._is_in_code else PARAGRAPH_LIMIT
        end, following = self._line_end(self._scan, start + limit + 2)
        if self._is_dear(start, end, limit):
            place = self._place_within(start, limit)
            self.cut(place, self.continued_shape())
            self._scan = max(self._scan, self.segment_start)
            return True
        if following < 0 and not (self._finished and end == self._end):
            self._scan = end
            return False
        self._scan = max(end, following)
        self._in_line = False
        self.spent.begin(self.segment_start, self.source(self.segment_start, self._scan))
        return True

    def _keep_paragraph_short(self) -> None:
        if self.block is not Block.PARAGRAPH or self._scan != self.next_line:
            return
        is_list = self.only_definitions and self.paragraph_start == self.segment_start
        limit = _DEFINITIONS_LIMIT if is_list else PARAGRAPH_LIMIT
        while (self.next_line - self.segment_start if is_list else self.spent.total) > limit:
            if self.paragraph_start > self.segment_start:
                self.cut(self.paragraph_start)
                continue
            if self.only_definitions and self.line_start > self.segment_start:
                self.cut(self.line_start)
                self.paragraph_start = self.line_start
                continue
            if not self._is_dear(self.segment_start, self.next_line, PARAGRAPH_LIMIT):
                return
            self.cut(self._place_within(self.segment_start, PARAGRAPH_LIMIT), self.continued_shape())

    def _is_dear(self, start: int, end: int, limit: int) -> bool:
        """Whether the text costs more than one segment may."""
        text = self._buffer[start - self._base : end - self._base]
        return affordable(text, limit, is_code=self._is_in_code) < len(text)

    def _place_within(self, start: int, limit: int) -> int:
        """Where to cut the open line or paragraph so that what is before costs no more than `limit`."""
        text = self._buffer[start - self._base : start - self._base + limit + 2]
        is_code = self._is_in_code
        return start + best_cut(text, affordable(text, limit, is_code=is_code), is_code=is_code)

    # Segments.

    def cut(self, at: int, shape: Shape = PLAIN) -> None:
        """End the open segment before `at`."""
        if at > self.segment_start:
            made = self._segment(at, closed=True, following=shape)
            self._segments.append(made)
            self._closed_count += 1
            self._dear += len(made.text) if "[^" in made.text or "]:" in made.text else made.text.count("[")
        self.begin_segment(at, shape)

    def read_again(self, start: int) -> None:
        """Read the lines from `start` on once more."""
        self._scan = start
        self._in_line = False

    def source(self, start: int, end: int) -> str:
        """Text that is still in the buffer."""
        return self._buffer[start - self._base : end - self._base]

    def _segment(self, end: int, *, closed: bool, following: Shape = PLAIN) -> Segment:
        shape = self.shape
        return Segment(
            index=self._closed_count,
            start=self.segment_start,
            end=end,
            kind=shape.kind,
            closed=closed,
            text=self.source(self.segment_start, end),
            continues=shape.continues,
            goes_on=following.continues,
            goes_on_as=following.kind if following.continues else None,
            open_lists=following.lists,
            containers=shape.containers,
            fence=shape.fence,
            lead=shape.lead,
            number=shape.number,
            digits=max(shape.digits, following.digits),
            after_blank=shape.after_blank,
            has_end=self.has_end,
        )

    def _drop_open(self) -> None:
        del self._segments[self._closed_count :]

    def _show_open(self) -> None:
        end = self._end if self._is_at_end else self._scan
        if end > self.segment_start:
            self._segments.append(self._segment(end, closed=False))

    def _forget_closed(self) -> None:
        if self.segment_start > self._base:
            self._buffer = self._buffer[self.segment_start - self._base :]
            self._base = self.segment_start
