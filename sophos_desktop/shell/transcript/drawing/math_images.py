"""Draws formulas as images.

Invariant: a formula becomes an image or nothing, in bounded time and size, and drawing one reads no file and
asks for no address. What cannot be drawn is for the caller to show as source.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass
from math import ceil, floor
from typing import Protocol

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

# The letters of the typesetter's font are lower than Inter's: so much larger they are as high, x beside x.
_LIKE_TEXT = 1.2
_SPARE = 0.05  # its edge is smoothed into the next pixel
_CACHE_SIZE = 300
_LONGEST_SOURCE = 3_000
_WIDEST = 4_000  # pixels
_HIGHEST = 2_000
_BASELINE = 0.8  # of the height of a fixed line, where Qt puts the baseline
_INTO_NEXT = 0.21  # of its height: there are no letters but accents on capitals
# What Qt's SVG module does not understand or does not need: it logs a warning for metadata.
_NOT_DRAWN = re.compile(r"<(metadata|title|style|text)\b.*?</\1>", re.DOTALL)
_VIEW_BOX = re.compile(r'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"')


@dataclass(frozen=True, slots=True)
class Typeset:
    """An SVG; its lengths are in units of the font size; `spoken` is for screen readers."""

    svg: str
    width: float
    ascent: float
    descent: float
    spoken: str


class MathRenderer(Protocol):
    """The port to a typesetting library."""

    def typeset(self, tex: str, *, display: bool) -> Typeset | None:
        """None if the library cannot set the formula."""
        ...


class MathraRenderer:
    """mathra: fast, and says formulas aloud."""

    def typeset(self, tex: str, *, display: bool) -> Typeset | None:
        """None for what is no valid LaTeX."""
        import mathra  # with the first formula

        try:
            made = mathra.render(tex, display=display, strict=True)
        except ValueError:
            return None
        box = _VIEW_BOX.search(made["svg"])
        if box is None:
            return None
        _, top, width, height = (float(part) / 1000 for part in box.groups())
        svg = _NOT_DRAWN.sub("", made["svg"])
        return Typeset(svg, width, -top, top + height, made["speech"])


@dataclass(frozen=True, slots=True)
class MathImage:
    """`width` and `height` in device-independent pixels; an inline image of this height, aligned in the
    middle of its line, has its baseline on the text's. `above` and `below`: how far the formula itself
    reaches from the baseline."""

    image: QImage
    width: int
    height: int
    spoken: str
    above: float = 0.0
    below: float = 0.0

    def fits(self, line: int) -> bool:
        """Whether it has room among lines of fixed height: it may reach into the next one, where that
        has no letters."""
        is_within = self.above <= line * _BASELINE and self.overflow(line) <= line * _INTO_NEXT
        return is_within and self.above + self.below <= line

    def overflow(self, line: int) -> int:
        """How far it reaches below a line of fixed height, in pixels."""
        return max(0, ceil(self.below - line * (1 - _BASELINE)))


class MathImages:
    """A cache; lives as long as a view, on the GUI thread."""

    def __init__(self, renderer: MathRenderer | None = None) -> None:
        """Takes mathra if no renderer is given."""
        self._renderer = renderer or MathraRenderer()
        self._made: OrderedDict[tuple[object, ...], MathImage | None] = OrderedDict()

    def image(
        self,
        tex: str,
        *,
        display: bool,
        colour: str,
        size: int,
        x_height: float,
        pixel_ratio: float,
        line: int = 0,
    ) -> MathImage | None:
        """`size` is the font's, in pixels; `line`: how high the lines are that it stands in, if it does. None
        if the formula cannot be drawn."""
        key = (tex, display, colour, size, x_height, pixel_ratio, line)
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        made = self._draw(tex, colour, size, x_height, pixel_ratio, line, display=display)
        self._made[key] = made
        while len(self._made) > _CACHE_SIZE:
            self._made.popitem(last=False)
        return made

    def _draw(
        self,
        tex: str,
        colour: str,
        size: int,
        x_height: float,
        pixel_ratio: float,
        line: int,
        *,
        display: bool,
    ) -> MathImage | None:
        if not tex.strip() or len(tex) > _LONGEST_SOURCE:
            return None
        typeset = self._renderer.typeset(tex, display=display)
        if typeset is None or "<image" in typeset.svg:
            return None
        scale = size * _enlarged(typeset, size, line)
        width = ceil(typeset.width * scale)
        above, below = typeset.ascent * scale, typeset.descent * scale
        # Qt puts the middle of a middle-aligned image half an x-height above the baseline.
        height = ceil(max(2 * above - x_height / 2, 2 * below + x_height / 2)) if not display else 0
        height = height or ceil(above + below)
        if not (0 < width <= _WIDEST and 0 < height <= _HIGHEST):
            return None
        renderer = QSvgRenderer(QByteArray(typeset.svg.replace("currentColor", colour).encode()))
        if not renderer.isValid():
            return None
        image = QImage(
            ceil(width * pixel_ratio), ceil(height * pixel_ratio), QImage.Format.Format_ARGB32_Premultiplied
        )
        image.setDevicePixelRatio(pixel_ratio)
        image.fill(Qt.GlobalColor.transparent)
        top = 0.0 if display else (height + x_height / 2) / 2 - above
        painter = QPainter(image)
        renderer.render(painter, QRectF(0, top, typeset.width * scale, above + below))
        painter.end()
        return MathImage(image, width, height, typeset.spoken, above, below)


def _enlarged(typeset: Typeset, size: int, line: int) -> float:
    """How much larger than its font a formula is drawn: as the letters beside it are, or less if it has room
    in its line only then."""
    if not line:
        return _LIKE_TEXT
    above, below = typeset.ascent * size, max(typeset.descent * size, 0.01)
    room = min(line * _BASELINE / max(above, 0.01), line / (above + below))
    room = min(room, (line * (1 - _BASELINE) + floor(line * _INTO_NEXT)) / below)
    return min(_LIKE_TEXT, max(1.0, room - _SPARE)) if room >= 1 else _LIKE_TEXT
