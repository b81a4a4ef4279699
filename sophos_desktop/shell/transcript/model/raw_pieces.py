"""Cuts a huge answer that nobody has read yet, so that all of it can be looked at meanwhile.

Invariant: the pieces in a row are the text, and making them costs a millisecond per million characters; a
piece says nothing about Markdown. No Qt.
"""

from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind

_LIMIT = 3_000  # characters of a piece
_MOST_LINES = 120  # in so many characters; a piece of shorter lines is cut sooner
_DENSE_LIMIT = 300


def raw_pieces(text: str) -> tuple[Segment, ...]:
    """The whole of `text`, cut at ends of lines, else at blanks, else anywhere but within a character."""
    pieces: list[Segment] = []
    start = 0
    while start < len(text):
        end = _end(text, start)
        pieces.append(
            Segment(
                index=len(pieces),
                start=start,
                end=end,
                kind=SegmentKind.TEXT,
                closed=True,
                text=text[start:end],
                continues=start > 0,
                goes_on=end < len(text),
            )
        )
        start = end
    return tuple(pieces)


def _end(text: str, start: int) -> int:
    limit = start + _LIMIT
    if text.count("\n", start, limit) > _MOST_LINES:
        limit = start + _DENSE_LIMIT
    if limit >= len(text):
        return len(text)
    line_end = text.rfind("\n", start, limit)
    if line_end >= 0:
        return line_end + 1
    blank = text.rfind(" ", start + 1, limit)
    end = blank + 1 if blank > 0 else limit
    # Both halves of a character stay together.
    return end + 1 if "\ud800" <= text[end - 1] <= "\udbff" and end < len(text) else end
