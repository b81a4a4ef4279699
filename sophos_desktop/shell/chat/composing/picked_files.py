"""Reads what a person chose to attach; runs off the GUI thread.

Invariant: only regular files are opened, none blocks, and no more is read than could be kept.
"""

import errno
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage

from sophos_desktop.core.domain.attaching import (
    LARGEST_IMAGE_BYTES,
    LARGEST_TEXT_BYTES,
    image_type,
    too_large,
)
from sophos_desktop.core.domain.errors import ErrorCode, SophosError

LARGEST_PIXELS: Final = 64_000_000
"""A picture on the clipboard with more than that is not compressed: it would take seconds and not fit."""
_HEAD_BYTES = 16  # enough to tell an image
_CHOOSE = "Choose a text file or an image"
_WITHOUT_WAITING = (
    getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | os.O_RDONLY
)


@dataclass(frozen=True, slots=True)
class Picked:
    """What is to be attached, with its bytes."""

    name: str
    content: bytes = field(repr=False)


def read_file(path: Path) -> Picked:
    """A regular file. Raises SophosError BAD_REQUEST with the system's reason."""
    try:
        _refuse_special(path.stat().st_mode)  # opening a device may do something already
        descriptor = os.open(path, _WITHOUT_WAITING)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            _refuse_special(found.st_mode)
            head = file.read(_HEAD_BYTES)
            is_image = image_type(head) is not None
            largest = LARGEST_IMAGE_BYTES if is_image else LARGEST_TEXT_BYTES
            # One byte more than may be: a file that grows meanwhile is noticed.
            content = head + (file.read(largest) if found.st_size <= largest else b"")
            size_bytes = max(found.st_size, len(content))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SophosError(
            ErrorCode.BAD_REQUEST, f"{path.name} cannot be attached: {reason}", _CHOOSE
        ) from error
    if size_bytes > largest:
        raise too_large(path.name, size_bytes, largest, is_image=is_image)
    return Picked(path.name, content)


def encode_picture(picture: QImage, name: str) -> Picked:
    """A picture that came without a file, as PNG. Raises SophosError BAD_REQUEST."""
    if picture.isNull() or picture.width() * picture.height() > LARGEST_PIXELS:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            f"This picture has {picture.width():,} × {picture.height():,} pixels and cannot be attached",
            "Paste a smaller part of it, or save it as a file and attach that",
        )
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")  # type: ignore[call-overload]  # the stub wants bytes, PySide 6.11 a str
    content = bytes(buffer.data().data())
    buffer.close()
    return Picked(name, content)


def _refuse_special(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file")
