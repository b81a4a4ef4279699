"""An answer of which parts are copied, without a window; and what a copy shows when it is read again."""

import re

from PySide6.QtGui import QTextCursor, QTextDocument, QTextTable

from sophos_desktop.shell.transcript.copying.clipboard import Span, copied_markdown, copied_text, message_span
from sophos_desktop.shell.transcript.copying.source_map import marker_length
from sophos_desktop.shell.transcript.drawing.built import LinkKind
from sophos_desktop.shell.transcript.markdown.segments import SegmentKind
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from tests.shell.transcript.answers import Answer
from tests.shell.transcript.viewing import answer

Place = tuple[int, int]
"""A segment and a position in its document."""
_MARKER = re.compile(r"^(?:(?:[•◦▪☑☐]|[^\s.]+\.)[\t\u2002])+")
_NOTE = re.compile(r"\[\^(\d+)\]")


class Copies:
    """One answer, built once."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.built = Answer(source)
        self.model = TranscriptModel()
        self.model.reset([answer("a", source)])

    def document(self, _message: int, segment: int) -> QTextDocument:
        return self.built.documents[segment]

    def text(self, start: Place, end: Place) -> str:
        return copied_text(self.model, self.document, self._span(start, end))

    def markdown(self, start: Place, end: Place) -> str:
        return copied_markdown(self.model, self.document, self._span(start, end))

    @property
    def whole_text(self) -> str:
        span = message_span(self.model, 0)
        return "" if span is None else copied_text(self.model, self.document, span)

    @property
    def length(self) -> int:
        """Of all documents together."""
        return sum(document.characterCount() for document in self.built.documents)

    def place(self, offset: int) -> Place:
        """The offset counts through all documents."""
        for segment, document in enumerate(self.built.documents):
            if offset < document.characterCount():
                return segment, offset
            offset -= document.characterCount()
        last = len(self.built.documents) - 1
        return last, self.built.documents[last].characterCount() - 1

    def table_at(self, place: Place) -> QTextTable | None:
        return self._cursor(place).currentTable()

    def is_one_cell(self, start: Place, end: Place) -> bool:
        table = self.table_at(start)
        if table is None or start[0] != end[0] or self.table_at(end) is None:
            return False
        return bool(table.cellAt(self._cursor(start)) == table.cellAt(self._cursor(end)))

    def snapped(self, place: Place, *, is_end: bool) -> Place:
        """To the edge of what is one thing on the screen: a character, a marker, a formula, an image."""
        segment, position = place
        block = self.built.documents[segment].findBlock(position)
        units = block.text().encode("utf-16-le", "surrogatepass")
        offset = position - block.position()
        if 0 < offset * 2 < len(units) and 0xDC <= units[offset * 2 + 1] <= 0xDF:
            position -= 1
        if block.position() < position < block.position() + marker_length(block):
            position = block.position()
        built = self.built.built[segment]
        notes = [link for link in built.links if link.kind is LinkKind.FOOTNOTE]
        things = [(image.start, image.end) for image in built.blocked_images]
        things += [(formula.start, formula.end) for formula in built.formulas]
        for start, end in [*things, *((link.start, link.end) for link in notes)]:
            if start < position < end:
                position = end if is_end else start
        return segment, position

    def row_edge(self, place: Place, *, is_end: bool) -> Place:
        """Where the row of a table begins or ends that a place is in."""
        if place[1] == 0 and not is_end and self.table_at((place[0], 1)) is not None:
            place = (place[0], 1)  # behind the empty block above a table
        table = self.table_at(place)
        if table is None:
            return place
        row = table.cellAt(self._cursor(place)).row()
        first, last = table.cellAt(row, 0), table.cellAt(row, table.columns() - 1)
        return place[0], last.lastPosition() if is_end else first.firstPosition()

    def head_above(self, place: Place) -> str:
        """The head of the table that a place is in, as text, unless that is the head itself."""
        segment, table = place[0], self.table_at(place)
        if table is None:
            return ""
        pieces = self.built.segments
        if pieces[segment].kind is SegmentKind.TABLE and pieces[segment].continues:
            while pieces[segment].continues:
                segment -= 1
            table = next(
                found
                for position in range(self.built.documents[segment].characterCount())
                if (found := self.table_at((segment, position))) is not None
            )
        elif table.cellAt(self._cursor(place)).row() == 0:
            return ""
        first, last = table.cellAt(0, 0), table.cellAt(0, table.columns() - 1)
        return self.text((segment, first.firstPosition()), (segment, last.lastPosition()))

    def _cursor(self, place: Place) -> QTextCursor:
        cursor = QTextCursor(self.built.documents[place[0]])
        cursor.setPosition(place[1])
        return cursor

    def _span(self, start: Place, end: Place) -> Span:
        return Span(TextPosition(0, *start), TextPosition(0, *end))


def lines_of(text: str) -> list[str]:
    """The lines that say something, without markers: a part may have left out what it stands in."""
    lines = (_MARKER.sub("", line).strip() for line in _NOTE.sub(r"\1", text).split("\n"))
    return [line for line in lines if line]
