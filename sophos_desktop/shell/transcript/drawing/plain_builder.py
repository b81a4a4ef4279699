"""Writes text that is no Markdown into a small document: the user's messages, and what is not read yet.

Invariant: a line of the text is a paragraph; nothing in it is markup.
"""

from math import ceil

from PySide6.QtGui import QTextCursor, QTextDocument

from sophos_desktop.shell.transcript.drawing.built import BuiltSegment
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme, fixed_line, set_margins
from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.text.drawable_text import drawable


def build_plain(
    document: QTextDocument, segment: Segment, style: TranscriptTheme, width: int, right_margin: int = 0
) -> BuiltSegment:
    """Fill `document`, for lines of at most `width` pixels."""
    document.clear()
    text = style.reading()
    cursor = QTextCursor(document)
    source = drawable(segment.text.replace("\r\n", "\n").replace("\r", "\n"))
    for number, line in enumerate(source.removesuffix("\n").split("\n") if source else [""]):
        block = fixed_line(style.reading_line)
        set_margins(block, line, 0, right_margin)
        if number:
            cursor.insertBlock(block, text)
        else:
            cursor.setBlockFormat(block)
            cursor.setBlockCharFormat(text)
        cursor.insertText(line, text)
    document.setTextWidth(width)
    return BuiltSegment(0, 0, 0, width, is_empty=not segment.text)


def shrink_to_fit(document: QTextDocument, widest: int) -> int:
    """Make the lines no wider than the text needs, `widest` at most; gives the width."""
    width = min(widest, ceil(document.idealWidth()))
    document.setTextWidth(width)
    return width
