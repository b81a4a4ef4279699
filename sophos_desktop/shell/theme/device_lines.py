"""Where lines stand on a device whose pixels are not the window's: at 150 % every second one would be thick.

Invariant: pure; every edge and every width is a whole number of the device's pixels, a line at least one.
"""

from math import floor

from PySide6.QtCore import QPoint, QRectF, QSize
from PySide6.QtWidgets import QWidget


def line_width(ratio: float) -> float:
    """How wide a line of one pixel is drawn, in the window's pixels; `ratio`: the device's to one of them."""
    return max(1, floor(ratio + 0.01)) / ratio


def on_device(corner: QPoint, size: QSize, ratio: float) -> QRectF:
    """A part's rectangle in its own coordinates, with its edges on whole pixels of the device. `corner`:
    where it is in its window."""
    left, right = (_whole(x, ratio) for x in (corner.x(), corner.x() + size.width()))
    top, bottom = (_whole(y, ratio) for y in (corner.y(), corner.y() + size.height()))
    return QRectF(left - corner.x(), top - corner.y(), right - left, bottom - top)


def place_on_device(part: QWidget) -> QRectF:
    """The same of a widget where it is now."""
    corner = part.mapTo(part.window(), QPoint(0, 0))
    return on_device(corner, part.size(), part.devicePixelRatioF())


def _whole(place: float, ratio: float) -> float:
    return floor(place * ratio + 0.5) / ratio
