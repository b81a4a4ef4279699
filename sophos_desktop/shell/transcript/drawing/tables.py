"""Writes tables: lines between rows, no frame, figures where the alignment says.

Invariant: the widths of the columns follow from the first piece of a table alone, so that its later pieces
stand exactly below it, whenever they are built.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextFrameFormat,
    QTextLength,
    QTextTableCellFormat,
    QTextTableFormat,
)

from sophos_desktop.shell.transcript.drawing.canvas import Canvas
from sophos_desktop.shell.transcript.drawing.image_cards import inline_words
from sophos_desktop.shell.transcript.drawing.inline_writer import InlineWriter, line_for
from sophos_desktop.shell.transcript.drawing.style import (
    TranscriptTheme,
    characters,
)
from sophos_desktop.shell.transcript.markdown.image_words import image_words

if TYPE_CHECKING:
    from markdown_it.token import Token

MOST_COLUMNS = 40
_NARROWEST = 72  # pixels, at 14 px of type: about ten letters
_WIDEST_WORD = 180
_TABLE_SIZE = 14
_MEASURED = 400  # characters of one piece of text in a cell
_ALIGNMENTS = {
    "text-align:right": Qt.AlignmentFlag.AlignRight,
    "text-align:center": Qt.AlignmentFlag.AlignHCenter,
    "text-align:left": Qt.AlignmentFlag.AlignLeft,
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell; no alignment means: where the text's direction begins."""

    inline: "Token"
    alignment: Qt.AlignmentFlag | None


def rows_of(tokens: "Sequence[Token]") -> list[list[Cell]]:
    """The rows of the first table in `tokens`, head first."""
    rows: list[list[Cell]] = []
    alignment: Qt.AlignmentFlag | None = None
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            alignment = _ALIGNMENTS.get(str(token.attrs.get("style", "")))
        elif token.type == "inline" and rows:
            rows[-1].append(Cell(token, alignment))
        elif token.type == "table_close":
            break
    return rows


def column_widths(rows: Sequence[Sequence[Cell]], style: TranscriptTheme, available: int) -> list[int]:
    """Widths in pixels, gaps included; their sum is `available`, or more if they would be too narrow: no word
    is broken but one that is longer than a sentence's words are."""
    columns = max((len(row) for row in rows), default=0)
    wanted, words = [0] * columns, [0] * columns
    measures = (_Measure(style, is_head=True), _Measure(style, is_head=False))
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            needed, longest = measures[min(number, 1)].of(cell.inline)
            wanted[column] = max(wanted[column], ceil(needed) + style.table_gap)
            words[column] = max(words[column], ceil(longest) + style.table_gap)
    scale = style.table_font().pixelSize() / _TABLE_SIZE
    words = [min(word, round(_WIDEST_WORD * scale)) for word in words]
    least = [min(one, max(round(_NARROWEST * scale), word)) for one, word in zip(wanted, words, strict=True)]
    return _fitted(wanted, least, available)


class _Measure:
    """Measures cells in the fonts that they are written in."""

    def __init__(self, style: TranscriptTheme, *, is_head: bool) -> None:
        self._style = style
        self._is_head = is_head
        self._metrics: dict[tuple[bool, bool, bool], QFontMetricsF] = {}

    def of(self, inline: "Token") -> tuple[float, float]:
        """How wide all of it is in one line, and its longest word."""
        line = longest = word = 0.0
        bold = italic = keys = 0
        for child in inline.children or ():
            if child.type in ("strong_open", "strong_close"):
                bold += child.nesting
            elif child.type in ("em_open", "em_close"):
                italic += child.nesting
            elif child.type in ("key_open", "key_close"):
                keys += child.nesting
            is_code = child.type == "code_inline" or keys > 0
            metrics = self._font(is_bold=bold > 0, is_italic=italic > 0, is_code=is_code)
            text = _text_of(child)[:_MEASURED]
            if not text:
                continue
            line += metrics.horizontalAdvance(text)
            for number, part in enumerate(text.split(" ")):
                word = metrics.horizontalAdvance(part) + (0 if number else word)
                longest = max(longest, word)
        return line, longest

    def _font(self, *, is_bold: bool, is_italic: bool, is_code: bool) -> QFontMetricsF:
        key = (is_bold, is_italic, is_code)
        if key not in self._metrics:
            style = self._style
            if is_code:
                font = style.code_font(style.inline_code_size)
            elif self._is_head:
                font = style.font(style.table_head_size)
            else:
                font = style.table_font()
            if self._is_head or is_bold:
                font.setWeight(QFont.Weight.DemiBold)
            font.setItalic(is_italic)
            self._metrics[key] = QFontMetricsF(font)
        return self._metrics[key]


def _text_of(token: "Token") -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "image":
        return inline_words(image_words(token), str(token.attrs.get("src", "")))
    return token.content


def _fitted(wanted: list[int], least: list[int], available: int) -> list[int]:
    if sum(wanted) <= available:
        spare, total = available - sum(wanted), max(1, sum(wanted))
        fitted = [width + spare * width // total for width in wanted]
    else:
        fitted = _shared(least, wanted, available)
    if fitted:
        fitted[-1] += max(0, available - sum(fitted))
    return fitted


def _shared(widths: list[int], wanted: list[int], available: int) -> list[int]:
    """Columns that need little more get it; the others share what is left."""
    fitted = list(widths)
    left = available - sum(widths)
    order = sorted(range(len(wanted)), key=lambda column: wanted[column])
    for place, column in enumerate(order):
        share = max(0, left) // (len(order) - place)
        more = min(share, wanted[column] - widths[column])
        fitted[column] += more
        left -= more
    return fitted


class TableWriter:
    """Writes into one canvas."""

    def __init__(self, canvas: Canvas, inline: InlineWriter) -> None:
        """Cheap."""
        self._canvas = canvas
        self._inline = inline
        style = canvas.style
        self._text = characters(style.table_font(), style.text)
        head_font = style.font(style.table_head_size, QFont.Weight.DemiBold)
        self._head_text = characters(head_font, style.text_2)

    def write(
        self, rows: Sequence[Sequence[Cell]], widths: Sequence[int], left: int, *, has_head: bool
    ) -> None:
        """Add a table; `rows` must not be empty."""
        canvas = self._canvas
        made = QTextTableFormat()
        made.setBorder(0)
        made.setCellPadding(0)
        made.setCellSpacing(0)
        made.setTopMargin(canvas.take_gap(canvas.style.gap if has_head else 0))
        made.setLeftMargin(left)
        made.setWidth(QTextLength(QTextLength.Type.FixedLength, sum(widths)))
        fixed = QTextLength.Type.FixedLength
        made.setColumnWidthConstraints([QTextLength(fixed, width) for width in widths])
        canvas.natural_width = max(canvas.natural_width, left + sum(widths))
        table = canvas.insert_table(len(rows), len(widths), made)
        outer = canvas.cursor
        frames = {
            (is_last, is_head): self._cell_format(is_last=is_last, is_head=is_head)
            for is_last in (False, True)
            for is_head in (False, True)
        }
        for row_number, row in enumerate(rows):
            is_head = has_head and row_number == 0
            for column in range(len(widths)):
                if column < len(row):
                    canvas.cursor = table.cellAt(row_number, column).firstCursorPosition()
                    self._write_cell(row[column], is_head=is_head)
                # Last: the format of a cell's first block would replace it.
                table.cellAt(row_number, column).setFormat(frames[column == len(widths) - 1, is_head])
        canvas.cursor = outer
        canvas.leave_table(table)

    def _cell_format(self, *, is_last: bool, is_head: bool) -> QTextTableCellFormat:
        style = self._canvas.style
        made = QTextTableCellFormat()
        made.setTopPadding(style.table_head_padding if is_head else style.table_row_top)
        made.setBottomPadding(style.table_head_padding if is_head else style.table_row_bottom)
        made.setRightPadding(0 if is_last else style.table_gap)
        made.setBottomBorder(1)
        made.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        made.setBottomBorderBrush(QColor(style.border_strong if is_head else style.border))
        return made

    def _write_cell(self, cell: Cell, *, is_head: bool) -> None:
        style = self._canvas.style
        line = style.table_head_line if is_head else style.table_line
        text = self._head_text if is_head else self._text
        block = line_for(self._canvas, cell.inline, text, line)
        if cell.alignment is not None:
            block.setAlignment(cell.alignment | Qt.AlignmentFlag.AlignAbsolute)
        self._canvas.note_line(block)
        self._canvas.cursor.setBlockFormat(block)
        self._inline.write(cell.inline, text, is_cell=True)
