"""From points of the view to places in the text, and back.

Invariant: only what is in the view has a geometry; coordinates are the viewport's.
"""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QTextBlockFormat

from sophos_desktop.shell.transcript.drawing.built import text_rectangles
from sophos_desktop.shell.transcript.drawing.documents import Drawn
from sophos_desktop.shell.transcript.markdown.segments import SegmentKind
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.view.layout import PlacedPart, TranscriptLayout
from sophos_desktop.shell.transcript.view.rows import PartKind
from sophos_desktop.shell.transcript.view.sideways import Group, Sideways, may_scroll

_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text in the view. `origin`: where its document's corner is painted; `still`: where that of its frames
    and bars is, which do not scroll sideways with the block `group` by `offset`, if that can be scrolled."""

    placed: PlacedPart
    drawn: Drawn
    origin: QPointF
    still: QPointF
    group: Group | None = None
    offset: int = 0


class Geometry:
    """Lives as long as its view, which keeps `column_left` and `lift`: Qt puts the letters of a line of fixed
    height at its lower edge, so that running text is painted some pixels higher."""

    def __init__(self, layout: TranscriptLayout, sideways: Sideways) -> None:
        """Cheap."""
        self._layout = layout
        self._sideways = sideways
        self.column_left = 0
        self.lift = 0

    def text_part(self, placed: PlacedPart) -> TextPart | None:
        """A placed part with its document; None for what is no text."""
        if placed.kind is not PartKind.TEXT:
            return None
        drawn = self._layout.documents.peek(placed.key, placed.part)
        if drawn is None:
            return None
        group, offset = None, 0
        if may_scroll(drawn):
            segments = self._layout.model.segments(placed.message)
            group = self._sideways.group(placed.key, segments, placed.part)
            offset = self._sideways.note(group, drawn)
        still = QPointF(self.column_left + drawn.left, placed.top + drawn.built.room_above)
        is_apart = drawn.segment.kind in (SegmentKind.CODE, SegmentKind.TABLE)
        lift = 0 if is_apart and not drawn.segment.containers else self.lift
        origin = QPointF(still.x() - offset, still.y() - lift)
        return TextPart(placed, drawn, origin, still, group, offset)

    def part_at(self, y: float) -> PlacedPart | None:
        """The part at a height."""
        for placed in self._layout.placed:
            if placed.top <= y < placed.bottom:
                return placed
        return None

    def position_at(self, point: QPointF) -> TextPosition | None:
        """The place in the text nearest to `point`; None if no text is in the view."""
        nearest: TextPart | None = None
        least = 1e9
        for placed in self._layout.placed:
            distance = max(placed.top - point.y(), point.y() - placed.bottom + 1, 0.0)
            if placed.kind is PartKind.TEXT and distance < least:
                part = self.text_part(placed)
                if part is not None:
                    nearest, least = part, distance
        if nearest is None:
            return None
        placed = nearest.placed
        y = max(placed.top, min(placed.bottom - 1, point.y()))
        inside = QPointF(point.x(), y) - nearest.origin
        layout = nearest.drawn.document.documentLayout()
        character = layout.hitTest(inside, Qt.HitTestAccuracy.FuzzyHit)
        if point.y() < placed.top:
            character = 0
        return TextPosition(placed.message, placed.part, max(0, character))

    def first_visible(self, part: TextPart) -> TextPosition:
        """The place at the beginning of the first line of a part whose top is in the view."""
        document = part.drawn.document
        layout = document.documentLayout()
        block = document.begin()
        character = 0
        while block.isValid():
            top = part.origin.y() + layout.blockBoundingRect(block).top()
            for number in range(block.layout().lineCount()):
                line = block.layout().lineAt(number)
                character = block.position() + line.textStart()
                if top + line.y() >= 0:
                    return TextPosition(part.placed.message, part.placed.part, character)
            block = block.next()
        return TextPosition(part.placed.message, part.placed.part, character)

    def rectangles(self, start: TextPosition, end: TextPosition) -> list[QRectF]:
        """A rectangle for each line between two places that is in the view."""
        rectangles: list[QRectF] = []
        for placed in self._layout.placed:
            here = (placed.message, placed.part)
            if here < (start.message, start.segment) or here > (end.message, end.segment):
                continue
            part = self.text_part(placed)
            if part is not None:
                rectangles += self.within(part, start, end)
        return rectangles

    def within(self, part: TextPart, start: TextPosition, end: TextPosition) -> list[QRectF]:
        """The same of one part."""
        here = (part.placed.message, part.placed.part)
        document = part.drawn.document
        if here < (start.message, start.segment) or here > (end.message, end.segment):
            return []
        first = start.character if here == (start.message, start.segment) else 0
        last = end.character if here == (end.message, end.segment) else document.characterCount()
        line = round(self._line_height(part))
        rectangles = []
        for each in text_rectangles(document, first, last):
            # The letters of a line of fixed height stand at its lower edge; marked is the whole line.
            each.setTop(min(each.top(), each.bottom() - line))
            rectangles.append(each.translated(part.still.x() - part.offset, part.still.y()))
        return rectangles

    def _line_height(self, part: TextPart) -> float:
        formats = part.drawn.document.begin().blockFormat()
        return formats.lineHeight() if formats.lineHeightType() == _FIXED else 0.0

    def line_top(self, position: TextPosition) -> int | None:
        """The distance from a part's slot to the line of a place in it; builds the document."""
        layout = self._layout
        drawn = layout.documents.get(layout.model, position.message, position.segment)
        gap = layout.rows.gap(position.message, position.segment)
        block = drawn.document.findBlock(position.character)
        if not block.isValid():
            return None
        top = drawn.document.documentLayout().blockBoundingRect(block).top()
        line = block.layout().lineForTextPosition(position.character - block.position())
        if line.isValid():
            top += line.y()
        return gap + drawn.built.room_above + round(top)
