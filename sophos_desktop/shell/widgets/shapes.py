"""The marks under the names that states have in the window.

Invariant: each state has a mark of its own, so that it is told apart without its colour.
"""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from sophos_desktop.shell.theme.icons import Mark, mark_pixmap, paint_mark

Shape = Mark


def paint_shape(painter: QPainter, shape: Shape, bounds: QRectF, colour: QColor) -> None:
    """Draw `shape` centred in `bounds`, as large as its shorter side."""
    paint_mark(painter, shape, bounds, colour)


def shape_icon(shape: Shape, size: int, colour: str, device_ratio: float) -> QIcon:
    """The shape as an icon that keeps its colour in a chosen row."""
    pixmap = shape_pixmap(shape, size, colour, device_ratio)
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Selected)
    return icon


def shape_pixmap(shape: Shape, size: int, colour: str, device_ratio: float) -> QPixmap:
    """The shape as a picture of `size` device-independent pixels."""
    return mark_pixmap(shape, size, colour, device_ratio)
