"""Reads the small text files that people edit by hand.

Invariant: what is no regular file, or is larger than a text anybody writes by hand, is refused before it is
read: a pipe would block for ever, a device would fill the memory.
"""

import errno
import os
import stat
from pathlib import Path

LARGEST_BYTES = 4 * 1024 * 1024


def read_small_text(path: Path) -> str:
    """The file's text, without a byte order mark. Raises OSError; UnicodeDecodeError if it is no UTF-8."""
    refuse_special(path)
    if path.stat().st_size > LARGEST_BYTES:
        raise OSError(errno.EFBIG, "it is larger than 4 MB")
    return path.read_text(encoding="utf-8-sig")


def refuse_special(path: Path) -> None:
    """Raises OSError for a pipe, a device or a socket, FileNotFoundError if there is nothing."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file")
