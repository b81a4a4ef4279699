"""A window of another program, from which things are dragged with a real pointer.

Takes JSON lines on stdin, what the next drag offers: `{"files": [PATHS]}`, `{"urls": [URLS]}`,
`{"text": TEXT}`, `{"image": true}`, together or alone. Prints JSON lines: where its middle is, when a drag
began, each action that the window below the pointer agrees to, and what a drop came to. It would rather move
than copy, as a file manager may.
"""

import json
import sys
import threading
from typing import Any

from PySide6.QtCore import QMimeData, QObject, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QColor, QDrag, QImage, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

SIDE = 200
_MOVES = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction


class Source(QWidget):
    """Offers what it was told last."""

    def __init__(self) -> None:
        super().__init__(None, Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint)
        self.setGeometry(20, 40, SIDE, SIDE)
        self._offer: dict[str, Any] = {}

    def offer(self, line: str) -> None:
        """Take this for the next drag."""
        self._offer = json.loads(line)
        at = self.mapToGlobal(QPoint(SIDE // 2, SIDE // 2))
        _tell(at=at.toTuple())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The button is down: drag."""
        drag = QDrag(self)
        drag.setMimeData(_mime(self._offer))
        drag.actionChanged.connect(lambda action: _tell(action=action.name))
        _tell(began=True)
        _tell(dropped=drag.exec(_MOVES, Qt.DropAction.MoveAction).name)


def _mime(offer: dict[str, Any]) -> QMimeData:
    mime = QMimeData()
    if "files" in offer:
        mime.setUrls([QUrl.fromLocalFile(path) for path in offer["files"]])
    if "urls" in offer:
        mime.setUrls([QUrl(url) for url in offer["urls"]])
    if "text" in offer:
        mime.setText(offer["text"])
    if offer.get("image"):
        image = QImage(64, 64, QImage.Format.Format_RGB32)
        image.fill(QColor(20, 120, 200))
        mime.setImageData(image)
    return mime


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


class _Lines(QObject):
    """Brings lines from the thread that reads them."""

    came = Signal(str)
    ended = Signal()


def main() -> int:
    """Run until stdin ends."""
    application = QApplication(sys.argv[:1])
    source, lines = Source(), _Lines()
    lines.came.connect(source.offer)
    lines.ended.connect(application.quit)
    source.show()

    def read() -> None:
        for line in sys.stdin:
            lines.came.emit(line)
        lines.ended.emit()

    threading.Thread(target=read, daemon=True).start()
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
