"""Turns SQLite's primary result codes into the store's errors.

Invariant: each result code that an environment can cause has its code and remedy; any other database
error is a bug of ours and passes through.
"""

import errno
import sqlite3
from contextlib import suppress
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from sophos_desktop.core.domain.errors import ErrorCode, SophosError

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
# What SQLite needs for its index of a log of any size, and some pages more.
_PROBE_BYTES = 65_536
_BUSY, _LOCKED, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 5, 6, 8, 10, 11, 13, 14, 26

_WORDS: dict[int, tuple[ErrorCode, str, str]] = {
    _BUSY: (
        ErrorCode.STORE_BUSY,
        "Another program keeps {path} locked",
        "Close the program that uses the file, then try again; nothing was lost",
    ),
    _READONLY: (
        ErrorCode.STORE_READ_ONLY,
        "{path} cannot be written",
        "Give your user the right to write the file and its folder, or choose another with --data-dir",
    ),
    _IOERR: (
        ErrorCode.STORE_UNREACHABLE,
        "The disk does not answer for {path}",
        "Check that the disk is connected and healthy, then start again",
    ),
    _CORRUPT: (
        ErrorCode.STORE_CORRUPT,
        "{path} is damaged or is no Sophos database",
        "Keep the file, put a backup from the backups folder in its place, or choose another --data-dir",
    ),
    _FULL: (
        ErrorCode.STORE_FULL,
        "There is no space left for {path}",
        "Free some space on the disk, then try again; everything that was stored before is there",
    ),
    _CANTOPEN: (
        ErrorCode.STORE_UNREACHABLE,
        "{path} cannot be opened",
        "Check that its folder exists and is yours, and that no folder stands in the file's place",
    ),
}
_WORDS[_LOCKED] = _WORDS[_BUSY]
_WORDS[_NOTADB] = _WORDS[_CORRUPT]


def primary_code(error: BaseException) -> int | None:
    """SQLite's primary result code of an error, looked for through its causes; None if there is none."""
    seen: BaseException | None = error
    while seen is not None:
        code = getattr(seen, "sqlite_errorcode", None)
        if isinstance(code, int):
            return code & 0xFF
        seen = seen.orig if isinstance(seen, DBAPIError) and seen.orig is not seen else seen.__cause__
    return None


def is_busy(error: BaseException) -> bool:
    """True if somebody else holds the lock."""
    return primary_code(error) in (_BUSY, _LOCKED)


def store_error(error: BaseException, path: Path) -> SophosError | None:
    """The store's error for a database error, or None if it is a bug."""
    code = primary_code(error)
    if code == _IOERR and _has_no_room(path):
        code = _FULL
    words = _WORDS.get(code) if code is not None else None
    if words is None:
        return None
    kind, title, remedy = words
    return SophosError(kind, title.format(path=path), remedy)


def _has_no_room(path: Path) -> bool:
    """True if a file as large as the database or its log cannot grow.

    SQLite says “full” only where it writes pages and the reason is ENOSPC: a quota, a limit of the file's
    size, or no room for its index is a broken disk to it."""
    probe = path.with_name(f"{path.name}-probe")
    files = (path, path.with_name(f"{path.name}-wal"))
    try:
        size = max((file.stat().st_size for file in files if file.exists()), default=0)
        with probe.open("wb", buffering=0) as file:
            file.seek(size)
            return file.write(bytes(_PROBE_BYTES)) < _PROBE_BYTES
    except OSError as error:
        return error.errno in _NO_ROOM
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


DATABASE_ERRORS = (DBAPIError, sqlite3.Error)
