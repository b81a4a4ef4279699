"""Places in a conversation.

Invariant: plain data; places of one conversation are ordered as they are read. No Qt.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class TextPosition:
    """`message`: index in the model; `segment`: index in `TranscriptModel.segments(message)`; `character`:
    position in the segment's QTextDocument (UTF-16 units). Only answers and the user's messages have one."""

    message: int
    segment: int
    character: int


@dataclass(frozen=True, slots=True)
class Highlight:
    """Text with a ground of its own: selected or found. `colour` and `frame` are names of tokens' colours as
    `#RRGGBB`; an empty `frame` draws none."""

    start: TextPosition
    end: TextPosition
    colour: str
    frame: str = ""
