"""Paints what of the view is exposed, and knows what each part looks like.

Invariant: two parts with the same look have the same pixels.
"""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QRegion

from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.transcript_model import MessageImage, MessageKind
from sophos_desktop.shell.transcript.view.bounded_images import BoundedImages
from sophos_desktop.shell.transcript.view.damage import Look, PartKey
from sophos_desktop.shell.transcript.view.geometry import Geometry
from sophos_desktop.shell.transcript.view.layout import PlacedPart, TranscriptLayout
from sophos_desktop.shell.transcript.view.marking import Marking
from sophos_desktop.shell.transcript.view.painting import PartPainter
from sophos_desktop.shell.transcript.view.rows import PartKind


class Exposure:
    """Lives as long as its view."""

    def __init__(
        self,
        layout: TranscriptLayout,
        geometry: Geometry,
        marking: Marking,
        images: BoundedImages,
        looks: Looks,
    ) -> None:
        """Cheap."""
        self._layout = layout
        self._geometry = geometry
        self._marking = marking
        self._images = images
        self._looks = looks
        self._painter = PartPainter(looks)

    def set_looks(self, looks: Looks) -> None:
        """Another theme or zoom."""
        self._looks = looks
        self._painter = PartPainter(looks)

    def looks_of_parts(self) -> dict[PartKey, Look]:
        """What is to be on the screen."""
        found: dict[PartKey, Look] = {}
        for placed in self._layout.placed:
            signature: tuple[object, ...] = (placed.kind,)
            part = self._geometry.text_part(placed)
            if part is not None:
                signature = (part.drawn.revision, part.drawn.left, *self._marking.signature(part))
            elif placed.kind is PartKind.IMAGE:
                signature = (self._images.revision(self._image(placed)),)
            found[placed.key, placed.part] = Look(placed.top, placed.height, signature)
        return found

    def paint(self, painter: QPainter, region: QRegion, width: int) -> None:
        """Paint `region` of a viewport of `width` pixels."""
        painter.setClipRegion(region)
        exposed = QRectF(region.boundingRect())
        painter.fillRect(exposed, self._looks.colour("paper"))
        for placed in self._layout.placed:
            if placed.bottom >= exposed.top() and placed.top <= exposed.bottom():
                painter.save()
                area = QRectF(0, placed.top, width, placed.height)
                painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
                self._paint_part(painter, placed, exposed.intersected(area))
                painter.restore()

    def _paint_part(self, painter: QPainter, placed: PlacedPart, exposed: QRectF) -> None:
        part = self._geometry.text_part(placed)
        if part is not None:
            if self._layout.model.message(placed.message).kind is MessageKind.USER:
                self._painter.bubble(painter, part)
            has_caret = self._marking.caret == (placed.key, placed.part)
            caret = self._painter.caret_rectangle(part) if has_caret else None
            self._painter.paint(painter, part, exposed, self._marking.marks(part, caret))
        elif placed.kind is PartKind.IMAGE:
            self._images.paint(painter, self._image(placed), self._place(placed), self._looks)

    def image_at(self, point: QPointF) -> tuple[PlacedPart, str, QRectF] | None:
        """The image at a point of the viewport: its part, its key, and where it is."""
        placed = self._geometry.part_at(point.y())
        if placed is None or placed.kind is not PartKind.IMAGE:
            return None
        image = self._image(placed)
        area = self._images.area(image, self._place(placed))
        return (placed, image.key, area) if area.contains(point) else None

    def _place(self, placed: PlacedPart) -> QRectF:
        left, column = self._geometry.column_left, self._layout.documents.column
        return QRectF(left, placed.top, column, placed.height)

    def _image(self, placed: PlacedPart) -> MessageImage:
        return self._layout.rows.image(placed.message, placed.part)
