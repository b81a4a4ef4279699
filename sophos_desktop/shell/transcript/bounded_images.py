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
from PySide6.QtGui import QImage, QImageReader, QPainter, QPen

from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.transcript.looks import Looks
from sophos_desktop.shell.transcript.transcript_model import MessageImage

ImageProvider = Callable[[str], bytes | None]
"""Gives an image's bytes by its key; called on the GUI thread."""

HIGHEST = 480  # pixels on the screen
PLACEHOLDER = 46
_MOST_BYTES = 32 * 1024 * 1024
_MOST_DECODED_MEGABYTES = 128
_KEPT = 40
_FORMATS = (b"png", b"jpeg", b"jpg", b"gif", b"webp", b"bmp")


def decode(content: bytes, widest: int, ratio: float) -> QImage:
    """The first frame of an image, at most `widest` pixels wide on the screen; null if it cannot be shown."""
    if len(content) > _MOST_BYTES:
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
    shown = QSize(round(widest * ratio), round(HIGHEST * ratio))
    if size.width() > shown.width() or size.height() > shown.height():
        reader.setScaledSize(size.scaled(shown, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1)))
    image = reader.read()
    if not image.isNull():
        image.setDevicePixelRatio(ratio)
    return image


class _Bridge(QObject):
    """Carries images to the GUI thread."""

    decoded = Signal(str, QImage)


class _Decoding(QRunnable):
    """One image."""

    def __init__(self, bridge: _Bridge, key: str, content: bytes, widest: int, ratio: float) -> None:
        super().__init__()
        self._bridge = bridge
        self._key = key
        self._content = content
        self._widest = widest
        self._ratio = ratio

    def run(self) -> None:
        self._bridge.decoded.emit(self._key, decode(self._content, self._widest, self._ratio))


class BoundedImages(QObject):
    """Lives as long as its view, on the GUI thread."""

    def __init__(self, on_ready: Callable[[], None], parent: QObject) -> None:
        """`on_ready` is called when an image is there; without a provider all are placeholders."""
        super().__init__(parent)
        self._provider: ImageProvider | None = None
        self._on_ready = on_ready
        self._images: OrderedDict[str, QImage | None] = OrderedDict()
        self._bridge = _Bridge(self)
        self._bridge.decoded.connect(self._on_decoded)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(100)

    def set_provider(self, provider: ImageProvider) -> None:
        """Who gives the bytes."""
        self._provider = provider
        self._images.clear()

    def wait(self) -> None:
        """Until nothing is being decoded."""
        self._pool.waitForDone(10_000)

    def _image(self, key: str, widest: int, ratio: float) -> QImage | None:
        """None while it is on its way, a null image if it cannot be shown."""
        if key in self._images:
            self._images.move_to_end(key)
            return self._images[key]
        content = self._provider(key) if self._provider is not None else None
        if content is None:
            self._images[key] = QImage()
            return self._images[key]
        self._images[key] = None
        self._pool.start(_Decoding(self._bridge, key, content, widest, ratio))
        while len(self._images) > _KEPT:
            self._images.popitem(last=False)
        return None

    def _on_decoded(self, key: str, image: QImage) -> None:
        if key in self._images:
            self._images[key] = image
            self._on_ready()

    def height(self, image: MessageImage, widest: int, ratio: float) -> int:
        """Pixels of the view."""
        found = self._image(image.key, widest, ratio)
        if found is None or found.isNull():
            return PLACEHOLDER
        return max(1, round(found.height() / found.devicePixelRatio()))

    def revision(self, image: MessageImage) -> object:
        """Another one when it looks different."""
        found = self._images.get(image.key)
        return None if found is None else found.cacheKey()

    def paint(self, painter: QPainter, image: MessageImage, place: QRectF, looks: Looks) -> None:
        """The image at the left of `place`, or its placeholder."""
        found = self._images.get(image.key)
        if found is not None and not found.isNull():
            ratio = found.devicePixelRatio()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            area = QRectF(place.left(), place.top(), found.width() / ratio, found.height() / ratio)
            painter.drawImage(area, found)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(looks.colour("border_control"), 1, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        frame = QRectF(place.left(), place.top(), place.width(), PLACEHOLDER)
        painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        icon = QRectF(frame.left() + 15, frame.center().y() - 8, 16, 16)
        paint_mark(painter, Mark.NO_IMAGE, icon, looks.colour("text_2"))
        painter.setFont(looks.font(looks.tokens.type.interface))
        painter.setPen(looks.colour("text_2"))
        words = (
            "Image is being read" if image.key in self._images and found is None else "Image cannot be shown"
        )
        text = f"{words}: {image.name}" if image.name else words
        area = frame.adjusted(42, 0, -16, 0)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
