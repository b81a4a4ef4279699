"""The frame of what floats over the window: round corners, a line, and the only shadow of the look.

Invariant: the shadow is drawn once for a colour and a screen's factor and stretched as nine pieces, so that
painting it costs the same however large the menu is.
"""

from functools import lru_cache
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.tokens import Tokens

MARGIN: Final = 16  # around the frame, for the shadow
_DOWN: Final = 4
_BLUR: Final = 16
_EDGE: Final = MARGIN + MEASURES.menu_radius + _BLUR  # of the picture; what is further in is all alike
_MIDDLE: Final = 8
_STEPS: Final = 16


def paint_floating_frame(painter: QPainter, rect: QRect, tokens: Tokens) -> None:
    """Shadow, ground and line; `rect` is the frame without the shadow's margin."""
    device = painter.device()
    ratio = device.devicePixelRatioF() if device is not None else 1.0
    around = QRectF(rect.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN))
    _draw_pieces(painter, around, _shadow(tokens.shadow, ratio), ratio)
    paint_plain_frame(painter, QRectF(rect), QColor(tokens.raised), QColor(tokens.border_strong))


def paint_plain_frame(painter: QPainter, rect: QRectF, ground: QColor, line: QColor) -> None:
    """Ground and line without a shadow."""
    radius = MEASURES.menu_radius - 0.5
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(line, 1))
    painter.setBrush(ground)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.restore()


@lru_cache(maxsize=4)
def _shadow(colour: str, ratio: float) -> QPixmap:
    """The shadow of a small frame, in the device's pixels; its middle rows and columns are all alike."""
    side = 2 * _EDGE + _MIDDLE
    picture = QPixmap(round(side * ratio), round(side * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    picture.setDevicePixelRatio(ratio)
    frame = QRectF(MARGIN, MARGIN + _DOWN, side - 2 * MARGIN, side - 2 * MARGIN)
    shade = QColor(colour)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    left = 1.0  # how much of the light still comes through
    for step in range(_STEPS):
        # A blur of 16 reaches 8 to either side of the edge, and fades as the bell curve does.
        part = (step + 0.5) / _STEPS
        wanted = 1.0 - shade.alphaF() * part * part * (3 - 2 * part)
        layer = QColor(shade)
        layer.setAlphaF(max(0.0, 1.0 - wanted / left))
        left = wanted
        spread = _BLUR / 2 - _BLUR * part
        painter.setBrush(layer)
        radius = max(1.0, MEASURES.menu_radius + spread)
        painter.drawRoundedRect(frame.adjusted(-spread, -spread, spread, spread), radius, radius)
    painter.end()
    return picture


def _draw_pieces(painter: QPainter, around: QRectF, picture: QPixmap, ratio: float) -> None:
    """Corners as they are, edges stretched along, the middle left to the ground."""
    wide, high = min(_EDGE, around.width() / 2), min(_EDGE, around.height() / 2)
    side = 2 * _EDGE + _MIDDLE
    columns = (
        (0.0, wide, 0.0, wide),
        (wide, around.width() - 2 * wide, float(_EDGE), float(_MIDDLE)),
        (around.width() - wide, wide, side - wide, wide),
    )
    rows = (
        (0.0, high, 0.0, high),
        (high, around.height() - 2 * high, float(_EDGE), float(_MIDDLE)),
        (around.height() - high, high, side - high, high),
    )
    for left, width, source_left, source_width in columns:
        for top, height, source_top, source_height in rows:
            if width <= 0 or height <= 0:
                continue
            target = QRectF(around.left() + left, around.top() + top, width, height)
            source = QRectF(
                source_left * ratio, source_top * ratio, source_width * ratio, source_height * ratio
            )
            painter.drawPixmap(target, picture, source)
