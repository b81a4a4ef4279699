"""A window for one image, as large as the screen allows.

Invariant: it is decoded on a thread of its own, within the bounds of the transcript's images; what cannot be
decoded is said in words.
"""

from PySide6.QtCore import QRectF, QSize, Qt, QThreadPool
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.transcript.cards.facts import size_words
from sophos_desktop.shell.transcript.view.bounded_images import Decoding, DecodingBridge
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog

_LARGEST = QSize(2_000, 2_000)


class ImageWindow(PlainDialog):
    """Closes for good when it is closed."""

    def __init__(self, title: str, content: bytes, pool: QThreadPool, parent: QWidget) -> None:
        """`title` is that of the window; `pool` decodes."""
        super().__init__("imageWindow", title, parent, 760, 560)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.view = _ImageView(self)
        self.view.setAccessibleName(title)
        self.body.addWidget(self.view, 1)
        self._size = size_words(len(content))
        self.note.setText("Image is being read")
        bridge = DecodingBridge(pool)  # it outlives a window that is closed meanwhile
        bridge.decoded.connect(self._on_decoded)
        bridge.decoded.connect(bridge.deleteLater)
        pool.start(Decoding(bridge, "", content, _LARGEST, parent.devicePixelRatioF()))

    def _on_decoded(self, _key: str, image: QImage) -> None:
        if image.isNull():
            self.note.setText(f"Image cannot be shown, {self._size}")
            return
        self.view.show_image(image)
        self.note.setText(self._size)


class _ImageView(QWidget):
    """The image in the middle, never larger than it is."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("imageView")
        self.image = QImage()

    def show_image(self, image: QImage) -> None:
        """Show this one."""
        self.image = image
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """As large as there is room."""
        if self.image.isNull():
            return
        own = self.image.deviceIndependentSize()
        shown = own
        if own.width() > self.width() or own.height() > self.height():
            shown = own.scaled(self.width(), self.height(), Qt.AspectRatioMode.KeepAspectRatio)
        left, top = (self.width() - shown.width()) / 2, (self.height() - shown.height()) / 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(left, top, shown.width(), shown.height()), self.image)
        painter.end()
