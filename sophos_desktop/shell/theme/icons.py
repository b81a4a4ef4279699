"""Draws the shipped icons in the colours of a theme.

Invariant: an icon is rendered from its SVG at the real size on the device, in a token's colour; no coloured
copy lies on the disk, and no bitmap is scaled. `Mark` names all files of `resources/icons`, and no other.
"""

import ctypes
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final, Protocol

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from sophos_desktop.foundation.resources import resource
from sophos_desktop.shell.theme.fonts import interface_scale
from sophos_desktop.shell.theme.tokens import Tokens

_SHIPPED_STROKE = b'stroke-width="2"'
_STROKE = b'stroke-width="1.75"'
_DOT_PART = 8 / 12  # the engine's dot: 8 pixels where an icon has 12


class Mark(StrEnum):
    """What can be drawn. The value is the file's name; the last three are drawn without a file."""

    RUNNING = "loader-circle"
    WAITING = "hand"
    FAILED = "circle-x"
    INTERRUPTED = "circle-dashed"
    UNCERTAIN = "circle-question-mark"
    DONE = "check"
    STOPPED = "square"
    DENIED = "ban"
    SKIPPED = "circle-slash"
    AGAIN = "refresh-cw"
    TOOL = "wrench"
    EYE = "eye"
    THINKING = "lightbulb"
    EMBEDDING = "braces"
    EDIT = "pencil"
    WARNING = "triangle-alert"
    ANSWER = "align-left"
    USER = "user"
    TITLE = "message-square"
    FILTER = "list-filter"
    SAVE = "download"
    DETACH = "maximize-2"
    CLOSE = "x"
    SEARCH = "search"
    NEW = "square-pen"
    ADD = "plus"
    LEFT_PANE = "panel-left"
    RIGHT_PANE = "panel-right"
    SHUT = "chevron-right"
    OPEN = "chevron-down"
    RAISE = "chevron-up"
    CHOOSE = "chevrons-up-down"
    SEND = "arrow-up"
    LATEST = "arrow-down"
    COPY = "copy"
    ATTACH = "paperclip"
    NO_IMAGE = "image-off"
    ERROR = "circle-alert"
    NOTICE = "info"
    SERVERS = "server"
    PINNED = "pin"
    MORE = "ellipsis"
    STEPS = "list-tree"
    LOCATE = "locate"
    QUEUED = "clock"
    ENGINE = "cpu"
    MEMORY = "database"
    MODEL = "package"
    DATA = "hard-drive"
    WEB = "globe"
    FILE = "file-text"
    IMAGE = "image"
    DELETE = "trash-2"
    KEYBOARD = "keyboard"
    NOTIFICATIONS = "bell"
    LANGUAGE = "languages"
    APPEARANCE = "type"
    RESUME = "play"
    UNREADY = "circle-dot"
    WRITING = "text-cursor-input"
    SECRET = "key-round"
    SETTINGS = "settings"
    RETURN = "corner-down-left"
    MINUS = "minus"
    EXTERNAL = "external-link"
    STOP = "stop"
    UP = "dot"
    DOWN = "open-dot"


_DRAWN = frozenset({Mark.STOP, Mark.UP, Mark.DOWN})
FILES: Final = frozenset(mark.value for mark in Mark) - {mark.value for mark in _DRAWN}


class HasTokens(Protocol):
    """Who knows the theme in force."""

    @property
    def tokens(self) -> Tokens:
        """The theme in force."""


@cache
def _svg(mark: Mark) -> bytes:
    text = resource(f"icons/{mark.value}.svg").read_bytes()
    return text.replace(_SHIPPED_STROKE, _STROKE)


def mark_size(size: int) -> int:
    """What an icon of `size` pixels at 100 % measures beside the interface's type now, in pixels."""
    return max(1, round(size * interface_scale()))


def paint_mark(
    painter: QPainter, mark: Mark, bounds: QRectF, colour: QColor, turned_degrees: float = 0.0
) -> None:
    """Draw `mark` centred in `bounds`, as large as its shorter side, at the device's real size."""
    device = painter.device()
    ratio = device.devicePixelRatioF() if device is not None else 1.0
    side = min(bounds.width(), bounds.height())
    box = QRectF(0, 0, side, side)
    box.moveCenter(bounds.center())
    pixmap = mark_pixmap(mark, side, colour.name(QColor.NameFormat.HexArgb), ratio, turned_degrees)
    # On a whole device pixel: between two of them every line would blur.
    left, top = round(box.left() * ratio) / ratio, round(box.top() * ratio) / ratio
    painter.drawPixmap(QRectF(left, top, side, side), pixmap, QRectF(pixmap.rect()))


def mark_pixmap(
    mark: Mark, size: float, colour: str, device_ratio: float, turned_degrees: float = 0.0
) -> QPixmap:
    """The mark as a picture of `size` device-independent pixels."""
    device_size = max(1, round(size * device_ratio))
    key = f"mark/{mark.value}/{colour}/{device_size}/{turned_degrees:g}"
    found = QPixmap()
    if not QPixmapCache.find(key, found):
        found = _rendered(mark, QColor(colour), device_size, turned_degrees)
        QPixmapCache.insert(key, found)
    found.setDevicePixelRatio(device_ratio)
    return found


def _rendered(mark: Mark, colour: QColor, device_size: int, turned_degrees: float) -> QPixmap:
    pixmap = QPixmap(device_size, device_size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(0, 0, device_size, device_size)
    if turned_degrees:  # here and not on the window: a turned drawing is sharp, a turned picture is not
        painter.translate(box.center())
        painter.rotate(turned_degrees)
        painter.translate(-box.center())
    if mark in _DRAWN:
        _draw(painter, mark, box, colour)
    else:
        svg = _svg(mark).replace(b"currentColor", colour.name().encode("ascii"))
        QSvgRenderer(QByteArray(svg)).render(painter, box)
    painter.end()
    return pixmap


def _draw(painter: QPainter, mark: Mark, box: QRectF, colour: QColor) -> None:
    """The filled marks, and the engine's dot that is not filled while the engine is down."""
    side = box.width() * (1.0 if mark is Mark.STOP else _DOT_PART)
    dot = QRectF(0, 0, side, side)
    dot.moveCenter(box.center())
    if mark is Mark.DOWN:
        line = max(1.0, side / 6)
        painter.setPen(colour)
        pen = painter.pen()
        pen.setWidthF(line)
        painter.setPen(pen)
        painter.drawEllipse(dot.adjusted(line / 2, line / 2, -line / 2, -line / 2))
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    if mark is Mark.STOP:
        painter.drawRoundedRect(dot, side / 8, side / 8)
    else:
        painter.drawEllipse(dot)


_NO_OTHERS: Final[Mapping[QIcon.Mode, str]] = MappingProxyType({})


def icon(
    mark: Mark, theme: HasTokens, colour: str = "text_2", others: Mapping[QIcon.Mode, str] = _NO_OTHERS
) -> QIcon:
    """An icon that follows the theme by itself: whoever shows it only has to paint again.

    `colour` is a token's name; `others` give a mode (disabled, active) another one. Disabled is `disabled`
    unless told."""
    colours = {QIcon.Mode.Disabled: "disabled", **others}
    return QIcon(_MarkEngine(mark, theme, colour, colours))


class _MarkEngine(QIconEngine):
    """Belongs to its QIcon."""

    def __init__(self, mark: Mark, theme: HasTokens, colour: str, others: Mapping[QIcon.Mode, str]) -> None:
        super().__init__()
        self._mark = mark
        self._theme = theme
        self._colour = colour
        self._others = others

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        """In a painter's own size."""
        paint_mark(painter, self._mark, QRectF(rect), QColor(self._colour_of(mode)))

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, _state: QIcon.State, scale: float) -> QPixmap:
        """`size` counts device-independent pixels since Qt 6.8, `scale` says how many of the device's."""
        return mark_pixmap(self._mark, min(size.width(), size.height()), self._colour_of(mode), scale)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """The same for who knows no scale."""
        return self.scaledPixmap(size, mode, state, 1.0)

    def clone(self) -> QIconEngine:
        """A copy, asked for when a copied QIcon is changed.

        PySide 6.11 leaves the copy with Python although the QIcon deletes it, so Python must not: it is
        given a reference that nobody takes back. Removable once PySide hands the ownership over."""
        made = _MarkEngine(self._mark, self._theme, self._colour, self._others)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        return made

    def _colour_of(self, mode: QIcon.Mode) -> str:
        name = self._others.get(mode, self._colour)
        return str(getattr(self._theme.tokens, name))
