"""The text of a message as it is spoken and moved in, and where each of its characters stands.

Invariant: offsets count as Qt does (UTF-16 units); a formula is its words, everything else the text that is
seen. A huge message is its source, without places.
"""

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass, field

from sophos_desktop.shell.transcript.drawing.documents import Drawn
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from sophos_desktop.shell.transcript.speaking.in_words import tables_of
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments

_KEPT = 16
_MOST_SEGMENTS = 300
_PLACES = "utf-16-le"


@dataclass(slots=True)
class SpokenText:
    """`pieces`: offset in the text, segment, place in its document, whether all of it is there."""

    units: bytes = b""
    pieces: list[tuple[int, int, int, bool]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """How many units."""
        return len(self.units) // 2

    def text(self, start: int, end: int) -> str:
        """From `start` to before `end`, as far as there is text."""
        first, last = max(0, start), self.length if end < 0 else min(end, self.length)
        return self.units[2 * first : 2 * max(first, last)].decode(_PLACES, "replace")

    def place_of(self, offset: int) -> tuple[int, int]:
        """Segment and place in its document of an offset."""
        if not self.pieces:
            return 0, 0
        piece = max(0, bisect_right(self.pieces, (max(0, offset), 1 << 30, 0, False)) - 1)
        start, segment, place, is_one = self.pieces[piece]
        return segment, place if is_one else place + max(0, offset - start)

    def offset_of(self, segment: int, character: int) -> int:
        """The offset of a place in a segment's document."""
        found = 0
        for start, piece_segment, place, is_one in self.pieces:
            if (piece_segment, place) > (segment, character):
                break
            found = start if is_one or piece_segment != segment else start + character - place
        return min(found, self.length)


class SpokenTexts:
    """Lives as long as its view; keeps the texts that were asked for last."""

    def __init__(self, model: TranscriptModel, scratch: ScratchDocuments) -> None:
        """Makes none yet."""
        self._model = model
        self._scratch = scratch
        self._kept: OrderedDict[int, tuple[tuple[int, bool, str], SpokenText]] = OrderedDict()

    def of(self, message: int) -> SpokenText:
        """The text of a message as it is now."""
        model = self._model
        key = model.key(message)
        stamp = (model.length(message), model.is_raw(message), model.message(message).text[:64])
        kept = self._kept.get(key)
        if kept is not None and kept[0] == stamp:
            self._kept.move_to_end(key)
            return kept[1]
        made = self._make(message)
        self._kept[key] = (stamp, made)
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return made

    def _make(self, message: int) -> SpokenText:
        segments = self._model.segments(message)
        if self._model.is_raw(message) or len(segments) > _MOST_SEGMENTS:
            source = self._model.source(message).encode(_PLACES, "surrogatepass")
            return SpokenText(source)
        made = SpokenText()
        units = bytearray()
        for segment in segments:
            if units:
                units += "\n".encode(_PLACES)
            _add(made, units, segment.index, self._scratch.drawn(message, segment.index))
        made.units = bytes(units)
        return made


def _add(made: SpokenText, units: bytearray, segment: int, drawn: Drawn) -> None:
    text = _text_of(drawn)
    at = 0
    for formula in drawn.built.formulas:
        if not formula.is_drawn:
            continue
        made.pieces.append((len(units) // 2, segment, at, False))
        units += text[2 * at : 2 * formula.start]
        made.pieces.append((len(units) // 2, segment, formula.start, True))
        units += (formula.spoken or formula.tex).encode(_PLACES, "surrogatepass")
        at = formula.end
    made.pieces.append((len(units) // 2, segment, at, False))
    units += text[2 * at :]


def _text_of(drawn: Drawn) -> bytes:
    """A row of a table is a line, with a tab between its cells."""
    text = bytearray(drawn.document.toPlainText().encode(_PLACES, "surrogatepass"))
    if drawn.built.has_table:
        for table in tables_of(drawn.document.rootFrame()):
            for row in range(table.rows()):
                for column in range(table.columns() - 1):
                    at = 2 * table.cellAt(row, column).lastPosition()
                    text[at : at + 2] = "\t".encode(_PLACES)
    return bytes(text)


def first_words(text: str, most: int) -> str:
    """The beginning of a text as one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def position_in(model: TranscriptModel, message: int, place: tuple[int, int]) -> TextPosition:
    """A place of a message as one of the conversation."""
    segments = max(1, len(model.segments(message)))
    return TextPosition(message, min(place[0], segments - 1), place[1])
