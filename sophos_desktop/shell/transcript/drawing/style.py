"""What an answer looks like: fonts, sizes and colours.

Invariant: every colour and length in a segment's document comes from one TranscriptTheme. Lengths are
device-independent pixels with the zoom already in them; colours are `#RRGGBB`.
"""

from dataclasses import dataclass, fields
from unicodedata import bidirectional

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat

from sophos_desktop.shell.theme.tokens import Tokens


@dataclass(frozen=True, slots=True)
class TranscriptTheme:
    """The colours are named as the tokens of the look, the lengths as its roles."""

    text: str
    text_2: str
    text_3: str
    accent: str
    border: str
    border_strong: str
    code_text: str
    code_comment: str
    code_keyword: str
    code_string: str
    code_number: str
    code_function: str
    code_type: str
    code_deleted: str
    code_inserted: str
    text_families: tuple[str, ...] = ("Inter", "Noto Sans", "DejaVu Sans")
    code_families: tuple[str, ...] = ("JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono")
    reading_size: int = 15
    reading_line: int = 24
    heading_1_size: int = 20
    heading_1_line: int = 28
    heading_2_size: int = 17
    heading_2_line: int = 24
    small_size: int = 13
    small_line: int = 20
    code_size: int = 12
    code_line: int = 18
    inline_code_size: int = 13
    code_air: int = 2  # the ground of code inside a sentence, before and behind it
    code_ground: int = 19
    table_size: int = 14
    table_line: int = 20
    table_head_size: int = 12
    table_head_line: int = 16
    gap: int = 8
    heading_gap: int = 16
    indent: int = 20
    quote_bar: int = 3
    quote_padding: int = 16
    # Qt sets the letters of a line of fixed height low. The bar is 28 high and 12 are below the code, so
    # both are taken as one pixel other; so is the text of a table's row, by two.
    code_bar: int = 27
    code_padding: int = 17  # the line is in it
    code_bottom: int = 13
    table_gap: int = 16
    table_row_top: int = 2
    table_row_bottom: int = 6
    table_head_padding: int = 6
    image_height: int = 46
    image_left: int = 47
    image_right: int = 120
    measure: int = 520
    pixel_ratio: float = 1.0

    def font(self, size: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """Running text, letter by letter: Inter would show `-->` as an arrow and `2x3` as a product."""
        font = QFont(list(self.text_families))
        font.setFeature(QFont.Tag("calt"), 0)
        font.setPixelSize(size)
        font.setWeight(weight)
        return font

    def table_font(self) -> QFont:
        """The rows of a table: figures of one width, since they stand in columns."""
        font = self.font(self.table_size)
        font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def code_font(self, size: int) -> QFont:
        """Monospaced, without ligatures: code is shown letter by letter."""
        font = QFont(list(self.code_families))
        font.setPixelSize(size)
        font.setStyleHint(QFont.StyleHint.Monospace)
        for feature in ("calt", "liga"):
            font.setFeature(QFont.Tag(feature), 0)
        return font

    def reading(self) -> QTextCharFormat:
        """The text of an answer."""
        return characters(self.font(self.reading_size), self.text)

    def heading(self, level: int) -> QTextCharFormat:
        """Level 1 to 6; from the third on they differ from text by weight alone."""
        size = {1: self.heading_1_size, 2: self.heading_2_size}.get(level, self.reading_size)
        font = self.font(size, QFont.Weight.DemiBold)
        if size >= self.heading_2_size:
            font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, -0.1)
        return characters(font, self.text)

    def heading_line(self, level: int) -> int:
        """The line height of a heading."""
        return {1: self.heading_1_line, 2: self.heading_2_line}.get(level, self.reading_line)

    def code(self, size: int | None = None) -> QTextCharFormat:
        """Code; `size` is that of blocks if not given."""
        return characters(self.code_font(size or self.code_size), self.code_text)

    @classmethod
    def of(cls, tokens: Tokens) -> "TranscriptTheme":
        """That of a theme at 100 %."""
        names = {field.name for field in fields(cls)} & tokens.colours.keys()
        return cls(**{name: getattr(tokens, name) for name in names})


def characters(font: QFont, colour: str) -> QTextCharFormat:
    """A format of a font and a colour."""
    made = QTextCharFormat()
    made.setFont(font)
    made.setForeground(QColor(colour))
    return made


def fixed_line(height: int) -> QTextBlockFormat:
    """A paragraph whose lines are all `height` high."""
    block = QTextBlockFormat()
    block.setLineHeight(height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return block


def growing_line(height: int) -> QTextBlockFormat:
    """A paragraph whose lines are at least `height` high: for what holds formulas."""
    block = QTextBlockFormat()
    block.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
    return block


def set_margins(block: QTextBlockFormat, text: str, inset: int, rest: int) -> None:
    """Give a paragraph the direction of its text, `inset` where lines begin and `rest` where they end.

    Qt mirrors the indent of a first line by itself, but not margins.
    """
    is_right = runs_to_left(text)
    block.setLayoutDirection(Qt.LayoutDirection.RightToLeft if is_right else Qt.LayoutDirection.LeftToRight)
    block.setLeftMargin(rest if is_right else inset)
    block.setRightMargin(inset if is_right else rest)


def runs_to_left(text: str) -> bool:
    """Whether the first letter that has a direction is of a script written from right to left."""
    for character in text:
        direction = bidirectional(character)
        if direction in ("R", "AL", "L"):
            return direction != "L"
    return False
