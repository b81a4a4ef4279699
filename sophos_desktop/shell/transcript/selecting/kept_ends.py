"""Keeps the ends of a selection on their characters while the text they stand in is drawn anew.

Invariant: an end stays at its character in the source, whatever is cut or read on meanwhile; if something
else stands there now, there is no such place.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sophos_desktop.shell.transcript.copying.clipboard import DocumentOf
from sophos_desktop.shell.transcript.markdown.segments import LINE_END, Segment, SegmentKind
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from sophos_desktop.shell.transcript.selecting.following import followed

_MOST_PIECES = 12  # segments that one may have become


@dataclass(frozen=True, slots=True)
class _Held:
    """What an end was seen in. `text`: of the document, in units of UTF-16; None if it cannot change.
    `segment` is None for an end behind all segments."""

    segment: Segment | None
    text: str | None = None
    is_raw: bool = False


class KeptEnds:
    """Lives as long as its selection; an end is known by its number."""

    def __init__(self, model: TranscriptModel, document_of: DocumentOf) -> None:
        """Holds nothing."""
        self._model = model
        self._document_of = document_of
        self._held: list[_Held] = []

    def hold(self, places: Sequence[TextPosition]) -> None:
        """Remember what stands around these places, instead of others."""
        before, self._held = self._held, []
        for number, place in enumerate(places):
            self._held.append(self._seen(place, before[number] if number < len(before) else None))

    def again(self, number: int, place: TextPosition, *, is_start: bool) -> TextPosition | None:
        """Where the end that was at `place` is now; None if what stood there changed. Its message may have
        another number than when it was held. `is_start`: the selected text is behind it."""
        if place.message >= len(self._model):
            return place  # the end of all
        held, segments = self._held[number], self._model.segments(place.message)
        if held.segment is None:
            return TextPosition(place.message, len(segments), 0)
        if held.text is None:
            same = place.segment < len(segments) and segments[place.segment] == held.segment
            return place if same else None
        if held.is_raw and not self._model.is_raw(place.message):
            return self._in_what_was_read(held, place, is_start=is_start)
        return self._in_what_is_drawn(held, place, is_start=is_start)

    def _seen(self, place: TextPosition, before: _Held | None) -> _Held:
        model, message = self._model, place.message
        segments = model.segments(message) if message < len(model) else ()
        if place.segment >= len(segments):
            return _Held(None)
        segment = segments[place.segment]
        if model.is_read(message) and not model.is_open(message):
            return _Held(segment)
        return _Held(segment, self._text(message, place.segment), model.is_raw(message))

    def _text(self, message: int, segment: int) -> str:
        return in_units(self._document_of(message, segment).toPlainText())

    def _in_what_is_drawn(self, held: _Held, place: TextPosition, *, is_start: bool) -> TextPosition | None:
        """The segment may have been cut into several meanwhile."""
        segments = self._model.segments(place.message)
        assert held.segment is not None and held.text is not None
        texts: list[str] = []
        index = place.segment
        while index < len(segments) and segments[index].start < max(held.segment.end, held.segment.start + 1):
            if len(texts) == _MOST_PIECES:
                return None
            texts.append(self._text(place.message, index))
            index += 1
        starts, whole = _joined(texts, segments[place.segment : index])
        at = followed(held.text, whole, place.character, is_start=is_start)
        if at is None:
            return None
        piece = max(0, bisect_right(starts, at if is_start else at - 1) - 1)
        character = min(at - starts[piece], len(texts[piece]))
        return TextPosition(place.message, place.segment + piece, max(0, character))

    def _in_what_was_read(self, held: _Held, place: TextPosition, *, is_start: bool) -> TextPosition | None:
        """It was a place in the source itself."""
        assert held.segment is not None and held.text is not None
        if not held.segment.text:
            return TextPosition(place.message, 0, 0)
        segments = self._model.segments(place.message)
        source = held.segment.start + _source_offset(held.segment, held.text, place.character)
        character = source if is_start else max(0, source - 1)
        index = max(0, bisect_right(segments, character, key=lambda segment: segment.start) - 1)
        segment = segments[index]
        lines = in_units(LINE_END.sub("\n", segment.text[: source - segment.start]))
        drawn = self._text(place.message, index)
        whole = in_units(LINE_END.sub("\n", segment.text))
        at = followed(whole, drawn, len(lines), is_start=is_start)
        return None if at is None else TextPosition(place.message, index, at)


def source_place(model: TranscriptModel, document_of: DocumentOf, place: TextPosition) -> int:
    """How many characters of an unread answer's source stand before a place in it."""
    segments = model.segments(place.message)
    if place.segment >= len(segments):
        return model.length(place.message)
    text = in_units(document_of(place.message, place.segment).toPlainText())
    segment = segments[place.segment]
    return segment.start + _source_offset(segment, text, place.character)


def in_units(text: str) -> str:
    """A text with a character for each unit of UTF-16, as Qt counts."""
    if text.isascii() or max(text) < "\U00010000":
        return text
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(map(chr, units))


def _joined(texts: Sequence[str], segments: Sequence[Segment]) -> tuple[list[int], str]:
    """Where each text starts, and all in a row."""
    starts, whole = [0], ""
    for number, text in enumerate(texts):
        if number:
            before = segments[number - 1].text
            is_seamless = segments[number].continues and segments[number].kind is SegmentKind.TEXT
            whole += (" " if before[-1:].isspace() else "") if is_seamless else "\n"
            starts.append(len(whole))
        whole += text
    return starts, whole


def _source_offset(segment: Segment, text: str, character: int) -> int:
    """How many characters of a raw segment's source stand before a place in its document."""
    before = text[:character]
    starts = [0, *(found.end() for found in LINE_END.finditer(segment.text))]
    line = before.rpartition("\n")[2]
    units = sum("\udc00" <= unit <= "\udfff" for unit in line)  # second halves
    return starts[min(before.count("\n"), len(starts) - 1)] + len(line) - units
