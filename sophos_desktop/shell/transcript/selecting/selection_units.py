"""What a drag selects at least: characters, words or paragraphs.

Invariant: pure; a word is what words_at says, in Qt's units.
"""

from enum import Enum

from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.copying.clipboard import Span
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.selecting.kept_ends import in_units
from sophos_desktop.shell.transcript.text.words_at import word_around


class Unit(Enum):
    """What a drag selects at least."""

    CHARACTER = 1
    WORD = 2
    BLOCK = 3


def around(document: QTextDocument, position: TextPosition, unit: Unit) -> Span:
    """The word or the paragraph at a place; `document` is that of its segment."""
    block = document.findBlock(position.character)
    start = block.position()
    if unit is Unit.BLOCK:
        first, last = start, start + max(0, block.length() - 1)
    else:
        # Characters outside the first plane count twice in Qt: as halves, each of them a letter.
        inner = word_around(in_units(block.text()), position.character - start)
        first, last = start + inner[0], start + inner[1]
    return Span(
        TextPosition(position.message, position.segment, first),
        TextPosition(position.message, position.segment, last),
    )
