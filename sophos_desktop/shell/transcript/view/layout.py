"""Which parts of the conversation are in the view, and where.

Invariant: what is held is an anchor (a part and where its top is) or the end, never a value of the scroll
bar: whatever becomes of heights above and below, the text at the anchor stays where it is. Where text at the
end became shorter under a reader who does not follow it, the room stays empty until he moves. Pixels of the
viewport, whole numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sophos_desktop.shell.transcript.drawing.documents import Documents
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptModel
from sophos_desktop.shell.transcript.view.rows import PartHeights, PartKind, Rows

BOTTOM_MARGIN = 8


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """A part that is in the view. `top` and `height` are without the gap before it; `key` is the message's in
    the model."""

    message: int
    part: int
    key: int
    kind: PartKind
    top: int
    height: int

    @property
    def bottom(self) -> int:
        """Where it ends."""
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class Anchor:
    """A part and where its slot (the gap before it included) begins."""

    message: int = 0
    part: int = 0
    y: int = 0


class TranscriptLayout:
    """Lives as long as its view, on the GUI thread. The view calls `lay_out` before it paints."""

    def __init__(self, documents: Documents, parts: PartHeights) -> None:
        """Shows nothing before `set_model`."""
        self._documents = documents
        self._parts = parts
        self._model = TranscriptModel()
        self.rows = Rows(self._model, documents, parts)
        self.follows_end = True
        self.anchor = Anchor()
        self.height = 0
        self._placed: list[PlacedPart] = []
        self._is_at_end = True
        self._room = 0
        self._may_leave_room = False

    # What is where.

    @property
    def model(self) -> TranscriptModel:
        """The conversation."""
        return self._model

    @property
    def documents(self) -> Documents:
        """The documents in use."""
        return self._documents

    @property
    def placed(self) -> Sequence[PlacedPart]:
        """What is in the view, from top to bottom."""
        return self._placed

    @property
    def is_at_end(self) -> bool:
        """The end is in the view."""
        return self._is_at_end

    @property
    def may_follow(self) -> bool:
        """The end is in the view, and at its lower edge."""
        return self._is_at_end and not self._room

    @property
    def visible_messages(self) -> range:
        """The messages that are in the view, in part at least."""
        if not self._placed:
            return range(0)
        return range(self._placed[0].message, self._placed[-1].message + 1)

    def place(self, message: int, part: int) -> PlacedPart | None:
        """Where a part is, if it is in the view."""
        for placed in self._placed:
            if placed.message == message and placed.part == part:
                return placed
        return None

    @property
    def total(self) -> int:
        """The height of everything, as far as it is known."""
        return self.rows.heights.total + BOTTOM_MARGIN

    @property
    def greatest_value(self) -> int:
        """The scroll bar's."""
        return max(0, self.total - self.height)

    @property
    def value(self) -> int:
        """How far the view is from the beginning, as far as it is known."""
        if not len(self._model):
            return 0
        if self._is_at_end:
            return self.greatest_value
        return max(
            0, min(self.greatest_value, self._top(self.anchor.message, self.anchor.part) - self.anchor.y)
        )

    def _top(self, message: int, part: int) -> int:
        return self.rows.heights.top(message) + self.rows.row(message).heights.top(part)

    # Changes.

    def set_model(self, model: TranscriptModel) -> None:
        """Show a conversation, from its end."""
        self._model = model
        self._documents.clear()
        self.rows = Rows(model, self._documents, self._parts)
        self.follows_end = True
        self.anchor = Anchor()
        self._placed = []

    def grow(self, message: int, changed: frozenset[int]) -> None:
        """Segments of a message are new or changed."""
        self._may_leave_room = True
        self._documents.mark_stale(self._model.key(message), self._said_elsewhere(message, changed))
        first_after_text = self.rows.row(message).text_count if self.anchor.message == message else 0
        difference = self.rows.grow(message, changed)
        if self.anchor.message == message and self.anchor.part >= first_after_text > 0:
            self.anchor = Anchor(message, max(0, self.anchor.part + difference), self.anchor.y)

    def _said_elsewhere(self, message: int, changed: frozenset[int]) -> list[int]:
        """Of the changed segments those whose own text is as it was: another one changed what it means."""
        key, segments = self._model.key(message), self._model.segments(message)
        elsewhere = []
        for index in changed:
            drawn = self._documents.peek(key, index)
            if drawn is not None and index < len(segments) and drawn.segment is segments[index]:
                elsewhere.append(index)
        return elsewhere

    def replace(self, message: int) -> None:
        """A message is another one now."""
        self._documents.forget(self._model.key(message))
        self.rows.replace(message)
        self._may_leave_room |= self._model.message(message).kind is MessageKind.ANSWER
        if self.anchor.message == message:
            last = max(0, len(self.rows.row(message).measured) - 1)
            self.anchor = Anchor(message, min(self.anchor.part, last), self.anchor.y)

    def insert(self, first: int, last: int) -> None:
        """Messages came."""
        self.rows.insert(first, last)
        if first <= self.anchor.message and len(self._model) > last - first + 1:
            self.anchor = Anchor(self.anchor.message + last - first + 1, self.anchor.part, self.anchor.y)

    def remove(self, first: int, last: int) -> None:
        """Messages went."""
        self.rows.remove(first, last)
        if self.anchor.message > last:
            self.anchor = Anchor(self.anchor.message - (last - first + 1), self.anchor.part, self.anchor.y)
        elif self.anchor.message >= first:
            self.anchor = Anchor(min(first, max(0, len(self._model) - 1)), 0, 0)

    # Moving.

    def scroll_by(self, pixels: int) -> None:
        """Move on by pixels; what is known already is exact."""
        self.go_to(self.anchor.message, self.anchor.part, self.anchor.y - pixels)

    def scroll_to_value(self, value: int) -> None:
        """Go where the scroll bar says: near by exactly, far away through what is known of heights."""
        if not len(self._model):
            return
        if value >= self.greatest_value:
            self.follows_end = True
            return
        moved = value - self.value
        if abs(moved) <= 2 * self.height:
            self.scroll_by(moved)
            return
        message = self.rows.heights.at(value)
        offset = value - self.rows.heights.top(message)
        heights = self.rows.row(message).heights
        part = heights.at(offset)
        self.go_to(message, part, heights.top(part) - offset)

    def go_to(self, message: int, part: int, y: int) -> None:
        """Put the top of a part's slot at `y`: the reader moves."""
        self._room, self._may_leave_room = 0, False
        self.stay_at(message, part, y)

    def stay_at(self, message: int, part: int, y: int) -> None:
        """The top of a part's slot is at `y` already, or was before the text around it changed."""
        self.follows_end = False
        self.anchor = Anchor(message, part, y)

    # Laying out.

    def lay_out(self, height: int) -> Sequence[PlacedPart]:
        """Find what is in a view of `height` pixels, measuring it; gives what is placed."""
        self.height = height
        self._placed = []
        self._is_at_end = True
        if not len(self._model):
            return self._placed
        self._hold_columns()
        if self.follows_end:
            self._anchor_at_end()
        self._fill_above()
        missing = self._fill_below()
        allowed = height * 3 // 4 if self._may_leave_room else self._room
        self._room, self._may_leave_room = 0, False
        if missing and not self.follows_end:
            if missing <= allowed:
                self._room = missing
            else:
                self._anchor_at_end()
                self._fill_below()
        return self._placed

    def _hold_columns(self) -> None:
        """No column of a table moves under a reader."""
        for key, part in self._documents.hold_columns(is_held=not self.follows_end):
            message = self._model.index_of_key(key)
            if message is not None:
                self.rows.remeasure(message, part)

    def _anchor_at_end(self) -> None:
        last = len(self._model) - 1
        y = self.height - BOTTOM_MARGIN
        message, part = last, 0
        for message, part in self._upwards(last, len(self.rows.row(last).measured)):
            y -= self.rows.measure(message, part)
            if y <= 0:
                break
        self.anchor = Anchor(message, part, min(0, y))

    def _fill_above(self) -> None:
        """Let the anchor be the first part that is in the view."""
        message, part, y = self.anchor.message, self.anchor.part, self.anchor.y
        message = min(message, len(self._model) - 1)
        part = min(part, max(0, len(self.rows.row(message).measured) - 1))
        if y > 0:
            for message, part in self._upwards(message, part):  # noqa: B020 (goes on from there)
                y -= self.rows.measure(message, part)
                if y <= 0:
                    break
        self.anchor = Anchor(message, part, min(0, y))

    def _fill_below(self) -> int:
        """Place parts from the anchor on; gives how far the end is above the lower edge of the view, unless
        everything is in it."""
        y = self.anchor.y
        self._placed = []
        first: Anchor | None = None
        for message, part in self._downwards(self.anchor.message, self.anchor.part):
            if y >= self.height:
                self._is_at_end = False
                break
            slot = self.rows.measure(message, part)
            if y + slot > 0:
                first = first or Anchor(message, part, y)
                gap = self.rows.gap(message, part)
                key, kind = self._model.key(message), self.rows.kind(message, part)
                self._placed.append(PlacedPart(message, part, key, kind, y + gap, slot - gap))
            y += slot
        else:
            self._is_at_end = y + BOTTOM_MARGIN <= self.height
        begins = self.anchor if first is None else first
        self.anchor = begins
        is_whole = begins == Anchor(0, 0, 0)
        return 0 if is_whole or not self._is_at_end else self.height - y - BOTTOM_MARGIN

    def _upwards(self, message: int, part: int) -> Iterator[tuple[int, int]]:
        """The parts before a part, nearest first."""
        while True:
            while part > 0:
                part -= 1
                yield message, part
            message -= 1
            if message < 0:
                return
            part = len(self.rows.row(message).measured)

    def _downwards(self, message: int, part: int) -> Iterator[tuple[int, int]]:
        """A part and those behind it."""
        while message < len(self._model):
            for one in range(part, len(self.rows.row(message).measured)):
                yield message, one
            message, part = message + 1, 0

    # What is likely to be seen next.

    def lay_out_ahead(self) -> bool:
        """Build one text near the view that is not built; False if there is none within 1.5 views."""
        if not self._placed:
            return False
        first, last = self._placed[0], self._placed[-1]
        return self._ahead(self._downwards(last.message, last.part)) or self._ahead(
            self._upwards(first.message, first.part)
        )

    def _ahead(self, parts: Iterator[tuple[int, int]]) -> bool:
        left = self.height * 3 // 2
        for message, part in parts:
            if self.rows.kind(message, part) is PartKind.TEXT:
                key = self._model.key(message)
                if self._documents.peek(key, part) is None and not self._model.is_raw(message):
                    self._documents.get(self._model, message, part)
                    self.rows.measure(message, part)
                    return True
            left -= self.rows.row(message).heights[part]
            if left < 0:
                break
        return False
