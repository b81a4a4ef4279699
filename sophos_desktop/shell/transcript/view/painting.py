"""Paints the parts of a conversation that are text: grounds and frames first, the text, then marks on it.

Invariant: painting changes nothing, stays within the part's place and the exposed region, and gives the same
pixels whenever the same state is painted. Cards are widgets and paint themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPainter,
    QPalette,
    QPen,
)

from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.transcript.drawing.built import CodeBox, QuoteBar, text_rectangles
from sophos_desktop.shell.transcript.drawing.document_builder import RULE_HEIGHT
from sophos_desktop.shell.transcript.drawing.documents import BUBBLE_SIDE
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.view.dashed_frame import paint_dashed_frame
from sophos_desktop.shell.transcript.view.geometry import TextPart
from sophos_desktop.shell.transcript.view.hit_areas import (
    COPIED,
    COPY,
    COPY_ADDRESS,
    Hit,
    HitKind,
    address_rectangle,
    box_rectangle,
    copy_rectangle,
    image_rectangle,
    span_of_blocks,
)
from sophos_desktop.shell.transcript.view.sideways_bar import bar_of, window_of

_HANGING = 8  # pixels at 100 %
_BEYOND = 40  # how far a frame goes on into the next piece, which is clipped
_CARET = (2, 18)
_CODE_BAR = 28


@dataclass(frozen=True, slots=True)
class Marks:
    """What is painted on a part besides its text. `grounds`: rectangles in viewport coordinates, with fill
    and frame as `#RRGGBB` (an empty frame is none). `copied`: the index of the code box that was just copied,
    `hovered`: what the pointer is on, `widest`: of the block it is a piece of, `bar_is_hovered`: the pointer
    is on the bar that scrolls it sideways."""

    grounds: Sequence[tuple[QRectF, str, str]] = ()
    caret: QRectF | None = None
    copied: int | None = None
    hovered: Hit | None = None
    widest: int = 0
    bar_is_hovered: bool = False


NO_MARKS = Marks()


class PartPainter:
    """Of one theme; made anew when that changes."""

    def __init__(self, looks: Looks) -> None:
        """Cheap."""
        self._looks = looks
        self._palette = QPalette()
        self._palette.setColor(QPalette.ColorRole.Text, looks.colour("text"))
        self._small = looks.font(looks.tokens.type.small)
        self._name = looks.font(looks.tokens.type.name)

    def paint(self, painter: QPainter, part: TextPart, exposed: QRectF, marks: Marks = NO_MARKS) -> None:
        """Paint what of a part is in `exposed` (viewport coordinates)."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if part.drawn.built.is_empty:
            return
        built = part.drawn.built
        for index, box in enumerate(built.code_boxes):
            self._code_box(painter, part, box, is_copied=marks.copied == index, marks=marks)
        for bar in built.quote_bars:
            self._quote_bar(painter, part, bar)
        for number in built.rules:
            self._rule(painter, part, number)
        self._images(painter, part, marks)
        painter.save()
        if part.group is not None:
            painter.setClipRect(window_of(part), Qt.ClipOperation.IntersectClip)
        for run in built.inline_code:
            self._inline_code(painter, part, run.start, run.end)
        for area, fill, frame in marks.grounds:
            painter.setPen(QPen(QColor(frame), 1) if frame else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(fill))
            painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5) if frame else area)
        self._text(painter, part, exposed)
        painter.restore()
        for task in built.task_boxes:
            self._task_box(painter, part, task.position, is_checked=task.is_checked)
        if marks.caret is not None:
            painter.fillRect(marks.caret, self._looks.colour("accent"))
        if part.group is not None:
            self._sideways_bar(painter, part, marks)

    def bubble(self, painter: QPainter, part: TextPart) -> None:
        """The ground of the user's message, behind everything."""
        segment, placed = part.drawn.segment, part.placed
        side, radius = BUBBLE_SIDE, self._looks.scaled(12)
        area = QRectF(part.origin.x() - side, placed.top, part.drawn.width + 2 * side, placed.height)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
        above = _BEYOND if segment.continues else 0
        below = _BEYOND if segment.goes_on else 0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._looks.colour("bubble"))
        painter.drawRoundedRect(area.adjusted(0, -above, 0, below), radius, radius)
        painter.restore()

    def caret_rectangle(self, part: TextPart) -> QRectF:
        """Where the next letter of a running answer will stand."""
        document = part.drawn.document
        block = document.lastBlock()
        if part.drawn.built.has_table and block.previous().isValid():
            block = block.previous()
        layout = block.layout()
        top = document.documentLayout().blockBoundingRect(block).topLeft()
        line = layout.lineAt(layout.lineCount() - 1) if layout.lineCount() else None
        x, y, height = 0.0, 0.0, float(self._looks.style.reading_line)
        if line is not None:
            edge = line.cursorToX(block.length() - 1)
            x = float(edge[0] if isinstance(edge, tuple) else edge)  # type: ignore[arg-type]
            y, height = line.y(), line.height()
        width, tall = (self._looks.scaled(each) for each in _CARET)
        place = part.origin + top + QPointF(x + 2, y + (height - tall) / 2)
        return QRectF(self._whole(place.x()), self._whole(place.y()), width, tall)

    # Behind the text.

    def _code_box(
        self, painter: QPainter, part: TextPart, box: CodeBox, *, is_copied: bool, marks: Marks
    ) -> None:
        looks, drawn = self._looks, part.drawn
        area = box_rectangle(drawn.document, box, drawn.width, looks).translated(part.still)
        # Type of other sizes stands a pixel lower in its last line, and the frame's line would be cut off.
        area.setBottom(min(area.bottom(), part.placed.bottom))
        painter.save()
        painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
        above, below = 0 if box.is_first else _BEYOND, 0 if box.is_last else _BEYOND
        painter.setPen(QPen(looks.colour("border"), 1))
        painter.setBrush(looks.colour("sunken"))
        radius = looks.scaled(8)
        painter.drawRoundedRect(area.adjusted(0.5, 0.5 - above, -0.5, below - 0.5), radius, radius)
        if box.is_first:
            self._code_bar(painter, area, box, is_copied=is_copied, hovered=marks.hovered)
        painter.restore()

    def _code_bar(
        self, painter: QPainter, area: QRectF, box: CodeBox, *, is_copied: bool, hovered: Hit | None
    ) -> None:
        looks = self._looks
        middle = Qt.AlignmentFlag.AlignVCenter
        bar = QRectF(
            area.left() + looks.style.code_padding, area.top() + 1, area.width(), looks.scaled(_CODE_BAR)
        )
        words = COPIED if is_copied else COPY
        button = copy_rectangle(area, looks, words)
        if hovered is not None and hovered.kind is HitKind.COPY_CODE and hovered.area.intersects(button):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(looks.colour("hover"))
            painter.drawRoundedRect(button, looks.scaled(6), looks.scaled(6))
        painter.setFont(self._small)
        painter.setPen(looks.colour("text_2"))
        bar.setRight(button.left() - 8)
        painter.drawText(bar, middle | Qt.AlignmentFlag.AlignLeft, box.language)
        side = looks.scaled(14)
        icon = QRectF(button.left() + looks.scaled(8), button.center().y() - side / 2, side, side)
        self._mark(painter, Mark.DONE if is_copied else Mark.COPY, icon, looks.colour("text_2"))
        text = button.adjusted(looks.scaled(28), 0, 0, 0)
        painter.drawText(text, middle | Qt.AlignmentFlag.AlignLeft, words)

    def _quote_bar(self, painter: QPainter, part: TextPart, bar: QuoteBar) -> None:
        document, style = part.drawn.document, self._looks.style
        top, bottom = span_of_blocks(document, bar.first_block, bar.last_block)
        x = part.drawn.width - bar.inset - style.quote_bar if bar.is_right else bar.inset
        top, bottom = round(top) - bar.above, round(bottom) + bar.below
        area = QRectF(x, top, style.quote_bar, bottom - top)
        painter.fillRect(area.translated(part.still), self._looks.colour("border_strong"))

    def _rule(self, painter: QPainter, part: TextPart, number: int) -> None:
        document = part.drawn.document
        block = document.findBlockByNumber(number)
        top, _ = span_of_blocks(document, number, number)
        left = block.blockFormat().leftMargin()
        area = QRectF(left, round(top) + RULE_HEIGHT // 2, part.drawn.width - left, 1)
        painter.fillRect(area.translated(part.still), self._looks.colour("border_strong"))

    def _images(self, painter: QPainter, part: TextPart, marks: Marks) -> None:
        looks, drawn = self._looks, part.drawn
        for image in drawn.built.blocked_images:
            if not image.is_card:
                continue
            frame = image_rectangle(drawn.document, image, drawn.width, looks).translated(part.still)
            paint_dashed_frame(painter, frame, looks.scaled(8), looks.colour("border_control"))
            side = looks.scaled(18)
            icon = QRectF(frame.left() + looks.scaled(17), frame.center().y() - side / 2, side, side)
            self._mark(painter, Mark.NO_IMAGE, icon, looks.colour("text_2"))
            button = address_rectangle(frame, looks)
            is_hovered = marks.hovered is not None and marks.hovered.area.intersects(button)
            painter.setPen(QPen(looks.colour("border_strong"), 1))
            painter.setBrush(looks.colour("hover" if is_hovered else "raised"))
            radius = looks.scaled(6)
            painter.drawRoundedRect(button.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
            painter.setFont(self._name)
            painter.setPen(looks.colour("text"))
            painter.drawText(button, Qt.AlignmentFlag.AlignCenter, COPY_ADDRESS)

    def _inline_code(self, painter: QPainter, part: TextPart, start: int, end: int) -> None:
        """Square, from the air before its first letter to the air behind its last one."""
        looks = self._looks
        colour, tall, air = looks.colour("inline"), looks.style.code_ground, looks.style.code_air
        lines = text_rectangles(part.drawn.document, start, end)
        for number, line in enumerate(lines):
            line.translate(part.origin)
            # The last letter has its air with it.
            left, right = line.left() - air, line.right() + (0 if number == len(lines) - 1 else air)
            top = line.top() + (line.height() - tall) / 2
            corner = QPointF(self._whole(left), self._whole(top))
            painter.fillRect(QRectF(corner, QPointF(self._whole(right), corner.y() + tall)), colour)

    # The text and what lies on it.

    def _text(self, painter: QPainter, part: TextPart, exposed: QRectF) -> None:
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette = self._palette
        # Qt leaves out lines that are not exposed, and a formula may reach beyond its line.
        reach = self._looks.scaled(_HANGING)
        context.clip = exposed.translated(-part.origin).adjusted(0, -reach, 0, reach)
        painter.save()
        painter.translate(part.origin)
        part.drawn.document.documentLayout().draw(painter, context)
        painter.restore()

    def _task_box(self, painter: QPainter, part: TextPart, position: int, *, is_checked: bool) -> None:
        looks = self._looks
        places = text_rectangles(part.drawn.document, position, position + 1)
        if not places:
            return
        side = looks.scaled(16)
        line = places[0].translated(part.origin)
        area = QRectF(self._whole(line.left()), self._whole(line.center().y() - side / 2), side, side)
        painter.fillRect(area.adjusted(-1, -2, 1, 2), looks.colour("paper"))  # the character goes
        painter.setPen(QPen(looks.colour("accent" if is_checked else "border_control"), 1))
        painter.setBrush(looks.colour("accent" if is_checked else "raised"))
        radius = looks.scaled(4)
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        if is_checked:
            self._mark(painter, Mark.DONE, area.adjusted(2, 2, -2, -2), looks.colour("on_accent"))

    def _mark(self, painter: QPainter, mark: Mark, area: QRectF, colour: QColor) -> None:
        """An icon on a whole pixel of the device."""
        corner = QPointF(self._whole(area.left()), self._whole(area.top()))
        paint_mark(painter, mark, QRectF(corner, area.size()), colour)

    def _whole(self, place: float) -> float:
        """The nearest whole pixel of the device, the same one wherever a part is scrolled to: rounding halves
        to even would not be."""
        ratio = self._looks.style.pixel_ratio
        return floor(place * ratio + 0.5) / ratio

    def _sideways_bar(self, painter: QPainter, part: TextPart, marks: Marks) -> None:
        bar = bar_of(part, marks.widest, self._looks, is_hovered=marks.bar_is_hovered)
        if bar is None:
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._looks.colour("border_control"))
        radius = bar.handle.height() / 2
        painter.drawRoundedRect(bar.handle, radius, radius)
