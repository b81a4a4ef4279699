"""What lies on the clipboard, or is dragged over the window, as things that can be attached.

Invariant: text is never one of them; a URL is one only if it names a file of this machine. Nothing is read
from the disk here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

_PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}
_NAME = "pasted image"


@dataclass(frozen=True, slots=True)
class Incoming:
    """One thing to attach: a file, a picture as it was encoded by its owner, or a picture."""

    name: str
    path: Path | None = None
    content: bytes | None = None
    picture: QImage | None = None


def count_of(mime: QMimeData) -> int:
    """How many things could be attached, without fetching them."""
    if paths := _paths(mime):
        return len(paths)
    return int(_is_picture(mime))


def incoming_from(mime: QMimeData) -> Sequence[Incoming]:
    """What could be attached; nothing if it is text."""
    if paths := _paths(mime):
        return [Incoming(path.name or str(path), path=path) for path in paths]
    if not _is_picture(mime):
        return ()
    for kind, suffix in _PICTURES.items():
        # As its owner encoded it: no copy of the pixels is made, and nothing is lost.
        if mime.hasFormat(kind) and (content := bytes(mime.data(kind).data())):
            return [Incoming(f"{_NAME}.{suffix}", content=content)]
    picture = mime.imageData()
    if isinstance(picture, QImage) and not picture.isNull():
        return [Incoming(f"{_NAME}.png", picture=picture)]
    return ()


def _paths(mime: QMimeData) -> list[Path]:
    urls = mime.urls() if mime.hasUrls() else []
    local = [Path(url.toLocalFile()) for url in urls if url.isLocalFile() and not url.host()]
    return local if len(local) == len(urls) else []


def _is_picture(mime: QMimeData) -> bool:
    """Office programs put a picture of what was copied beside its text: then the text is meant."""
    is_text = mime.hasFormat("text/plain") or mime.hasUrls()
    return not is_text and (mime.hasImage() or any(mime.hasFormat(kind) for kind in _PICTURES))
