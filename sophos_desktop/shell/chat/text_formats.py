"""The character and block formats of the transcript, made from the tokens.

Invariant: every colour, size and line height in the transcript's document comes from here.
"""

from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTableFormat,
)

from sophos_desktop.shell.theme.fonts import code_font, text_font
from sophos_desktop.shell.theme.tokens import (
    CODE_LINE,
    CODE_SIZE,
    HEADING_SIZES,
    INTERFACE_SIZE,
    READING_LINE,
    READING_SIZE,
    SMALL_SIZE,
    Tokens,
)

_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


class TextFormats:
    """The formats of one theme."""

    def __init__(self, tokens: Tokens) -> None:
        """Cheap: made anew when the theme changes."""
        self.tokens = tokens

    def reading(self) -> QTextCharFormat:
        """Running text."""
        return self._characters(text_font(READING_SIZE), self.tokens.text)

    def heading(self, level: int) -> QTextCharFormat:
        """A heading of level 1 to 6."""
        size = HEADING_SIZES.get(level, READING_SIZE)
        return self._characters(text_font(size, QFont.Weight.DemiBold), self.tokens.text)

    def quiet(self) -> QTextCharFormat:
        """Thinking and the words of cards."""
        return self._characters(text_font(INTERFACE_SIZE), self.tokens.text_2)

    def small(self, colour: str | None = None) -> QTextCharFormat:
        """Meta lines; `colour` as `#RRGGBB`."""
        return self._characters(text_font(SMALL_SIZE), colour or self.tokens.text_3)

    def code(self, colour: str | None = None) -> QTextCharFormat:
        """Code blocks, arguments and results."""
        return self._characters(code_font(CODE_SIZE), colour or self.tokens.code_text)

    def inline_code(self) -> QTextCharFormat:
        """Code inside a sentence."""
        characters = self._characters(code_font(INTERFACE_SIZE), self.tokens.code_text)
        characters.setBackground(QBrush(QColor(self.tokens.inline)))
        return characters

    def link(self, base: QTextCharFormat, address: str) -> QTextCharFormat:
        """`base` as a link."""
        characters = QTextCharFormat(base)
        characters.setAnchor(True)
        characters.setAnchorHref(address)
        characters.setForeground(QBrush(QColor(self.tokens.accent)))
        characters.setFontUnderline(True)
        return characters

    @staticmethod
    def _characters(font: QFont, colour: str) -> QTextCharFormat:
        characters = QTextCharFormat()
        characters.setFont(font)
        characters.setForeground(QBrush(QColor(colour)))
        return characters

    @staticmethod
    def block(top: int = 0, left: int = 0, line: int = READING_LINE) -> QTextBlockFormat:
        """A paragraph; all lengths in pixels."""
        block = QTextBlockFormat()
        block.setTopMargin(top)
        block.setLeftMargin(left)
        if line:
            block.setLineHeight(line, _FIXED)
        return block

    @staticmethod
    def code_block() -> QTextBlockFormat:
        """A line of a code block."""
        block = QTextBlockFormat()
        block.setLineHeight(CODE_LINE, _FIXED)
        return block

    @staticmethod
    def spacer(height: int) -> QTextBlockFormat:
        """The empty block that Qt keeps beside each frame, `height` pixels high."""
        block = QTextBlockFormat()
        block.setLineHeight(height, _FIXED)
        return block

    @staticmethod
    def hair() -> QTextCharFormat:
        """Characters that do not stretch a spacer."""
        characters = QTextCharFormat()
        font = QFont()
        font.setPixelSize(1)
        characters.setFont(font)
        return characters

    def plain_frame(self) -> QTextFrameFormat:
        """The frame that holds one item."""
        frame = QTextFrameFormat()
        frame.setBorder(0)
        frame.setMargin(0)
        frame.setPadding(0)
        return frame

    def bubble_frame(self, left: int) -> QTextFrameFormat:
        """The user's message, `left` pixels from the column's left edge."""
        frame = self.plain_frame()
        frame.setLeftMargin(left)
        frame.setPadding(8)
        frame.setBackground(QBrush(QColor(self.tokens.bubble)))
        return frame

    def card_frame(self) -> QTextFrameFormat:
        """A tool call."""
        frame = self.plain_frame()
        frame.setBorder(1)
        frame.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        frame.setBorderBrush(QBrush(QColor(self.tokens.border_strong)))
        frame.setPadding(8)
        return frame

    def code_frame(self) -> QTextFrameFormat:
        """A code block."""
        frame = self.card_frame()
        frame.setBorderBrush(QBrush(QColor(self.tokens.border)))
        frame.setBackground(QBrush(QColor(self.tokens.sunken)))
        frame.setPadding(12)
        frame.setTopMargin(8)
        return frame

    def table(self) -> QTextTableFormat:
        """A table of an answer."""
        table = QTextTableFormat()
        table.setBorder(1)
        table.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        table.setBorderBrush(QBrush(QColor(self.tokens.border_strong)))
        table.setBorderCollapse(True)
        table.setCellPadding(6)
        table.setTopMargin(8)
        table.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        return table
