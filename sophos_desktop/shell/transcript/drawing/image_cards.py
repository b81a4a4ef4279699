"""Writes the places of images that are not loaded: cards between the words, or words within a sentence.

Invariant: what is written is text. The frame of a card is as high as its lines need, and always the same for
the same image and width.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)

from sophos_desktop.shell.transcript.drawing.built import BlockedImage
from sophos_desktop.shell.transcript.drawing.canvas import Canvas
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme, characters, fixed_line
from sophos_desktop.shell.transcript.markdown.image_words import shown_address

if TYPE_CHECKING:
    from markdown_it.token import Token

INLINE_BEGINNING = "[image not loaded: "
INLINE_COPY = "copy address"
_AROUND = 16  # pixels above and below the lines, where the words are as large as they are at 100 %
_SMALL_SIZE = 13
_BASELINE = 0.8  # of the height of a fixed line, where Qt puts the baseline
_BEFORE_COPY = " · "
_LINE_SEPARATOR = "\u2028"
_WORDS = "Image: "
_FROM = "Not loaded: "
_NOT_LOADED = "Image not loaded: "


def frame_height(style: TranscriptTheme, lines: int) -> int:
    """Of the frame around so many lines."""
    around = _AROUND * style.small_size // _SMALL_SIZE
    return max(style.image_height, lines * style.small_line + around)


def room_above_lines(style: TranscriptTheme, lines: int) -> int:
    """How far the first line is below the top of the frame, so that the capitals are in its middle."""
    between = (lines - 1) * style.small_line
    capitals = QFontMetricsF(style.font(style.small_size)).capHeight()
    middle = (frame_height(style, lines) - between) / 2
    return max(0, round(middle - style.small_line * _BASELINE + capitals / 2))


def inline_words(words: str, address: str) -> str:
    """What an image is within a sentence."""
    return f"{INLINE_BEGINNING}{words or _in_brackets(address)}]"


def begins_with_card(inline: "Token") -> bool:
    """Whether the first thing that a paragraph shows is an image that is no link."""
    shown = (token for token in inline.children or () if token.type != "text" or token.content.strip())
    first = next(shown, None)
    return first is not None and first.type == "image"


def write_words(
    canvas: Canvas, address: str, words: str, text: QTextCharFormat, base: QTextCharFormat
) -> None:
    """An image within a sentence, in the format `text`. In a link, whose click leads elsewhere, it says where
    its own address is copied, in the format `base`."""
    start = canvas.position
    quiet = QTextCharFormat(text)
    quiet.setForeground(QColor(canvas.style.text_2))
    if not text.isAnchor():
        canvas.insert(inline_words(words, address), quiet)
    else:
        canvas.insert(f"{INLINE_BEGINNING}{words or _in_brackets(address)}", text)
        quiet = QTextCharFormat(base)
        quiet.setForeground(QColor(canvas.style.text_2))
        canvas.insert(_BEFORE_COPY, quiet)
        button = QTextCharFormat(quiet)
        button.setFontUnderline(True)
        canvas.insert(INLINE_COPY, button)
        canvas.insert("]", quiet)
    _note(canvas, start, address, words, is_card=False)


def write_card(
    canvas: Canvas,
    address: str,
    words: str,
    left: int,
    mark: Callable[[QTextBlockFormat], Callable[[], None]] | None = None,
) -> None:
    """A card `left` pixels from the left, with the words of the image above where it would come from.

    `mark` makes room in the format for the marks of a list that stand before it, and gives what writes them.
    """
    style = canvas.style
    address_font, words_font = style.code_font(style.code_size), style.font(style.small_size)
    width = canvas.width - left - style.image_left - style.image_right
    lines = 1 + (_line_count(f"{_WORDS}{words}", words_font, width) if words else 0)
    height, room = frame_height(style, lines), room_above_lines(style, lines)
    block = fixed_line(style.small_line)
    block.setTopMargin(canvas.take_gap(style.gap, room))
    block.setLeftMargin(left + style.image_left)
    block.setRightMargin(style.image_right)
    block.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    quiet = characters(words_font, style.text_2)
    write_mark = mark(block) if mark is not None else None
    canvas.begin_block(block, quiet)
    if write_mark is not None:
        write_mark()
    start = canvas.position
    beginning = _FROM if words else _NOT_LOADED
    if words:
        canvas.insert(f"{_WORDS}{words}{_LINE_SEPARATOR}", quiet)
    canvas.insert(beginning, quiet)
    rest = width - QFontMetricsF(words_font).horizontalAdvance(beginning) - 1
    middle = Qt.TextElideMode.ElideMiddle
    shown = QFontMetricsF(address_font).elidedText(shown_address(address), middle, max(0.0, rest))
    canvas.insert(shown.replace(" ", "\u00a0"), characters(address_font, style.text_2))
    _note(canvas, start, address, words, is_card=True)
    canvas.keep_below(height - lines * style.small_line - room)


def _in_brackets(address: str) -> str:
    return shown_address(address).replace("]", "%5D")


def _note(canvas: Canvas, start: int, address: str, words: str, *, is_card: bool) -> None:
    block = canvas.cursor.blockNumber()
    canvas.blocked_images.append(BlockedImage(start, canvas.position, block, address, words, is_card))


def _line_count(text: str, font: QFont, width: int) -> int:
    """How many lines a text takes as Qt breaks it in a document."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(1, width))
    layout.endLayout()
    return max(1, layout.lineCount())
