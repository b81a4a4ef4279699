"""The parts of each message and their heights: text by segments, images, the card below.

Invariant: a part's height counts the gap before it; it is a guess until it was measured. Messages that nobody
has looked at cost one number.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from sophos_desktop.shell.transcript.drawing.documents import Documents
from sophos_desktop.shell.transcript.model.transcript_model import MessageImage, MessageKind, TranscriptModel
from sophos_desktop.shell.transcript.view.heights import PrefixSums, guessed_segment, guessed_text

TOP_MARGIN = 12
AFTER_USER = 12
BEFORE_USER = 24
BETWEEN_CARDS = 4
AFTER_CARD = 8
FOOTER_GAP = 4
IMAGE_GAP = 8
_GUESSED_CARD = 36
_GUESSED_FOOTER = 24
_GUESSED_IMAGE = 240


class PartKind(Enum):
    """What a part is."""

    TEXT = "text"
    IMAGE = "image"
    CARD = "card"  # the body of a card message
    FOOTER = "footer"


class PartHeights(Protocol):
    """Who knows how high cards and images are."""

    def card_height(self, model: TranscriptModel, message: int, *, is_footer: bool) -> int:
        """Makes the card if need be."""
        ...

    def image_height(self, image: MessageImage) -> int:
        """Of the placeholder while the image is not there."""
        ...


@dataclass(slots=True)
class Row:
    """The parts of one message."""

    text_count: int
    image_count: int
    heights: PrefixSums
    measured: list[bool]


class Rows:
    """Lives as long as its layout; messages by index."""

    def __init__(self, model: TranscriptModel, documents: Documents, parts: PartHeights) -> None:
        """Guesses the height of every message."""
        self._model = model
        self._documents = documents
        self._parts = parts
        self._rows: dict[int, Row] = {}
        self.heights = PrefixSums(self._guess(index) for index in range(len(model)))

    # Parts.

    def row(self, message: int) -> Row:
        """The parts of a message, found out when first asked for."""
        key = self._model.key(message)
        row = self._rows.get(key)
        if row is None:
            self._rows[key] = row = self._make(message)
            self.heights[message] = row.heights.total
        return row

    def kind(self, message: int, part: int) -> PartKind:
        """What a part is."""
        row = self.row(message)
        if part < row.text_count:
            return PartKind.TEXT
        if part < row.text_count + row.image_count:
            return PartKind.IMAGE
        is_card = self._model.message(message).kind is MessageKind.CARD
        return PartKind.CARD if is_card else PartKind.FOOTER

    def measure(self, message: int, part: int) -> int:
        """The height of a part, gap included, found out if need be."""
        row = self.row(message)
        if not row.measured[part]:
            row.measured[part] = True
            row.heights[part] = self.gap(message, part) + self._body(message, part)
            self.heights[message] = row.heights.total
        return row.heights[part]

    def is_measured(self, message: int, part: int) -> bool:
        """Whether a part's height is known."""
        return self.row(message).measured[part]

    def _body(self, message: int, part: int) -> int:
        kind = self.kind(message, part)
        if kind is PartKind.TEXT:
            if self._documents.shows_nothing(self._model, message, part):
                return 0
            return self._documents.get(self._model, message, part).height
        if kind is PartKind.IMAGE:
            return self._parts.image_height(self.image(message, part))
        return self._parts.card_height(self._model, message, is_footer=kind is PartKind.FOOTER)

    def image(self, message: int, part: int) -> MessageImage:
        """The image that is a part."""
        return self._model.message(message).images[part - self.row(message).text_count]

    def gap(self, message: int, part: int) -> int:
        """The pixels kept free above a part, which is measured or about to be."""
        kind = self.kind(message, part)
        own = 0
        if kind is PartKind.TEXT and not self._documents.shows_nothing(self._model, message, part):
            own = self._documents.get(self._model, message, part).built.gap_before
        if part == 0:
            return max(own, self._message_gap(message))
        if kind is PartKind.IMAGE:
            return IMAGE_GAP
        return FOOTER_GAP if kind is PartKind.FOOTER else own

    def _message_gap(self, message: int) -> int:
        if message == 0:
            return TOP_MARGIN
        shown = self._model.message(message)
        before, now = self._model.message(message - 1).kind, shown.kind
        if now is MessageKind.USER:
            return BEFORE_USER
        if before is MessageKind.USER:
            return AFTER_USER
        is_between = before is MessageKind.CARD and now is MessageKind.CARD and not shown.stands_apart
        return BETWEEN_CARDS if is_between else AFTER_CARD

    # What changes.

    def remeasure(self, message: int, part: int | None = None) -> None:
        """A part, or all of a message, may have another height now."""
        row = self._rows.get(self._model.key(message))
        if row is not None:
            parts = range(len(row.measured)) if part is None else (part,)
            for one in parts:
                row.measured[one] = False

    def remeasure_widgets(self, message: int) -> None:
        """The card or footer of a message may have another height now."""
        row = self._rows.get(self._model.key(message))
        if row is not None:
            for part in range(row.text_count + row.image_count, len(row.measured)):
                row.measured[part] = False

    def remeasure_images(self) -> None:
        """Images may have another height now."""
        for row in self._rows.values():
            for part in range(row.text_count, row.text_count + row.image_count):
                row.measured[part] = False

    def remeasure_all(self) -> None:
        """The width or the fonts changed; heights are guesses again, from what they were."""
        for row in self._rows.values():
            row.measured = [False] * len(row.measured)

    def grow(self, message: int, changed: frozenset[int]) -> int:
        """Segments are new or changed; gives how many parts of text came or went."""
        row = self._rows.get(self._model.key(message))
        if row is None:
            self.heights[message] = self._guess(message)
            return 0
        segments = self._model.segments(message)
        before, now = row.text_count, len(segments)
        if now != before:
            kept = min(before, now)
            added = [guessed_segment(segment) + 8 for segment in segments[kept:]]
            row.heights.replace(kept, before, added)
            row.measured[kept:before] = [False] * len(added)
            row.text_count = now
        for index in changed:
            if index >= now:
                continue
            row.measured[index] = False
            # What is not in sight is not built, but its height must not lag far behind.
            guess = guessed_segment(segments[index])
            if guess > row.heights[index]:
                row.heights[index] = guess
        self.heights[message] = row.heights.total
        return now - before

    def replace(self, message: int) -> None:
        """A message is another one now."""
        self._rows.pop(self._model.key(message), None)
        self.heights[message] = self._guess(message)
        self._remeasure_first(message + 1)

    def insert(self, first: int, last: int) -> None:
        """Messages came."""
        self.heights.replace(first, first, [self._guess(index) for index in range(first, last + 1)])
        self._remeasure_first(last + 1)

    def remove(self, first: int, last: int) -> None:
        """Messages went."""
        self.heights.replace(first, last + 1, ())
        alive = {self._model.key(index) for index in range(len(self._model))}
        self._rows = {key: row for key, row in self._rows.items() if key in alive}
        self._remeasure_first(first)

    def _remeasure_first(self, message: int) -> None:
        """The gap before a message depends on the one before it."""
        if message < len(self._model):
            row = self._rows.get(self._model.key(message))
            if row is not None and row.measured:
                row.measured[0] = False

    # Guesses.

    def _guess(self, index: int) -> int:
        message = self._model.message(index)
        footer = FOOTER_GAP + _GUESSED_FOOTER if message.has_footer else 0
        images = len(message.images) * (_GUESSED_IMAGE + IMAGE_GAP)
        if message.kind is MessageKind.CARD:
            return _GUESSED_CARD + BETWEEN_CARDS + images
        source = self._model.source(index)
        text = guessed_text(len(source), source.count("\n"))
        return text + AFTER_USER + footer + images

    def _make(self, index: int) -> Row:
        message = self._model.message(index)
        if message.kind is MessageKind.CARD:
            return Row(0, 0, PrefixSums([self.heights[index]]), [False])
        heights = [guessed_segment(segment) + 8 for segment in self._model.segments(index)]
        count = len(heights)
        heights += [_GUESSED_IMAGE + IMAGE_GAP] * len(message.images)
        if message.has_footer:
            heights.append(FOOTER_GAP + _GUESSED_FOOTER)
        return Row(count, len(message.images), PrefixSums(heights), [False] * len(heights))
