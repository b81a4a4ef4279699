"""What of the painted text reacts to the pointer: links, copy buttons, placeholders of images.

Invariant: a hit is where it is painted, since both ask the same functions for the rectangles.
"""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QTextDocument

from sophos_desktop.shell.transcript.drawing.built import BlockedImage, CodeBox, LinkKind
from sophos_desktop.shell.transcript.drawing.image_cards import (
    INLINE_COPY,
    frame_height,
    room_above_lines,
)
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.view.geometry import TextPart

COPY = "Copy"
COPIED = "Copied"
COPY_ADDRESS = "Copy address"
_ICON = 14


class HitKind(Enum):
    """What happens on a click."""

    LINK = "link"
    FOOTNOTE = "footnote"
    COPY_CODE = "copy code"
    COPY_ADDRESS = "copy address"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Hit:
    """`target`: the address, the footnote's label, the image's key, or what is copied. `area` in viewport
    coordinates; `index` counts the code boxes of the part."""

    kind: HitKind
    target: str
    area: QRectF
    message: int
    part: int
    index: int = 0


def span_of_blocks(document: QTextDocument, first: int, last: int) -> tuple[float, float]:
    """Where the first of some blocks begins and the last ends, in the document.

    A block's rectangle is as high as its letters; its lines, which have a fixed height, say where it ends.
    """
    layout = document.documentLayout()
    top = layout.blockBoundingRect(document.findBlockByNumber(first)).top()
    block = document.findBlockByNumber(last)
    bounds = layout.blockBoundingRect(block)
    lines = block.layout()
    if not lines.lineCount():
        return top, bounds.bottom()
    line = lines.lineAt(lines.lineCount() - 1)
    return top, bounds.top() + line.y() + line.height()


def box_rectangle(document: QTextDocument, box: CodeBox, width: int, looks: Looks) -> QRectF:
    """The frame of a code box, in the document."""
    top, bottom = span_of_blocks(document, box.first_block, box.last_block)
    style = looks.style
    top -= style.code_bar + 1 if box.is_first else 0
    bottom += style.code_bottom + 1 if box.is_last else 0
    return QRectF(box.left, round(top), width - box.left, round(bottom) - round(top))


def copy_rectangle(box: QRectF, looks: Looks, words: str) -> QRectF:
    """The button in the bar of a code box, 24 high."""
    text = QFontMetricsF(looks.font(looks.tokens.type.small)).horizontalAdvance(words)
    width = text + looks.scaled(_ICON + 6 + 16)
    height = looks.scaled(24)
    return QRectF(box.right() - looks.scaled(5) - width, box.top() + looks.scaled(3), width, height)


def image_rectangle(document: QTextDocument, image: BlockedImage, width: int, looks: Looks) -> QRectF:
    """The frame of the placeholder of an image, in the document."""
    block = document.findBlockByNumber(image.block)
    first = document.documentLayout().blockBoundingRect(block).top()  # which lays it out
    lines = block.layout().lineCount()
    height = frame_height(looks.style, lines)
    left = block.blockFormat().leftMargin() - looks.style.image_left
    top = round(first) - room_above_lines(looks.style, lines)
    return QRectF(left, top, width - left, height)


def address_rectangle(frame: QRectF, looks: Looks) -> QRectF:
    """The button in the placeholder of an image."""
    text = QFontMetricsF(looks.font(looks.tokens.type.name)).horizontalAdvance(COPY_ADDRESS)
    width, height = text + looks.scaled(22), looks.scaled(28)
    return QRectF(frame.right() - looks.scaled(9) - width, frame.center().y() - height / 2, width, height)


def hit(part: TextPart, point: QPointF, looks: Looks) -> Hit | None:
    """What is at `point` of a part."""
    placed, drawn = part.placed, part.drawn
    still = part.still
    document, built = drawn.document, drawn.built
    for index, box in enumerate(built.code_boxes):
        if not box.is_first:
            continue
        frame = box_rectangle(document, box, drawn.width, looks).translated(still)
        area = copy_rectangle(frame, looks, COPIED)
        if area.contains(point):
            return Hit(HitKind.COPY_CODE, box.source, area, placed.message, placed.part, index)
    for image in built.blocked_images:
        if image.is_card:
            frame = image_rectangle(document, image, drawn.width, looks).translated(still)
            area = address_rectangle(frame, looks)
            if area.contains(point):
                return Hit(HitKind.COPY_ADDRESS, image.address, area, placed.message, placed.part)
    if not built.links and not built.blocked_images:
        return None
    return _hit_text(part, point)


def _hit_text(part: TextPart, point: QPointF) -> Hit | None:
    placed, built = part.placed, part.drawn.built
    layout = part.drawn.document.documentLayout()
    character = layout.hitTest(point - part.origin, Qt.HitTestAccuracy.ExactHit)
    if character < 0:
        return None
    nothing = QRectF()
    for image in built.blocked_images:
        # In a link its own address is copied by these words alone.
        if image.end - len(INLINE_COPY) - 1 <= character < image.end and not image.is_card:
            return Hit(HitKind.COPY_ADDRESS, image.address, nothing, placed.message, placed.part)
    for link in built.links:
        if link.start <= character < link.end:
            kind = HitKind.FOOTNOTE if link.kind is LinkKind.FOOTNOTE else HitKind.LINK
            return Hit(kind, link.target, nothing, placed.message, placed.part)
    for image in built.blocked_images:
        if not image.is_card and image.start <= character < image.end:
            return Hit(HitKind.COPY_ADDRESS, image.address, nothing, placed.message, placed.part)
    return None
