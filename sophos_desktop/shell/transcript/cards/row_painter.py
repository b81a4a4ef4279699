"""Paints rows of code, and finds the character under a point.

Invariant: a row is laid out when it is painted and thrown away again, so that a text of a million lines costs
what is seen of it. Code runs from left to right whatever is in it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout, QTextOption

from sophos_desktop.shell.transcript.cards.text_rows import TextRows
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code

Colours = Callable[[str], Iterable[tuple[int, int, str]]]
_TAB_COLUMNS: Final = 4


@dataclass(frozen=True, slots=True)
class Ground:
    """A part of the text with a ground of its own; colours are `#RRGGBB`, an empty one changes nothing."""

    start: int
    end: int
    colour: str
    text_colour: str = ""
    frame: str = ""


class RowPainter:
    """Belongs to a view of rows; GUI thread."""

    def __init__(self, font: QFont, line_height: int) -> None:
        """`line_height` in pixels."""
        self.font = font
        self.line_height = line_height
        metrics = QFontMetricsF(font)
        self.column_width = metrics.horizontalAdvance("0" * 64) / 64
        self._rise = (line_height - metrics.height()) / 2
        self._option = QTextOption()
        self._option.setWrapMode(QTextOption.WrapMode.NoWrap)
        self._option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self._option.setTabStopDistance(_TAB_COLUMNS * self.column_width)

    def columns_in(self, width: int) -> int:
        """How many characters fit into `width` pixels."""
        return int(width / self.column_width)

    def paint(
        self,
        painter: QPainter,
        rows: TextRows,
        numbers: range,
        at: QPointF,
        colour: str,
        colours: Colours | None,
        grounds: Sequence[Ground],
        token_colour: Callable[[str], str],
    ) -> None:
        """Paint the rows `numbers`, the first one's upper left corner at `at`. `colours` gives the coloured
        parts of a whole line, by names that `token_colour` knows."""
        painter.setPen(QColor(colour))
        line_start, parts = -1, tuple[tuple[int, int, str], ...]()
        for offset, number in enumerate(numbers):
            start, end = rows.row(number)
            if colours is not None and rows.line_start(number) != line_start:
                line_start = rows.line_start(number)
                line_end = rows.text.find("\n", end)
                parts = tuple(colours(rows.text[line_start : len(rows.text) if line_end < 0 else line_end]))
            formats = [
                _format(line_start + first, line_start + last, start, end, rows.text, token_colour(name), "")
                for first, last, name in parts
                if line_start + first < end and line_start + last > start
            ]
            formats += [
                _format(ground.start, ground.end, start, end, rows.text, ground.text_colour, ground.colour)
                for ground in grounds
                if ground.start < end and ground.end > start
            ]
            layout = self._layout(rows.text[start:end], formats)
            top = QPointF(at.x(), at.y() + offset * self.line_height)
            layout.draw(painter, QPointF(top.x(), top.y() + self._rise))
            for ground in grounds:
                if ground.frame and ground.start < end and ground.end > start:
                    self._frame(painter, layout, top, ground, rows, number)

    def position_in(self, rows: TextRows, number: int, x: float) -> int:
        """The place in the text nearest to `x` pixels from the left of a row."""
        start, end = rows.row(number)
        text = rows.text[start:end]
        layout = self._layout(text, [])
        unit = layout.lineAt(0).xToCursor(x) if layout.lineCount() else 0
        if text.isascii():
            return start + min(unit, len(text))
        units = text.encode("utf-16-le", "surrogatepass")[: 2 * unit]
        return start + len(units.decode("utf-16-le", "ignore"))

    def x_of(self, rows: TextRows, number: int, position: int) -> float:
        """How far from the left of its row a place is."""
        start, end = rows.row(number)
        layout = self._layout(rows.text[start:end], [])
        return _x(layout, _units(rows.text[start : min(end, position)]))

    def _layout(self, text: str, formats: list[QTextLayout.FormatRange]) -> QTextLayout:
        layout = QTextLayout(drawable_code(text), self.font)
        layout.setTextOption(self._option)
        layout.setCacheEnabled(True)
        if formats:
            layout.setFormats(formats)
        layout.beginLayout()
        line = layout.createLine()
        if line.isValid():
            line.setPosition(QPointF(0, 0))
        layout.endLayout()
        return layout

    def _frame(
        self,
        painter: QPainter,
        layout: QTextLayout,
        top: QPointF,
        ground: Ground,
        rows: TextRows,
        number: int,
    ) -> None:
        start, end = rows.row(number)
        first = _x(layout, _units(rows.text[start : max(start, ground.start)]))
        last = _x(layout, _units(rows.text[start : min(end, ground.end)]))
        painter.save()
        painter.setPen(QColor(ground.frame))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        box = QRectF(top.x() + first, top.y(), last - first, self.line_height)
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.restore()


def _x(layout: QTextLayout, unit: int) -> float:
    if not layout.lineCount():
        return 0.0
    answer: object = layout.lineAt(0).cursorToX(unit)
    # PySide gives the position together with the cursor.
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]


def _units(text: str) -> int:
    """The length as Qt counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _format(
    first: int, last: int, start: int, end: int, text: str, colour: str, ground: str
) -> QTextLayout.FormatRange:
    """A format from `first` to `last` of the text, within the row from `start` to `end`."""
    made = QTextLayout.FormatRange()
    made.start = _units(text[start : max(start, first)])
    made.length = _units(text[max(start, first) : min(end, last)])
    characters = QTextCharFormat()
    if colour:
        characters.setForeground(QColor(colour))
    if ground:
        characters.setBackground(QColor(ground))
    made.format = characters
    return made
