"""Writes a whole file, at once or piece by piece, or nothing.

Invariant: whoever reads the path sees the old bytes or the new ones, also after a power cut: temporary file
in the same folder, fsync, replace, fsync of the folder.
"""

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace `path` by `data`. A symbolic link stays one: what it points to is replaced.

    The folder must exist. Raises OSError as the system gives it; then the old file is untouched and no
    temporary file is left.
    """
    with atomic_writer(path, mode=mode) as file:
        file.write(data)


@contextmanager
def atomic_writer(path: Path, *, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` at the end of the block.

    If the block raises, whatever it raises, `path` is untouched and no temporary file is left; else as
    `write_atomically`.
    """
    target = Path(os.path.realpath(path))
    _refuse_what_is_no_file(target)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".sophos-", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _refuse_what_is_no_file(target: Path) -> None:
    """Replacing a device or a pipe would take it away from every program of this machine."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return  # it is not there, or what comes next says why it cannot be reached
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is a device or a pipe and no file", str(target))


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":  # a folder cannot be opened there, and a replace needs no more
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
