"""The bar below code and tables that are too wide: where it is, and how it is dragged.

Invariant: the bar that is painted is the one that is taken hold of, since both ask for it here.
"""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.markdown.segments import SegmentKind
from sophos_desktop.shell.transcript.view.geometry import Geometry, TextPart
from sophos_desktop.shell.transcript.view.sideways import Group, Sideways

_THIN, _THICK = 4, 8
_REACH = 12  # the height that can be taken hold of
_LEAST = 32
_SIDE = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """In the viewport. `room`: how far the block can be scrolled; `travel`: how far the handle can."""

    reach: QRectF
    handle: QRectF
    room: int
    travel: float


def window_of(part: TextPart) -> QRectF:
    """What of a block that is scrolled sideways is seen."""
    placed, boxes = part.placed, part.drawn.built.code_boxes
    left = min((box.left for box in boxes), default=0)
    inset = 1 if boxes else 0
    x = part.still.x() + left + inset
    return QRectF(x, placed.top, part.drawn.width - left - 2 * inset, placed.height)


def bar_of(part: TextPart, widest: int, looks: Looks, *, is_hovered: bool = False) -> Bar | None:
    """The bar of a block, below its last piece; None if all of it is seen."""
    room = widest - part.drawn.width
    segment, boxes = part.drawn.segment, part.drawn.built.code_boxes
    is_last = not segment.goes_on and (not boxes or boxes[-1].is_last)
    if part.group is None or room <= 0 or not is_last:
        return None
    window = window_of(part)
    side = looks.scaled(_SIDE) if segment.kind is SegmentKind.CODE else 0
    track = window.width() - 2 * side
    length = max(float(looks.scaled(_LEAST)), track * part.drawn.width / widest)
    travel = max(0.0, track - length)
    tall = looks.scaled(_THICK if is_hovered else _THIN)
    # Two pixels above the frame at its thickest; a table has no frame.
    bottom = part.placed.bottom - (looks.scaled(4) if boxes else 1) + (looks.scaled(2) if is_hovered else 0)
    handle = QRectF(window.left() + side + travel * part.offset / room, bottom - tall, length, tall)
    reach = looks.scaled(_REACH)
    return Bar(QRectF(window.left() + side, part.placed.bottom - reach, track, reach), handle, room, travel)


class SidewaysDrag:
    """Lives as long as its view's pointer."""

    def __init__(self, geometry: Geometry, sideways: Sideways) -> None:
        """Nothing is held."""
        self._geometry = geometry
        self._sideways = sideways
        self._held: tuple[Group, Bar, int, int] | None = None  # with the block's width and first offset
        self._pressed_x = 0.0

    @property
    def is_active(self) -> bool:
        """The mouse holds a bar."""
        return self._held is not None

    def group_at(self, point: QPointF, looks: Looks) -> Group | None:
        """The block whose bar is at `point`."""
        found = self._at(point, looks)
        return found[0].group if found is not None else None

    def press(self, point: QPointF, looks: Looks) -> bool:
        """Take hold of the bar at `point`; beside its handle, that comes there. False if there is none."""
        found = self._at(point, looks)
        if found is None or found[0].group is None:
            return False
        part, bar = found
        group, width = found[0].group, part.drawn.width
        self._pressed_x = point.x()
        if not bar.handle.left() <= point.x() <= bar.handle.right() and bar.travel:
            wanted = (point.x() - bar.reach.left() - bar.handle.width() / 2) * bar.room / bar.travel
            self._sideways.scroll(group, round(wanted) - part.offset, width)
        self._held = (group, bar, width, self._sideways.offset(group))
        return True

    def move(self, point: QPointF) -> bool:
        """Scroll by as much as the mouse moved; True if that changed anything."""
        if self._held is None:
            return False
        group, bar, width, first = self._held
        moved = (point.x() - self._pressed_x) * bar.room / bar.travel if bar.travel else 0.0
        return self._sideways.scroll(group, round(first + moved) - self._sideways.offset(group), width)

    def release(self) -> None:
        """Let go."""
        self._held = None

    def _at(self, point: QPointF, looks: Looks) -> tuple[TextPart, Bar] | None:
        placed = self._geometry.part_at(point.y())
        part = self._geometry.text_part(placed) if placed is not None else None
        if part is None or part.group is None:
            return None
        bar = bar_of(part, self._sideways.widest(part.group), looks)
        return (part, bar) if bar is not None and bar.reach.contains(point) else None
