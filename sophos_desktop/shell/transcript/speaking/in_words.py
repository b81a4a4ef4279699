"""Turns what a caret cannot be heard in into words: drawn formulas and the cells of tables.

Invariant: nothing but formulas and tables changes; a cursor that stands elsewhere stays at its text.
"""

from collections.abc import Iterable, Iterator

from PySide6.QtGui import (
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrame,
    QTextTable,
)

from sophos_desktop.shell.transcript.drawing.built import Formula

BETWEEN_CELLS = "; "


def write_formulas(document: QTextDocument, start: int, formulas: Iterable[Formula]) -> None:
    """Write the words of formulas in their places; `start`: where their segment begins in `document`."""
    for formula in sorted(formulas, key=lambda one: one.start, reverse=True):
        if formula.is_drawn:
            cursor = QTextCursor(document)
            cursor.setPosition(start + formula.start)
            cursor.setPosition(start + formula.end, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(formula.spoken or formula.tex, QTextCharFormat())


def write_tables(document: QTextDocument) -> None:
    """Write each table as lines, a row each."""
    for table in sorted(tables_of(document.rootFrame()), key=lambda one: one.firstPosition(), reverse=True):
        rows = [
            BETWEEN_CELLS.join(_cell_text(table, row, column) for column in range(table.columns()))
            for row in range(table.rows())
        ]
        cursor = QTextCursor(document)
        cursor.setPosition(max(0, table.firstPosition() - 1))
        cursor.setPosition(table.lastPosition() + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if not cursor.atBlockStart():
            cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
        cursor.insertText("\n".join(rows), QTextCharFormat())


def tables_of(frame: QTextFrame) -> Iterator[QTextTable]:
    """The tables in a frame; none of ours holds another."""
    for child in frame.childFrames():
        if isinstance(child, QTextTable):
            yield child
        else:
            yield from tables_of(child)


def _cell_text(table: QTextTable, row: int, column: int) -> str:
    cell = table.cellAt(row, column)
    cursor = cell.firstCursorPosition()
    cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    return " ".join(cursor.selection().toPlainText().split())
