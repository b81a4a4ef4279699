"""Says who is alive: an owner of runs is a lock file that its process keeps locked (DURABILITY.md, rule 12).

Invariant: a file `<uuid>.lock` is never seen unlocked while its maker lives. It is locked under another name
and renamed; where the system does not let a locked file be renamed (Windows), it does not let it be removed
either, and nobody knows the id before `acquire` returns.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, lock_descriptor

from sophos_desktop.foundation.ids import new_id

SUFFIX = ".lock"
_UNBORN_SUFFIX = ".unborn"
_UNBORN_SECONDS = 3600.0
_PROBES = 3


class OwnerLock:
    """The proof that this process lives. Held from `acquire` to `release` or the process's end.

    Whoever makes it keeps a reference: the library frees the lock of an object that is collected.
    """

    def __init__(self, owner_id: str, path: Path, lock: FileLock) -> None:
        """Use `acquire`."""
        self.id = owner_id
        self._path = path
        self._lock = lock

    @classmethod
    def acquire(cls, owners_dir: Path) -> "OwnerLock":
        """Become an owner with a fresh id. Raises OSError if the folder cannot be written."""
        owner_id = new_id()
        path = owners_dir / f"{owner_id}{SUFFIX}"
        renames = sys.platform != "win32"
        made = path.with_suffix(_UNBORN_SUFFIX) if renames else path
        lock = FileLock(made, mode=0o600, thread_local=False, fallback_to_soft=False, preserve_lock_file=True)
        lock.acquire(timeout=10)
        if renames:
            try:
                made.rename(path)
            except BaseException:
                lock.release()
                made.unlink(missing_ok=True)
                raise
        return cls(owner_id, path, lock)

    def release(self) -> None:
        """Stop being an owner: from now on the id counts as dead. A second call does nothing."""
        if not self._lock.is_locked:
            return
        if sys.platform != "win32":  # removed while still locked: nobody finds it unlocked
            self._path.unlink(missing_ok=True)
            self._lock.release()
        else:
            self._lock.release()
            self._path.unlink(missing_ok=True)


def is_alive(owners_dir: Path, owner_id: str) -> bool:
    """True while the owner's process holds its lock, be it this one. An unknown id is dead.

    Makes no file and never keeps an owner from its lock. Raises OSError if the folder cannot be read.
    """
    with _probed(owners_dir / f"{owner_id}{SUFFIX}") as dead:
        return not dead


def sweep(owners_dir: Path) -> None:
    """Remove the lock files of dead owners, also what a process killed in `acquire` left."""
    for path in owners_dir.glob(f"*{SUFFIX}"):
        with _probed(path) as dead:
            if dead and sys.platform != "win32":
                path.unlink(missing_ok=True)
        if dead and sys.platform == "win32":
            path.unlink(missing_ok=True)
    oldest = time.time() - _UNBORN_SECONDS
    for path in owners_dir.glob(f"*{_UNBORN_SUFFIX}"):
        # One that is young may be about to be locked by its maker.
        with _probed(path) as dead:
            if dead and path.exists() and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)


@contextmanager
def _probed(path: Path) -> Iterator[bool]:
    """True if nobody holds the lock of `path`; while the block runs nobody else can take it."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        yield _can_lock(descriptor)
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _can_lock(descriptor: int) -> bool:
        for _ in range(_PROBES):  # there is no shared lock here: whoever else asks is done in no time
            if lock_descriptor(descriptor, blocking=False):
                return True
            time.sleep(0.01)
        return False

else:
    import fcntl

    def _can_lock(descriptor: int) -> bool:
        # Shared: two processes that ask at the same moment must not take each other for the owner.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True
