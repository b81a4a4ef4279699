"""Draws the small shapes that stand for states.

Invariant: each state has a shape of its own, so that it is told apart without its colour.
"""

from enum import StrEnum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap


class Shape(StrEnum):
    """What is drawn: an open arc, a hand-like triangle with a mark, a crossed circle, a dashed circle, …"""

    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"
    NOTICE = "notice"
    UP = "up"
    DOWN = "down"
    SEND = "send"
    CLOSE = "close"
    NEW = "new"
    SHUT = "shut"
    OPEN = "open"
    COPY = "copy"
    DETACH = "detach"
    LEFT_PANE = "left-pane"
    RIGHT_PANE = "right-pane"
    DONE = "done"


def paint_shape(painter: QPainter, shape: Shape, bounds: QRectF, colour: QColor) -> None:
    """Draw `shape` centred in `bounds`, as large as its shorter side."""
    side = min(bounds.width(), bounds.height())
    box = QRectF(0, 0, side, side)
    box.moveCenter(bounds.center())
    inner = box.adjusted(side * 0.1, side * 0.1, -side * 0.1, -side * 0.1)
    pen = QPen(colour, max(1.2, side * 0.1))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if shape in (Shape.UP, Shape.DOWN, Shape.STOPPED):
        _paint_filled(painter, shape, inner, colour)
    elif shape in (Shape.SEND, Shape.CLOSE, Shape.NEW):
        _paint_command(painter, shape, inner)
    elif shape in (Shape.SHUT, Shape.OPEN, Shape.DONE):
        _paint_stroke(painter, shape, inner)
    elif shape in (Shape.COPY, Shape.DETACH, Shape.LEFT_PANE, Shape.RIGHT_PANE):
        _paint_panes(painter, shape, inner)
    else:
        _paint_state(painter, shape, inner, pen)
    painter.restore()


def _paint_filled(painter: QPainter, shape: Shape, box: QRectF, colour: QColor) -> None:
    dot = QRectF(0, 0, box.width() * 0.7, box.width() * 0.7)
    dot.moveCenter(box.center())
    if shape is Shape.DOWN:
        painter.drawEllipse(dot)
        return
    painter.setBrush(colour)
    if shape is Shape.UP:
        painter.drawEllipse(dot)
    else:
        painter.drawRoundedRect(dot, 1.5, 1.5)


def _paint_command(painter: QPainter, shape: Shape, box: QRectF) -> None:
    centre = box.center()
    if shape is Shape.CLOSE:
        arm = box.width() * 0.32
        painter.drawLine(centre + QPointF(-arm, -arm), centre + QPointF(arm, arm))
        painter.drawLine(centre + QPointF(-arm, arm), centre + QPointF(arm, -arm))
        return
    arm = box.width() * 0.4
    if shape is Shape.NEW:
        painter.drawLine(centre + QPointF(-arm, 0), centre + QPointF(arm, 0))
        painter.drawLine(centre + QPointF(0, -arm), centre + QPointF(0, arm))
        return
    top = centre + QPointF(0, -arm)
    painter.drawLine(centre + QPointF(0, arm), top)
    painter.drawLine(top, top + QPointF(-arm * 0.8, arm * 0.8))
    painter.drawLine(top, top + QPointF(arm * 0.8, arm * 0.8))


def _paint_stroke(painter: QPainter, shape: Shape, box: QRectF) -> None:
    """Chevrons and the tick: one stroke of three points, in parts of the box from its centre."""
    strokes = {
        Shape.SHUT: ((-0.12, -0.28), (0.16, 0.0), (-0.12, 0.28)),
        Shape.OPEN: ((-0.28, -0.12), (0.0, 0.16), (0.28, -0.12)),
        Shape.DONE: ((-0.36, 0.02), (-0.1, 0.28), (0.38, -0.26)),
    }
    side, centre = box.width(), box.center()
    painter.drawPolyline([centre + QPointF(x * side, y * side) for x, y in strokes[shape]])


def _paint_panes(painter: QPainter, shape: Shape, box: QRectF) -> None:
    side = box.width()
    if shape is Shape.COPY:
        painter.drawRoundedRect(box.adjusted(side * 0.3, side * 0.3, 0, 0), 1.5, 1.5)
        lines = (
            (box.left(), box.top() + side * 0.7),
            (box.left(), box.top()),
            (box.left() + side * 0.7, box.top()),
        )
        painter.drawPolyline([QPointF(x, y) for x, y in lines])
        return
    if shape is Shape.DETACH:
        painter.drawPolyline(
            [box.center() + QPointF(0, -side * 0.5), box.topRight(), box.center() + QPointF(side * 0.5, 0)]
        )
        painter.drawPolyline(
            [box.center() + QPointF(0, side * 0.5), box.bottomLeft(), box.center() + QPointF(-side * 0.5, 0)]
        )
        painter.drawLine(box.topRight(), box.center() + QPointF(side * 0.12, -side * 0.12))
        painter.drawLine(box.bottomLeft(), box.center() + QPointF(-side * 0.12, side * 0.12))
        return
    painter.drawRoundedRect(box, 2, 2)
    x = box.left() + side * (0.34 if shape is Shape.LEFT_PANE else 0.66)
    painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))


def _paint_state(painter: QPainter, shape: Shape, box: QRectF, pen: QPen) -> None:
    centre = box.center()
    if shape is Shape.RUNNING:
        painter.drawArc(box, 90 * 16, 270 * 16)
        return
    if shape is Shape.INTERRUPTED:
        pen.setDashPattern([1.6, 1.9])
        painter.setPen(pen)
        painter.drawEllipse(box)
        return
    if shape is Shape.WAITING:
        painter.drawPolygon([QPointF(centre.x(), box.top()), box.bottomRight(), box.bottomLeft()])
        painter.drawLine(centre + QPointF(0, -box.height() * 0.12), centre + QPointF(0, box.height() * 0.14))
        painter.drawPoint(centre + QPointF(0, box.height() * 0.32))
        return
    painter.drawEllipse(box)
    if shape is Shape.FAILED:
        arm = box.width() * 0.2
        painter.drawLine(centre + QPointF(-arm, -arm), centre + QPointF(arm, arm))
        painter.drawLine(centre + QPointF(-arm, arm), centre + QPointF(arm, -arm))
    else:
        painter.drawPoint(centre + QPointF(0, -box.height() * 0.22))
        painter.drawLine(centre, centre + QPointF(0, box.height() * 0.25))


def shape_icon(shape: Shape, size: int, colour: str, device_ratio: float) -> QIcon:
    """The shape as an icon that keeps its colour in a chosen row."""
    pixmap = shape_pixmap(shape, size, colour, device_ratio)
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Selected)
    return icon


def shape_pixmap(shape: Shape, size: int, colour: str, device_ratio: float) -> QPixmap:
    """The shape as a picture of `size` device-independent pixels."""
    pixmap = QPixmap(round(size * device_ratio), round(size * device_ratio))
    pixmap.setDevicePixelRatio(device_ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_shape(painter, shape, QRectF(0, 0, size, size), QColor(colour))
    painter.end()
    return pixmap
