"""What a person attaches to a message in a window test, and what the chips say of it."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QImage
from PySide6.QtWidgets import QFrame, QWidget

from sophos_desktop.shell.chat.composing.attachment_chip import AttachmentChip
from sophos_desktop.shell.chat.composing.composer_frame import ComposerFrame
from tests.support.window import WindowRig

EITHER = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
LEFT = Qt.MouseButton.LeftButton
NO_KEYS = Qt.KeyboardModifier.NoModifier


def frame(rig: WindowRig) -> ComposerFrame:
    """The composer with everything around."""
    return rig.find(ComposerFrame, "composerFrame")


def chips(rig: WindowRig) -> Sequence[AttachmentChip]:
    """Those in the composer."""
    return frame(rig).chips.chips


def names(rig: WindowRig) -> list[str]:
    """What the chips say, once nothing is read any more."""
    return [chip.name for chip in chips(rig) if chip.attachment is not None]


def queued_names(rig: WindowRig) -> list[str]:
    """Those of the message that waits."""
    bar = rig.find(QFrame, "queuedMessage")
    return [chip.name for chip in bar.findChildren(AttachmentChip) if chip.isVisible()]


def queues_last(rig: WindowRig, name: str) -> bool:
    """True if the message that waits ends with this one."""
    return queued_names(rig)[-1:] == [name]


def file(folder: Path, name: str, content: str = "a;b\n") -> Path:
    """A text file."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def of_files(*paths: Path) -> QMimeData:
    """What a file manager puts on the clipboard."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    mime.setText("\n".join(str(path) for path in paths))  # as file managers do
    return mime


def picture(colour: int = 5, side: int = 8) -> QImage:
    """A small one."""
    image = QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(colour)
    return image


def of_picture() -> QMimeData:
    """What a program that shows pictures puts on the clipboard."""
    mime = QMimeData()
    mime.setImageData(picture())
    return mime


def paste(rig: WindowRig, mime: QMimeData) -> None:
    """As Ctrl+V does."""
    rig.composer.setFocus()
    rig.composer.insertFromMimeData(mime)


def attach(rig: WindowRig, *paths: Path) -> None:
    """Paste files."""
    paste(rig, of_files(*paths))


def drag(over: QWidget, mime: QMimeData) -> QDragEnterEvent:
    """Something is dragged over a part of the window."""
    event = QDragEnterEvent(QPoint(5, 5), EITHER, mime, LEFT, NO_KEYS)
    QCoreApplication.sendEvent(over, event)
    return event
