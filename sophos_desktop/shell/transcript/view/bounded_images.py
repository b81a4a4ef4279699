"""Shows images that tools returned or the user attached, within bounds.

Invariant: an image is decoded on a thread of its own, at most as wide as the column, and one that is too
large or malformed costs a placeholder and nothing else. Only the provider's bytes are read, as pixels.
"""

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QIODevice,
    QObject,
    QRectF,
    QRunnable,
    QSize,
    Qt,
    QThreadPool,
    Signal,
)
from PySide6.QtGui import QImage, QImageReader, QPainter

from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.transcript.drawing.looks import Looks
from sophos_desktop.shell.transcript.model.transcript_model import MessageImage
from sophos_desktop.shell.transcript.view.dashed_frame import paint_dashed_frame

ImageProvider = Callable[[str], bytes | None]
"""Gives an image's bytes by its key, on the GUI thread; None while they are still being read, none at all
(`b""`) of one that cannot be had."""

HIGHEST = 480  # pixels on the screen
THUMBNAIL = (240, 180)
PLACEHOLDER = 46
_SMALL_PLACEHOLDER = 360
MOST_BYTES = 32 * 1024 * 1024
_MOST_DECODED_MEGABYTES = 128
_KEPT = 40
_FORMATS = (b"png", b"jpeg", b"jpg", b"gif", b"webp", b"bmp")


def decode(content: bytes, widest: int, ratio: float, highest: int = HIGHEST) -> QImage:
    """The first frame of an image, at most `widest` by `highest` pixels of the screen; null if it cannot be
    shown."""
    if len(content) > MOST_BYTES:
        return QImage()
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    # By content: a name or type may lie, and formats that refer to other files (SVG) are not among these.
    reader.setDecideFormatFromContent(True)
    if bytes(reader.format().data()) not in _FORMATS:
        return QImage()
    QImageReader.setAllocationLimit(_MOST_DECODED_MEGABYTES)
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        return QImage()
    pixels = size.width() * size.height() * 4
    if pixels > _MOST_DECODED_MEGABYTES * 1024 * 1024:
        return QImage()
    shown = QSize(round(widest * ratio), round(highest * ratio))
    if size.width() > shown.width() or size.height() > shown.height():
        reader.setScaledSize(size.scaled(shown, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1)))
    image = reader.read()
    if not image.isNull():
        image.setDevicePixelRatio(ratio)
    return image


class DecodingBridge(QObject):
    """Carries images to the GUI thread."""

    decoded = Signal(str, QImage)


class Decoding(QRunnable):
    """One image."""

    def __init__(self, bridge: DecodingBridge, key: str, content: bytes, bounds: QSize, ratio: float) -> None:
        super().__init__()
        self._bridge = bridge
        self._key = key
        self._content = content
        self._bounds = bounds
        self._ratio = ratio

    def run(self) -> None:
        widest, highest = self._bounds.width(), self._bounds.height()
        self._bridge.decoded.emit(self._key, decode(self._content, widest, self._ratio, highest))


class BoundedImages(QObject):
    """Lives as long as its view, on the GUI thread."""

    def __init__(self, on_ready: Callable[[], None], parent: QObject) -> None:
        """`on_ready` is called when an image is there; without a provider all are placeholders."""
        super().__init__(parent)
        self._provider: ImageProvider | None = None
        self._widest, self._ratio = 1, 1.0
        self._on_ready = on_ready
        self._images: OrderedDict[str, QImage | None] = OrderedDict()
        self._bridge = DecodingBridge(self)
        self._bridge.decoded.connect(self._on_decoded)
        self.pool = QThreadPool(self)
        self.pool.setMaxThreadCount(1)
        self.pool.setExpiryTimeout(100)

    def set_provider(self, provider: ImageProvider) -> None:
        """Who gives the bytes."""
        self._provider = provider
        self._images.clear()

    def look_again(self) -> None:
        """The provider has an image that it did not have."""
        self._on_ready()

    def wait(self) -> None:
        """Until nothing is being decoded."""
        self.pool.waitForDone(10_000)

    def _image(self, image: MessageImage) -> QImage | None:
        """None while it is on its way, a null image if it cannot be shown."""
        key = _key(image)
        if key in self._images:
            self._images.move_to_end(key)
            return self._images[key]
        content = self._provider(image.key) if self._provider is not None else b""
        if content is None:
            return None
        self._images[key] = None
        bounds = QSize(*(THUMBNAIL if image.is_thumbnail else (self._widest, HIGHEST)))
        self.pool.start(Decoding(self._bridge, key, content, bounds, self._ratio))
        while len(self._images) > _KEPT:
            self._images.popitem(last=False)
        return None

    def _on_decoded(self, key: str, image: QImage) -> None:
        if key in self._images:
            self._images[key] = image
            self._on_ready()

    def height(self, image: MessageImage, widest: int, ratio: float) -> int:
        """Pixels of the view."""
        self._widest, self._ratio = widest, ratio
        found = self._image(image)
        if found is None or found.isNull():
            return PLACEHOLDER
        return max(1, round(found.height() / found.devicePixelRatio()))

    def revision(self, image: MessageImage) -> object:
        """Another one when it looks different. An image that was forgotten is asked for again."""
        found = self._image(image)
        return None if found is None else found.cacheKey()

    def area(self, image: MessageImage, place: QRectF) -> QRectF:
        """What an image, or its placeholder, fills of `place`: at its left, a thumbnail at its right."""
        found = self._images.get(_key(image))
        if found is not None and not found.isNull():
            ratio = found.devicePixelRatio()
            width, height = found.width() / ratio, found.height() / ratio
        else:
            width = min(place.width(), _SMALL_PLACEHOLDER) if image.is_thumbnail else place.width()
            height = PLACEHOLDER
        left = round(place.right() - width) if image.is_thumbnail else place.left()
        return QRectF(left, place.top(), width, height)

    def paint(self, painter: QPainter, image: MessageImage, place: QRectF, looks: Looks) -> None:
        """The image, or its placeholder, where `area` says."""
        found = self._images.get(_key(image))
        area = self.area(image, place)
        if found is not None and not found.isNull():
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(area, found)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_dashed_frame(painter, area, 8, looks.colour("border_control"))
        icon = QRectF(area.left() + 15, area.center().y() - 8, 16, 16)
        paint_mark(painter, Mark.NO_IMAGE, icon, looks.colour("text_2"))
        painter.setFont(looks.font(looks.tokens.type.interface))
        painter.setPen(looks.colour("text_2"))
        words = "Image is being read" if found is None else "Image cannot be shown"
        text = f"{words}: {image.name}" if image.name else words
        room = area.adjusted(42, 0, -16, 0)
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, round(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


def _key(image: MessageImage) -> str:
    """One image may be shown in two sizes."""
    return f"small {image.key}" if image.is_thumbnail else image.key
