"""Paints the dashed frames around what is not shown.

Invariant: the dashes of a frame are where they are however much of it is exposed: Qt begins a dashed line
where the clip does, so that a frame that was scrolled would differ from one that is painted as a whole.
"""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPainterPathStroker

_DASH, _GAP = 4, 2  # in widths of the line


def paint_dashed_frame(painter: QPainter, frame: QRectF, radius: float, colour: QColor) -> None:
    """A line of one pixel just within `frame`, with round corners."""
    path = QPainterPath()
    path.addRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    stroker = QPainterPathStroker()
    stroker.setWidth(1)
    stroker.setCapStyle(Qt.PenCapStyle.FlatCap)
    stroker.setDashPattern([_DASH, _GAP])
    painter.fillPath(stroker.createStroke(path), colour)
