"""The document that is being written, and the notes taken for the view meanwhile.

Invariant: the first block has no gap above it and the last none below (Qt would not draw them): the view
keeps the distance between segments and the room for boxes.
"""

from dataclasses import dataclass
from unicodedata import bidirectional

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextTable,
    QTextTableFormat,
)

from sophos_desktop.shell.transcript.drawing.built import (
    LINE_PROPERTY,
    SPACER_PROPERTY,
    BlockedImage,
    BuiltSegment,
    CodeBox,
    Formula,
    Link,
    QuoteBar,
    Run,
    TaskBox,
)
from sophos_desktop.shell.transcript.drawing.math_images import MathImage, MathImages
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme, characters, fixed_line


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: pixels from the left, quotes around it."""

    left: int = 0
    quotes: int = 0


class Canvas:
    """Used for one segment and thrown away."""

    def __init__(self, document: QTextDocument, style: TranscriptTheme, width: int, math: MathImages) -> None:
        """Empties the document."""
        document.clear()
        self.document = document
        self.style = style
        self.width = width
        self.math = math
        self.cursor = QTextCursor(document)
        self.links: list[Link] = []
        self.code_boxes: list[CodeBox] = []
        self.quote_bars: list[QuoteBar] = []
        self.blocked_images: list[BlockedImage] = []
        self.inline_code: list[Run] = []
        self.task_boxes: list[TaskBox] = []
        self.formulas: list[Formula] = []
        self.rules: list[int] = []
        self.natural_width = 0
        self.source_line: int | None = None
        self._has_table = False
        self._first_gap: int | None = None
        self._is_fresh = True  # the cursor's block is not used yet
        self._room_above = 0
        self._room_below = 0
        self._images = 0
        self._rooms: dict[int, int] = {}
        self._below_table = 0  # the last row below its letters
        self._overflow = self._next_overflow = 0
        self.goes_on = False
        """The gap above the first block belongs to what stands around it."""

    @property
    def position(self) -> int:
        """Where the next character will stand."""
        return self.cursor.position()

    @property
    def next_block(self) -> int:
        """The number that the next block will have."""
        return self.cursor.blockNumber() + (0 if self._is_fresh else 1)

    @property
    def right_margin(self) -> int:
        """Running text is narrower than the column."""
        return max(0, self.width - self.style.measure)

    def take_gap(self, gap: int, room: int = 0) -> int:
        """The margin above the next block, which is to be `gap` below the last, with `room` for its box.

        Qt draws no margin above the first block of a document: the view keeps that distance.
        """
        room_below, self._room_below = self._room_below, 0
        self._rooms[self.next_block] = room
        if self._first_gap is None and self.goes_on:
            self._first_gap = 0
            self._room_above = gap + room
            return 0
        if self._first_gap is None:
            self._first_gap = gap
            self._room_above = room
            return 0
        return gap + room + room_below

    def reach_above(self, block: int, *, is_begun_before: bool) -> int:
        """How far the box of a block reaches above it, or what it goes on with."""
        return self._room_above if is_begun_before else self._rooms.get(block, 0)

    @property
    def reach_below(self) -> int:
        """How far the box of the last block reaches below it."""
        return max(self._room_below, self._below_table)

    def keep_below(self, room: int) -> None:
        """Keep `room` pixels free below the block that was just written."""
        self._room_below = room

    def let_overflow(self, pixels: int) -> None:
        """What stands in the block that is begun next may reach so far below its lines."""
        self._next_overflow = pixels

    def begin_block(self, block: QTextBlockFormat, text: QTextCharFormat) -> None:
        """Begin a block at the end."""
        self.note_line(block)
        self._below_table = 0
        self._overflow, self._next_overflow = self._next_overflow, 0
        if self._is_fresh:
            self.cursor.setBlockFormat(block)
            self.cursor.setBlockCharFormat(text)
            self.cursor.setCharFormat(text)
            self._is_fresh = False
        else:
            self.cursor.insertBlock(block, text)

    def note_line(self, block: QTextBlockFormat) -> None:
        """Let the first block of a top-level block know where in the source that begins."""
        if self.source_line is not None:
            block.setProperty(LINE_PROPERTY, self.source_line)
            self.source_line = None

    def insert(self, text: str, characters: QTextCharFormat) -> None:
        """Add text to the block."""
        self.cursor.insertText(text, characters)

    def space_last(self, pixels: int) -> None:
        """Leave air behind the last character of the block: nothing that is selected or counted."""
        before = self.cursor.block().text()[-1:]
        if not before or before == "\ufffc" or bidirectional(before) in ("AL", "R"):
            return  # letters that are joined must not be torn apart
        last = QTextCursor(self.cursor)
        last.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor)
        spaced = QTextCharFormat()
        spaced.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
        spaced.setFontLetterSpacing(pixels)
        last.mergeCharFormat(spaced)

    def insert_table(self, rows: int, columns: int, table: QTextTableFormat) -> QTextTable:
        """Add a table; the cursor stays where it was until `leave_table`."""
        if self._is_fresh:
            self._flatten()
        self._has_table = True
        return self.cursor.insertTable(rows, columns, table)

    def leave_table(self, table: QTextTable) -> None:
        """Go on behind a table."""
        self.cursor.setPosition(table.lastPosition() + 1)
        self._is_fresh = True
        self._overflow = self._next_overflow = 0
        self._below_table = self.style.table_row_bottom + 1

    def add_image(self, image: MathImage) -> str:
        """Gives the name by which the document knows the image."""
        self._images += 1
        name = f"formula:{self._images}"
        self.document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image.image)
        return name

    def finish(self) -> BuiltSegment:
        """Close the document; gives the notes."""
        if self._is_fresh:
            self._flatten()
        self.document.setTextWidth(self.width)
        return BuiltSegment(
            gap_before=self._first_gap or 0,
            room_above=self._room_above,
            room_below=max(self._room_below, self._overflow),
            natural_width=max(self.width, self.natural_width),
            is_empty=self._first_gap is None,
            links=tuple(self.links),
            code_boxes=tuple(self.code_boxes),
            quote_bars=tuple(self.quote_bars),
            blocked_images=tuple(self.blocked_images),
            inline_code=tuple(self.inline_code),
            task_boxes=tuple(self.task_boxes),
            formulas=tuple(self.formulas),
            rules=tuple(self.rules),
            has_table=self._has_table,
        )

    def _flatten(self) -> None:
        """Make the empty block that Qt keeps beside a table as good as invisible."""
        spacer = fixed_line(0)
        spacer.setProperty(SPACER_PROPERTY, True)
        hair = characters(self.style.font(1), self.style.text)
        self.cursor.setBlockFormat(spacer)
        self.cursor.setBlockCharFormat(hair)
