"""Finds words in a whole conversation, whatever is laid out of it.

Invariant: a hit is what a reader can see, not what stands in the source; the search goes on in slices while
the window lives, the nearest messages first, and starts a message again when it changes.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.cards.thinking_row import ThinkingFacts
from sophos_desktop.shell.transcript.cards.tool_card import ToolGroup, head_part, parts_of
from sophos_desktop.shell.transcript.copying.clipboard import DocumentOf
from sophos_desktop.shell.transcript.finding.source_sieve import SourceSieve
from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import (
    MessageKind,
    TranscriptMessage,
    TranscriptModel,
)
from sophos_desktop.shell.transcript.text.text_search import pattern_of, places

MOST_HITS = 10_000
_SLICE_SECONDS = 0.006
_READ_SECONDS = 0.005
_MOST_ACROSS = 8  # segments that a hit may go on into
_AGAIN_MILLISECONDS = 150
_TELL_SECONDS = 0.15  # how often growing figures are told


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """What was found. In a text: from `start` of a segment's document to `end` of the same or, where a block
    is cut, of the later `end_segment`. In a card: `part` is the key of the part, `start` the number of the
    place among those in it."""

    message: int
    segment: int  # in a card the number of its part
    start: int
    end: int
    part: str = ""
    end_segment: int = -1

    @property
    def position(self) -> TextPosition:
        """Where it is."""
        return TextPosition(self.message, self.segment, self.start)

    @property
    def end_position(self) -> TextPosition:
        """Where it ends, if it is in a text."""
        return TextPosition(self.message, max(self.segment, self.end_segment), self.end)


class Find(QObject):
    """Lives as long as its view, on the GUI thread."""

    changed = Signal()  # hits, or how many

    def __init__(self, document_of: DocumentOf, parent: QObject) -> None:
        """`document_of` builds the document of a segment without disturbing what is in the view."""
        super().__init__(parent)
        self._document_of = document_of
        self._model: TranscriptModel | None = None
        self._needle = ""
        self._sieve = SourceSieve("")
        self._start = 0
        self._hits: dict[int, tuple[Hit, ...]] = {}  # by the message's index
        self._sorted: list[Hit] | None = None
        self._count = 0
        self._told = 0  # of the count, and when
        self._told_at = 0.0
        self._steps: Iterator[None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_turn)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(_AGAIN_MILLISECONDS)
        self._again.timeout.connect(self._on_again)
        self._stale: set[int] = set()

    def set_model(self, model: TranscriptModel) -> None:
        """Search in this model; called once."""
        self._model = model
        model.was_reset.connect(self._on_moved)
        model.inserted.connect(self._on_moved)
        model.removed.connect(self._on_moved)
        model.changed.connect(self._on_changed)
        model.grew.connect(self._on_changed)
        self._on_moved()

    # What is found.

    @property
    def needle(self) -> str:
        """What is searched for."""
        return self._needle

    @property
    def is_done(self) -> bool:
        """True once everything was searched."""
        return self._steps is None

    @property
    def count(self) -> int:
        """How many hits there are so far, at most MOST_HITS."""
        return self._count

    @property
    def hits(self) -> list[Hit]:
        """All hits so far in the order they are read."""
        if self._sorted is None:
            self._sorted = [hit for message in sorted(self._hits) for hit in self._hits[message]]
        return self._sorted

    def hits_in(self, message: int) -> tuple[Hit, ...]:
        """The hits of one message."""
        return self._hits.get(message, ())

    def next_hit(self, after: Hit | None, start: int) -> Hit | None:
        """The hit behind `after`, or the first in or behind the message `start`; round the end."""
        hits = self.hits
        place = Hit(start, 0, 0, 0) if after is None else after
        at = bisect_left(hits, place) if after is None else bisect_right(hits, place)
        return hits[at % len(hits)] if hits else None

    def hit_before(self, before: Hit | None, start: int) -> Hit | None:
        """The hit before `before`, or the last in or above the message `start`; round the beginning."""
        hits = self.hits
        at = bisect_left(hits, Hit(start + 1, 0, 0, 0) if before is None else before)
        return hits[at - 1] if hits else None

    def number_of(self, hit: Hit) -> int:
        """Which of all hits so far it is, counted from 1."""
        return bisect_left(self.hits, hit) + 1

    # Searching.

    def search(self, needle: str, start: int) -> None:
        """Search for `needle`, from the message `start` on and round the end."""
        self._needle, self._start = needle, start
        self._sieve = SourceSieve(needle)
        self._restart()

    def stop(self) -> None:
        """Search no longer, and forget what was found."""
        self.search("", 0)

    def _restart(self) -> None:
        self._hits, self._sorted, self._count, self._told = {}, None, 0, 0
        self._stale.clear()
        self._again.stop()
        self._steps = None
        self._timer.stop()
        if self._model is not None and len(self._model) and pattern_of(self._needle) is not None:
            self._steps = self._search_all(self._model)
            self._timer.start()
            self._on_turn()
        else:
            self.changed.emit()

    def _on_turn(self) -> None:
        now = perf_counter()
        deadline = now + _SLICE_SECONDS
        while self._steps is not None and perf_counter() < deadline:
            if next(self._steps, self) is self or self._count >= MOST_HITS:
                self._steps = None
        if self._steps is None:
            self._timer.stop()
        is_first = self._told == 0 < self._count
        is_due = now - self._told_at >= _TELL_SECONDS and self._told != self._count
        if is_first or is_due or self._steps is None:
            self._told, self._told_at = self._count, now
            self.changed.emit()

    def _search_all(self, model: TranscriptModel) -> Iterator[None]:
        length = len(model)
        start = min(self._start, length - 1)
        for offset in range(length):
            yield from self._search_message(model, (start + offset) % length)

    def _search_message(self, model: TranscriptModel, index: int) -> Iterator[None]:
        message = model.message(index)
        found: list[Hit] = []
        if message.kind is MessageKind.CARD:
            found += _hits_in_card(message, index, self._needle)
            yield
        elif self._sieve.may_show(model.source(index)):
            model.segments(index)  # begins to read
            while not model.read_on(index, _READ_SECONDS):
                yield
            self._stale.discard(index)  # what was read just now is searched just now
            yield from self._search_text(model, index, found)
        else:
            yield
        self._set_hits(index, tuple(found))

    def _search_text(self, model: TranscriptModel, index: int, found: list[Hit]) -> Iterator[None]:
        free = (0, 0)  # the segment and the place behind the last hit
        number = 0
        while number < len(segments := model.segments(index)):
            hits: list[Hit] = []
            if self._sieve.may_show(segments[number].text):
                document = self._document_of(index, number)
                hits += _hits_in_document(document, index, number, self._needle)
            behind = _goes_on_in(segments, number, len(self._needle))
            if behind and self._sieve.may_span(
                segments[number].text, "".join(segment.text for segment in behind)
            ):
                hits += self._hits_across(index, segments[number], behind)
            for hit in hits:
                if (number, hit.start) >= free:
                    found.append(hit)
                    free = (hit.end_position.segment, hit.end)
            yield
            number += 1

    def _hits_across(self, message: int, segment: Segment, behind: Sequence[Segment]) -> list[Hit]:
        """What begins in a segment and goes on behind its end."""
        text = self._document_of(message, segment.index).toPlainText()
        inner_end, whole, before = len(text), text, segment
        starts: list[int] = []
        for following in behind:
            whole += "\n" if before.text[-1:].isspace() else ""
            starts.append(len(whole))
            whole += self._document_of(message, following.index).toPlainText()
            before = following
        found: list[Hit] = []
        for start, end in places(whole, self._needle, MOST_HITS):
            if start < inner_end and end > starts[0]:
                last = bisect_left(starts, end) - 1
                units = _count_units(whole[starts[last] : end])
                number = behind[last].index
                found.append(Hit(message, segment.index, _count_units(text[:start]), units, "", number))
        return found

    def _set_hits(self, message: int, hits: tuple[Hit, ...]) -> None:
        self._count += len(hits) - len(self._hits.get(message, ()))
        if hits:
            self._hits[message] = hits
        else:
            self._hits.pop(message, None)
        self._sorted = None

    # Changes.

    def _on_moved(self, *_what: object) -> None:
        if self._needle:
            self._restart()

    def _on_changed(self, message: int, *_what: object) -> None:
        if self._needle:
            self._stale.add(message)
            if not self._again.isActive():
                self._again.start()

    def _on_again(self) -> None:
        model = self._model
        if model is None or self._steps is not None:
            self._again.start()
            return
        stale, self._stale = self._stale, set()
        self._steps = self._search_some(model, sorted(index for index in stale if index < len(model)))
        self._timer.start()

    def _search_some(self, model: TranscriptModel, indices: list[int]) -> Iterator[None]:
        for index in indices:
            yield from self._search_message(model, index)


def _goes_on_in(segments: Sequence[Segment], number: int, length: int) -> list[Segment]:
    """The segments that go on with the block at the end of this one, as many as `length` may reach into."""
    found: list[Segment] = []
    for segment in segments[number + 1 : number + 1 + _MOST_ACROSS]:
        if not segment.continues or sum(len(each.text) for each in found) > 2 * length:
            break
        found.append(segment)
    return found


def _count_units(text: str) -> int:
    return len(text) + sum(character >= "\U00010000" for character in text)


def _hits_in_document(document: QTextDocument, message: int, segment: int, needle: str) -> list[Hit]:
    text = document.toPlainText()
    units: Callable[[int], int] = int if text.isascii() or max(text) < "\U00010000" else _Units(text)
    return [Hit(message, segment, units(start), units(end)) for start, end in places(text, needle, MOST_HITS)]


class _Units:
    """Positions as Qt counts them, asked for in rising order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._units = 0

    def __call__(self, position: int) -> int:
        if position < self._at:
            self._at = self._units = 0
        self._units += len(self._text[self._at : position].encode("utf-16-le", "surrogatepass")) // 2
        self._at = position
        return self._units


def searched_parts(message: TranscriptMessage) -> list[tuple[str, str]]:
    """Key and text of each part of a card that is searched."""
    payload = message.payload
    if isinstance(payload, ToolGroup):
        return [
            searched
            for call in payload.calls
            for searched in (head_part(call), *((part.key, part.text) for part in parts_of(call)))
        ]
    if isinstance(payload, ThinkingFacts):
        return [(payload.key, payload.text)]
    return []


def _hits_in_card(message: TranscriptMessage, index: int, needle: str) -> list[Hit]:
    return [
        Hit(index, number, ordinal, 0, key)
        for number, (key, text) in enumerate(searched_parts(message))
        for ordinal in range(len(places(text, needle, MOST_HITS)))
    ]
