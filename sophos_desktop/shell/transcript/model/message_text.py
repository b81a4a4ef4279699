"""The segments of one message, made when they are asked for and, for a huge one, slice by slice.

Invariant: once all is read, the segments are those of the whole text, however it came. Until then a huge text
that was never read shows raw pieces of what it was, so that opening it costs nothing. No Qt.
"""

from collections.abc import Sequence

from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.markdown.splitter import Splitter
from sophos_desktop.shell.transcript.model.raw_pieces import raw_pieces

READ_AT_ONCE = 30_000  # characters: about 15 milliseconds of splitting
_PLAIN_LIMIT = 2_000
_PLAIN_LINES = 60


class MessageText:
    """Of an answer; lives as long as its message is in the model."""

    def __init__(self, text: str, reader: MarkdownReader, *, is_open: bool) -> None:
        """Reads nothing yet."""
        self._pieces = [text]
        self._length = len(text)
        self._reader = reader
        self._is_open = is_open
        self._splitter: Splitter | None = None
        self._raw: tuple[Segment, ...] | None = None
        self._is_read = False
        self._told = 0  # closed segments that the environment knows
        self.environment = MarkdownEnvironment(reader)

    @property
    def source(self) -> str:
        """All of it, exactly as it came."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def length(self) -> int:
        """Characters of the source."""
        return self._length

    @property
    def is_open(self) -> bool:
        """More may come."""
        return self._is_open

    @property
    def is_raw(self) -> bool:
        """The segments stand for a text that is still being read."""
        return self._raw is not None

    @property
    def is_read(self) -> bool:
        """The segments are those of all that came so far."""
        return self._is_read or self._splitter is None  # nobody has asked yet

    @property
    def segments(self) -> Sequence[Segment]:
        """As far as they are known; asking begins to read."""
        if self._splitter is None:
            self._begin()
        if self._raw is not None:
            return self._raw
        assert self._splitter is not None
        return self._splitter.segments

    def append(self, text: str, deadline: float) -> frozenset[int]:
        """Take in what came; reads until `deadline` (time.perf_counter). Gives the segments that changed."""
        self._pieces.append(text)
        self._length += len(text)
        if self._splitter is None:
            return frozenset()
        self._splitter.add(text)
        self._is_read = False
        return self.read(deadline)

    def close(self) -> frozenset[int]:
        """Nothing more will come. Gives the segments that changed."""
        self._is_open = False
        if self._splitter is None or not self._is_read:
            return frozenset()
        return self._tell(self._splitter.finish())

    def read(self, deadline: float) -> frozenset[int]:
        """Read on until `deadline`; gives the segments that changed (all, when raw pieces give way)."""
        splitter = self._splitter
        if splitter is None or self._is_read:
            return frozenset()
        first = splitter.closed_count
        is_done = splitter.feed_slice(deadline)
        changed = self._tell(range(first, len(splitter.segments)))
        if not is_done:
            return changed
        self._is_read = True
        if not self._is_open:
            changed |= self._tell(splitter.finish())
        if self._raw is not None:
            self._raw = None
            return frozenset(range(len(splitter.segments)))
        return changed

    def _begin(self) -> None:
        self._splitter = splitter = Splitter()
        text = self.source
        if len(text) <= READ_AT_ONCE:
            changed = set(splitter.feed(text))
            if not self._is_open:
                changed |= set(splitter.finish())
            self.environment.update(splitter.segments, changed)
            self._is_read = True
            return
        splitter.add(text)
        self._raw = raw_pieces(text)

    def _tell(self, changed: range) -> frozenset[int]:
        assert self._splitter is not None
        more = self.environment.update(self._splitter.segments, changed)
        return frozenset(changed) | more


def plain_segments(text: str) -> tuple[Segment, ...]:
    """Cut a text that is no Markdown: at line ends, or at blanks of a long line."""
    segments: list[Segment] = []
    start = 0
    while start < len(text):
        end = _plain_end(text, start)
        kind = SegmentKind.TEXT
        piece = text[start:end]
        segments.append(
            Segment(
                len(segments), start, end, kind, True, piece, continues=start > 0, goes_on=end < len(text)
            )
        )
        start = end
    return tuple(segments)


def _plain_end(text: str, start: int) -> int:
    limit = start + _PLAIN_LIMIT
    end, lines = start, 0
    while lines < _PLAIN_LINES:
        found = text.find("\n", end, limit + 1)
        if found < 0:
            break
        end, lines = found + 1, lines + 1
    if len(text) <= limit and lines < _PLAIN_LINES:
        return len(text)
    if end > start:
        return end
    blank = text.rfind(" ", start + 1, limit)
    end = blank + 1 if blank > 0 else limit
    # Both halves of a character stay together.
    return end + 1 if "\ud800" <= text[end - 1] <= "\udbff" and end < len(text) else end
