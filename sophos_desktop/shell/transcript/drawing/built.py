"""What a built segment tells the view: all that it paints or reacts to and that is no text.

Invariant: plain data. Positions are those of the segment's QTextDocument (UTF-16 units), blocks are block
numbers, lengths pixels. Geometry is asked of the document when it is laid out (`text_rectangles`).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from PySide6.QtCore import QRectF, QUrl
from PySide6.QtGui import QTextBlock, QTextDocument, QTextFormat

_FIRST_PROPERTY = int(QTextFormat.Property.UserProperty.value)
SOURCE_PROPERTY = _FIRST_PROPERTY + 1  # of characters: what is copied in the place of an image
SPACER_PROPERTY = _FIRST_PROPERTY + 2  # of blocks: the empty block that Qt keeps beside a table
QUOTE_PROPERTY = _FIRST_PROPERTY + 3  # of blocks: how many quotes it stands in
LINE_PROPERTY = _FIRST_PROPERTY + 4  # of blocks: the line of the segment that a top-level block begins at


class LinkKind(Enum):
    """Where a link leads."""

    ADDRESS = "address"
    FOOTNOTE = "footnote"  # `target` is the label: see MarkdownEnvironment.footnote_place


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text from `start` to before `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Link:
    """Text that leads somewhere."""

    start: int
    end: int
    target: str
    kind: LinkKind = LinkKind.ADDRESS


@dataclass(frozen=True, slots=True)
class CodeBox:
    """A block of code; `source` is what "Copy" copies. A box that is not first has no bar above it and no
    round corners there; one that is not last none below. `left`: of the box, in the document."""

    first_block: int
    last_block: int
    left: int
    language: str
    source: str
    is_first: bool = True
    is_last: bool = True


@dataclass(frozen=True, slots=True)
class QuoteBar:
    """The rule beside a quote, `inset` pixels from the left, or from the right in a text that runs there.
    `above` and `below`: how far boxes reach above its first block and below its last."""

    first_block: int
    last_block: int
    inset: int
    is_right: bool = False
    above: int = 0
    below: int = 0


@dataclass(frozen=True, slots=True)
class BlockedImage:
    """The place of an image that is not loaded: frame, icon and "Copy address" are painted around it.
    `is_card`: a block of its own; otherwise words within a sentence or cell."""

    start: int
    end: int
    block: int
    address: str
    words: str
    is_card: bool


@dataclass(frozen=True, slots=True)
class TaskBox:
    """The place of a check box, one character wide."""

    position: int
    is_checked: bool


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, drawn or as source."""

    start: int
    end: int
    tex: str
    spoken: str
    is_drawn: bool


@dataclass(frozen=True, slots=True)
class BuiltSegment:
    """`gap_before`: pixels between this and the segment before. The document is drawn `room_above` below the
    segment's top, and `room_below` pixels follow it: boxes reach there. `natural_width`: wider than the
    column if lines of code or a table stick out. `rules`: blocks through whose middle a line goes."""

    gap_before: int
    room_above: int
    room_below: int
    natural_width: int
    is_empty: bool
    links: tuple[Link, ...] = ()
    code_boxes: tuple[CodeBox, ...] = ()
    quote_bars: tuple[QuoteBar, ...] = ()
    blocked_images: tuple[BlockedImage, ...] = ()
    inline_code: tuple[Run, ...] = ()
    task_boxes: tuple[TaskBox, ...] = ()
    formulas: tuple[Formula, ...] = ()
    rules: tuple[int, ...] = ()
    has_table: bool = False


class SegmentDocument(QTextDocument):
    """A document that loads nothing: an answer is untrusted."""

    def __init__(self) -> None:
        """Empty."""
        super().__init__()
        self.setDocumentMargin(0)
        self.setUndoRedoEnabled(False)

    def loadResource(self, resource_type: int, name: QUrl | str) -> Any:
        """Formulas are added beforehand; nothing else exists."""
        return None


def text_rectangles(document: QTextDocument, start: int, end: int) -> list[QRectF]:
    """Where text is painted, a rectangle for each line; the document must be laid out."""
    rectangles = []
    block = document.findBlock(start)
    while block.isValid() and block.position() < end:
        rectangles += _block_rectangles(document, block, start, end)
        block = block.next()
    return rectangles


def _block_rectangles(document: QTextDocument, block: QTextBlock, start: int, end: int) -> list[QRectF]:
    origin = document.documentLayout().blockBoundingRect(block).topLeft()
    layout = block.layout()
    rectangles = []
    # Straight to the first line: a long paragraph is asked for hundreds of short runs.
    begins = layout.lineForTextPosition(max(0, start - block.position()))
    for number in range(begins.lineNumber() if begins.isValid() else 0, layout.lineCount()):
        line = layout.lineAt(number)
        if block.position() + line.textStart() >= end:
            break
        first = max(start - block.position(), line.textStart())
        last = min(end - block.position(), line.textStart() + line.textLength())
        if first >= last:
            continue
        edges = [_edge(line.cursorToX(first)), _edge(line.cursorToX(last))]
        rectangle = QRectF(min(edges), line.y(), abs(edges[1] - edges[0]), line.height())
        rectangles.append(rectangle.translated(origin))
    return rectangles


def _edge(answer: object) -> float:
    # PySide gives the position together with the cursor.
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]
