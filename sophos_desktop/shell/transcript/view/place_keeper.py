"""Remembers which character is at the top, so that it is there again when text or heights have changed.

Invariant: until the reader moves, it is the same character at the same height, however often the width or the
zoom changes (there and back again gives the same picture), and whatever its segment becomes: text that is
read at last, an open block that turns out to be another one, a definition that comes late.
"""

from bisect import bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.text.text_alignment import place_in
from sophos_desktop.shell.transcript.view.geometry import Geometry, TextPart
from sophos_desktop.shell.transcript.view.layout import TranscriptLayout
from sophos_desktop.shell.transcript.view.rows import PartKind

_LINE_ENDS = {0x2028: "\n", 0x2029: "\n"}


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """Where a reader is in a conversation that may be shown again: the first message in the view, by its id,
    the part of it, where that part's slot begins, and the character at the top if there is text."""

    message_id: str
    part: int
    y: int
    text: "_Kept | None"


@dataclass(frozen=True, slots=True)
class _Kept:
    """A character of a segment as it was drawn, and the top of its line in the view. `shown`: the segment's
    document; its characters and `character` are units of UTF-16."""

    key: int
    segment: Segment
    shown: str
    character: int
    y: int


class PlaceKeeper:
    """Lives as long as its view."""

    def __init__(self, layout: TranscriptLayout, geometry: Geometry) -> None:
        """Remembers nothing."""
        self._layout = layout
        self._geometry = geometry
        self._kept: _Kept | None = None  # until the reader moves
        self._noted: _Kept | None = None  # until the next layout

    def forget(self) -> None:
        """The reader has moved."""
        self._kept = self._noted = None

    # Another conversation, and back.

    def here(self) -> ReadingPlace | None:
        """Where the reader is; None at the end, which is followed."""
        layout = self._layout
        if layout.follows_end or layout.is_at_end or not layout.placed:
            return None
        first, anchor = layout.placed[0], layout.anchor
        self.forget()
        self.keep()
        kept, self._kept = self._kept, None
        is_of_first = kept is not None and kept.key == first.key
        message_id = layout.model.message(anchor.message).id
        return ReadingPlace(message_id, anchor.part, anchor.y, kept if is_of_first else None)

    def go_back(self, place: ReadingPlace) -> None:
        """Go where the reader was, if what was read there is still there."""
        layout = self._layout
        message = layout.model.index_of(place.message_id)
        if message is None:
            return
        last = max(0, len(layout.rows.row(message).measured) - 1)
        layout.go_to(message, min(place.part, last), place.y)
        if place.text is not None:
            self._put_back(replace(place.text, key=layout.model.key(message)))

    # Other widths and fonts.

    def keep(self) -> None:
        """Remember what is at the top, unless something is remembered."""
        if self._kept is not None or self._layout.follows_end:
            return
        for placed in self._layout.placed:
            part = self._geometry.text_part(placed)
            if part is not None and placed.bottom > 0:
                self._kept = self._top_of(part)
                return

    def restore(self) -> None:
        """Put what is remembered where it was."""
        if self._kept is not None:
            self._put_back(self._kept)

    # Other text.

    def note(self, message: int, changed: Container[int] | None) -> None:
        """These segments of a message (None: all of it) are about to be told to the layout as changed."""
        layout = self._layout
        if self._noted is not None or layout.follows_end or not layout.placed:
            return
        top = layout.placed[0]
        is_concerned = top.message == message and (changed is None or top.part in changed)
        if is_concerned and top.kind is PartKind.TEXT and top.key == layout.model.key(message):
            part = self._geometry.text_part(top)
            self._noted = None if part is None else self._top_of(part)

    def settle(self) -> None:
        """Put what was noted where it was; call it before the layout lays out."""
        noted, self._noted = self._noted, None
        if noted is not None:
            self._put_back(noted)

    # Places.

    def _top_of(self, part: TextPart) -> _Kept | None:
        place = self._geometry.first_visible(part)
        placed, drawn = part.placed, part.drawn
        # Not the geometry's line_top: that brings the document up to date.
        block = drawn.document.findBlock(place.character)
        if not block.isValid():
            return None
        top = drawn.document.documentLayout().blockBoundingRect(block).top()
        line = block.layout().lineForTextPosition(place.character - block.position())
        if line.isValid():
            top += line.y()
        y = placed.top + drawn.built.room_above + round(top)
        return _Kept(placed.key, drawn.segment, _shown(drawn.document), place.character, y)

    def _put_back(self, kept: _Kept) -> None:
        if self._layout.follows_end:
            return
        place = self._now(kept)
        line = None if place is None else self._geometry.line_top(place)
        if place is not None and line is not None:
            self._layout.stay_at(place.message, place.segment, kept.y - line)

    def _now(self, kept: _Kept) -> TextPosition | None:
        """Where the character is now; None if its message is gone."""
        layout = self._layout
        message = layout.model.index_of_key(kept.key)
        segments = () if message is None else layout.model.segments(message)
        if message is None or not segments:
            return None
        was = kept.segment
        index = _covering(segments, was.start)
        segment = segments[index]
        if segment.start == was.start and segment.end >= was.end:
            return self._at(message, index, kept.shown, kept.character)
        # It was cut otherwise: what stays is the place in the source.
        source = _units(was.text)
        at = place_in(kept.shown, kept.character, source)
        offset = was.start + len(_characters(source[:at]))
        index = _covering(segments, offset)
        segment = segments[index]
        inside = len(_units(segment.text[: max(0, offset - segment.start)]))
        return self._at(message, index, _units(segment.text), inside)

    def _at(self, message: int, index: int, text: str, place: int) -> TextPosition:
        drawn = self._layout.documents.get(self._layout.model, message, index)
        return TextPosition(message, index, place_in(text, place, _shown(drawn.document)))


def _covering(segments: Sequence[Segment], offset: int) -> int:
    return max(0, bisect_right(segments, offset, key=lambda segment: segment.start) - 1)


def _shown(document: QTextDocument) -> str:
    return _units(document.toRawText().translate(_LINE_ENDS))


def _units(text: str) -> str:
    """A character for each unit of UTF-16."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    encoded = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(low | high << 8) for low, high in zip(encoded[::2], encoded[1::2], strict=True))


def _characters(units: str) -> str:
    """The text that has these units."""
    if units.isascii():
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
