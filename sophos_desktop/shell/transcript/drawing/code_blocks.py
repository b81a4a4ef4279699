"""Writes code into a document and colours it bit by bit.

Invariant: code is drawn from left to right, a line never wraps in a segment of code, and between two steps
of colouring lie a few lines, whatever the code is.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextDocument,
    QTextLayout,
)

from sophos_desktop.shell.transcript.drawing.built import CodeBox
from sophos_desktop.shell.transcript.drawing.canvas import Canvas
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme, fixed_line
from sophos_desktop.shell.transcript.markdown.segments import Segment
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

_TOKENS_PER_STEP = 40
_LONGEST_COLOURED_LINE = 2_000
_LONGEST_COLOURED_CODE = 20_000


def code_line_format(style: TranscriptTheme, left: int, *, top: int, wraps: bool) -> QTextBlockFormat:
    """A line of code; `left` and `top` in pixels."""
    block = fixed_line(style.code_line)
    block.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    block.setLeftMargin(left + style.code_padding)
    block.setRightMargin(style.code_padding)
    block.setNonBreakableLines(not wraps)
    block.setTopMargin(top)
    return block


def write_code_segment(canvas: Canvas, segment: Segment) -> None:
    """All of a segment of code that stands in no list or quote."""
    style = canvas.style
    box = CodeBox(0, 0, 0, segment.language, segment.code, not segment.continues, not segment.goes_on)
    write_code(canvas, box, wraps=False)
    canvas.natural_width = max(canvas.natural_width, code_width(segment.code, style, 0))


def code_width(code: str, style: TranscriptTheme, left: int) -> int:
    """Pixels of the column that its longest line needs, with what is before and behind it."""
    longest = max(code.expandtabs(8).split("\n"), key=len)
    advance = QFontMetricsF(style.code_font(style.code_size)).horizontalAdvance(drawable_code(longest))
    return int(advance) + 1 + left + 2 * style.code_padding


def write_code(canvas: Canvas, box: CodeBox, *, wraps: bool, begun: int = 0) -> None:
    """Add code in its box; a line that is too wide sticks out unless it `wraps`. `begun`: how much of the
    room for the bar is above the first line already."""
    style = canvas.style
    text = style.code()
    if begun:
        top = canvas.take_gap(0) + style.code_bar + 1 - begun
    else:
        top = canvas.take_gap(style.gap, style.code_bar + 1) if box.is_first else canvas.take_gap(0)
    first = canvas.next_block
    for number, line in enumerate(drawable_code(box.source).split("\n")):
        block = code_line_format(style, box.left, top=0 if number else top, wraps=wraps)
        canvas.begin_block(block, text)
        canvas.insert(line, text)
    name = language_name(box.language)
    canvas.code_boxes.append(
        replace(box, first_block=first, last_block=canvas.cursor.blockNumber(), language=name)
    )
    canvas.keep_below(style.code_bottom + 1 if box.is_last else 0)


@lru_cache(maxsize=128)  # asked at each drawing of a block, and looked for among hundreds
def language_name(word: str) -> str:
    """What to call a language: "Python" for `py`; the word itself if nobody knows it."""
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        return str(find_lexer_class_by_name(word.lower()).name) if word else ""
    except ClassNotFound:
        return word[:40]


def _lexer(word: str) -> "Lexer | None":
    # Imported with the first code: pygments takes 30 ms.
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(word.lower(), stripnl=False, ensurenl=False) if word else None
    except ClassNotFound:
        return None


class CodeHighlighter:
    """Colours the code of documents; holds no document."""

    def __init__(self, style: TranscriptTheme) -> None:
        """Cheap: made anew when the theme changes."""
        self._style = style
        self._formats: dict[object, QTextCharFormat | None] = {}

    def steps(
        self, document: QTextDocument, language: str, first_block: int = 0, last_block: int | None = None
    ) -> Iterator[None]:
        """Colour the lines from `first_block` to `last_block`; each step takes well below a millisecond.

        Nothing happens for a language that is unknown, or code that is too long.
        """
        lexer = _lexer(language)
        first = document.findBlockByNumber(first_block)
        lines = []
        block = first
        while block.isValid() and (last_block is None or block.blockNumber() <= last_block):
            lines.append(block.text())
            block = block.next()
        code = "\n".join(lines)
        if lexer is None or len(code) > _LONGEST_COLOURED_CODE:
            return
        if max((len(line) for line in lines), default=0) > _LONGEST_COLOURED_LINE:
            return
        yield from self._colour(document, lexer, code, first_block)

    def _colour(self, document: QTextDocument, lexer: "Lexer", code: str, number: int) -> Iterator[None]:
        ranges: list[QTextLayout.FormatRange] = []
        column = 0
        for count, (kind, text) in enumerate(lexer.get_tokens(code + "\n"), 1):
            for index, part in enumerate(text.split("\n")):
                if index:
                    _apply(document, number, ranges)
                    ranges, column, number = [], 0, number + 1
                width = _utf_16_length(part)
                colour = self._format(kind) if part.strip() else None
                if colour is not None:
                    ranges.append(_range(column, width, colour))
                column += width
            if count % _TOKENS_PER_STEP == 0:
                yield
        _apply(document, number, ranges)
        yield

    def _format(self, kind: "_TokenType") -> QTextCharFormat | None:
        if kind not in self._formats:
            self._formats[kind] = self._make_format(kind)
        return self._formats[kind]

    def _make_format(self, kind: "_TokenType") -> QTextCharFormat | None:
        from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String

        style = self._style
        roles = (
            ((Comment.Preproc, Keyword, Operator.Word), style.code_keyword),
            ((Comment,), style.code_comment),
            ((String,), style.code_string),
            ((Number,), style.code_number),
            ((Name.Class, Name.Tag, Name.Attribute, Name.Exception, Name.Namespace), style.code_type),
            ((Name.Function, Name.Builtin, Name.Decorator), style.code_function),
            ((Generic.Deleted,), style.code_deleted),
            ((Generic.Inserted,), style.code_inserted),
            ((Generic.Heading, Generic.Subheading), style.code_type),
        )
        for kinds, colour in roles:
            # A kind is "in" the kinds above it; the types say it is a tuple of words.
            if any(kind in one for one in kinds):  # type: ignore[comparison-overlap]
                made = QTextCharFormat()
                made.setForeground(QColor(colour))
                made.setFontItalic(colour == style.code_comment)
                return made
        return None


def _range(start: int, length: int, characters: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start = start
    made.length = length
    made.format = characters
    return made


def _utf_16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _apply(document: QTextDocument, number: int, ranges: list[QTextLayout.FormatRange]) -> None:
    block = document.findBlockByNumber(number)
    if not ranges or not block.isValid():
        return
    block.layout().setFormats(ranges)
    # setFormats throws the block's lines away; they come back with the next layout.
    document.markContentsDirty(block.position(), block.length())
