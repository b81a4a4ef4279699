"""Turns what a segment's document shows into plain text for the clipboard and for screen readers.

Invariant: cells of a table are joined by tabs, a formula is its source, and blocks that exist for Qt's sake
leave no trace.
"""

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from sophos_desktop.shell.transcript.drawing.built import SOURCE_PROPERTY, SPACER_PROPERTY
from sophos_desktop.shell.transcript.text.drawable_text import as_written

_OBJECT = "\ufffc"


def plain_text(
    document: QTextDocument, start: int = 0, end: int | None = None, *, has_gaps: bool = False
) -> str:
    """The text from position `start` to before `end` (the end if not given), without a last line end.
    `has_gaps`: an empty line stands where there is room between two blocks."""
    last = document.characterCount() if end is None else end
    parts: list[str] = []
    row_before: tuple[int, int] | None = None
    is_first = True
    block = document.findBlock(start)
    while block.isValid() and block.position() < max(last, start + 1):
        if not block.blockFormat().hasProperty(SPACER_PROPERTY):
            row = _row_of(block)
            if not is_first:
                parts.append("\t" if row is not None and row == row_before else "\n")
                if has_gaps and parts[-2] and block.blockFormat().topMargin() > 0:
                    parts.append("\n")
            parts.append(_block_text(block, start, last))
            row_before, is_first = row, False
        block = block.next()
    return as_written("".join(parts).replace("\u2028", "\n"))


def _row_of(block: QTextBlock) -> tuple[int, int] | None:
    cursor = QTextCursor(block)
    table = cursor.currentTable()
    if table is None:
        return None  # type: ignore[unreachable]  # PySide's stubs leave it out
    return table.firstPosition(), table.cellAt(cursor).row()


def _block_text(block: QTextBlock, start: int, end: int) -> str:
    parts = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        first = max(start, fragment.position())
        last = min(end, fragment.position() + fragment.length())
        if first < last:
            units = fragment.text().encode("utf-16-le", "surrogatepass")
            offset = fragment.position()
            part = units[(first - offset) * 2 : (last - offset) * 2].decode("utf-16-le", "replace")
            source = fragment.charFormat().property(SOURCE_PROPERTY)
            parts.append(part.replace(_OBJECT, str(source)) if source else part)
        iterator += 1
    return "".join(parts)
