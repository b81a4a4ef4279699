"""The one SQLite file: how it is opened, written and read.

Invariant: the app's tables have one writer connection (the pool of one is its lock) with immediate
transactions; readers cannot write. Both wait for foreign locks up to `LOCK_WAIT_SECONDS` in short tries,
since a cancelled task stays stuck in SQLite's own wait for all of it (DURABILITY.md, rule 16).
"""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import psutil
from sqlalchemy import URL, event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store.errors import DATABASE_ERRORS, is_busy, store_error
from sophos_desktop.core.store.migrations import CURRENT_VERSION, MIGRATIONS

LOCK_WAIT_SECONDS = 15.0
BUSY_TIMEOUT_MS = 250
RETRY_PAUSE_SECONDS = 0.05
OLDEST_SQLITE = (3, 38, 0)

_T = TypeVar("_T")

PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",
)

_NETWORK_FILE_SYSTEMS = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smbfs",
        "smb3",
        "smb2",
        "afpfs",
        "webdav",
        "davfs",
        "fuse.sshfs",
        "ceph",
        "glusterfs",
    }
)


class Database:
    """Open from `open` to `close`, used on one event loop."""

    def __init__(self, path: Path, *, lock_wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        """`path`: the file; its folder must exist."""
        self.path = path
        self.lock_wait_seconds = lock_wait_seconds
        self._writer = _make_engine(path, read_only=False)
        self._reader = _make_engine(path, read_only=True)

    async def open(self, backups_dir: Path) -> None:
        """Check the file and bring its schema up to date. Raises SophosError STORE_*."""
        refuse_unsuitable(self.path)
        with self._translated():
            _touch(self.path)
            version = await self._patiently(self._read_version)
            self._refuse_newer(version)
            await self._patiently(self._connect_writer)
            if version < CURRENT_VERSION:
                await self._migrate(version, backups_dir)
            else:
                # The program has started well since the last migration: deleted texts must not live on there.
                await asyncio.to_thread(_remove_backups, self.path, backups_dir)

    async def _patiently(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.lock_wait_seconds
        while True:
            try:
                return await attempt()
            except DATABASE_ERRORS as error:
                if not is_busy(error) or loop.time() >= deadline:
                    raise
            await asyncio.sleep(RETRY_PAUSE_SECONDS)

    async def _read_version(self) -> int:
        # Without the writer: its first connection changes the file's journal mode.
        async with self._reader.connect() as connection:
            return int((await connection.exec_driver_sql("PRAGMA user_version")).scalar_one())

    async def _connect_writer(self) -> None:
        # Switching a fresh file to WAL needs the lock for a moment.
        async with self._writer.connect():
            pass

    async def _migrate(self, version: int, backups_dir: Path) -> None:
        if version > 0:
            backup = backups_dir / f"{self.path.stem}-schema-{version}.db"
            await asyncio.to_thread(_copy_database, self.path, backup)
        async with self.write() as connection:
            # Another process may have migrated while this one waited for the lock.
            current = int((await connection.exec_driver_sql("PRAGMA user_version")).scalar_one())
            self._refuse_newer(current)
            for number in range(current, CURRENT_VERSION):
                for statement in MIGRATIONS[number]:
                    await connection.exec_driver_sql(statement)
            await connection.exec_driver_sql(f"PRAGMA user_version={CURRENT_VERSION}")

    def _refuse_newer(self, version: int) -> None:
        if version > CURRENT_VERSION:
            raise SophosError(
                ErrorCode.STORE_TOO_NEW,
                f"{self.path} was written by a newer version of Sophos (schema {version})",
                f"Install that version again; this one reads up to schema {CURRENT_VERSION}",
            )

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """One immediate transaction: committed at the end of the block, rolled back by any exception.

        Raises SophosError STORE_BUSY, STORE_FULL, STORE_READ_ONLY, STORE_CORRUPT or STORE_UNREACHABLE."""
        # Counted from here: whoever queues behind a writer that waits must not wait anew.
        deadline = asyncio.get_running_loop().time() + self.lock_wait_seconds
        with self._translated():
            async with self._writer.connect() as connection:
                transaction = await self._begin(connection, deadline)
                try:
                    yield connection
                except BaseException:
                    await transaction.rollback()
                    raise
                await transaction.commit()

    async def _begin(self, connection: AsyncConnection, deadline: float) -> Any:
        loop = asyncio.get_running_loop()
        while True:
            try:
                return await connection.begin()
            except DATABASE_ERRORS as error:
                if not is_busy(error) or loop.time() >= deadline:
                    raise
            await asyncio.sleep(RETRY_PAUSE_SECONDS)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection that cannot write; what is read within one block may span several commits."""
        with self._translated():
            async with self._reader.connect() as connection:
                yield connection

    def _translated(self) -> "_Translated":
        return _Translated(self.path)

    async def integrity_problems(self) -> list[str]:
        """What SQLite's quick check finds wrong; empty if the file is sound."""
        async with self.read() as connection:
            lines = (await connection.exec_driver_sql("PRAGMA quick_check(20)")).scalars().all()
        return [line for line in lines if line != "ok"]

    async def checkpoint_wal(self) -> None:
        """Fold the write-ahead log into the file, if no other process reads."""
        with self._translated():
            async with self._writer.connect() as connection:
                # On the driver's connection: SQLAlchemy's would begin a transaction, and fail for it.
                driver = (await connection.get_raw_connection()).driver_connection
                assert driver is not None
                await driver.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    async def close(self) -> None:
        """Close both connections' pools."""
        await self._reader.dispose()
        await self._writer.dispose()


class _Translated:
    """Turns database errors that leave the block into the store's errors."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, (OSError, *DATABASE_ERRORS)):
            known = _from_os_error(error, self._path) or store_error(error, self._path)
            if known is not None:
                raise known from error


def _from_os_error(error: BaseException, path: Path) -> SophosError | None:
    if not isinstance(error, OSError):
        return None
    if isinstance(error, PermissionError):
        return SophosError(
            ErrorCode.STORE_READ_ONLY,
            f"{path} cannot be written",
            "Give your user the right to write the file and its folder, or choose another with --data-dir",
        )
    return SophosError(
        ErrorCode.STORE_UNREACHABLE,
        f"{path} cannot be opened: {error.strerror or error}",
        "Check that its folder exists and is yours, and that no folder stands in the file's place",
    )


def refuse_unsuitable(path: Path) -> None:
    """Raises SophosError STORE_UNSUPPORTED for a network file system or a SQLite that is too old."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise SophosError(
            ErrorCode.STORE_UNSUPPORTED,
            f"SQLite {sqlite3.sqlite_version} is too old",
            "Use a Python that brings SQLite 3.38 or later",
        )
    kind = file_system_of(path)
    if kind in _NETWORK_FILE_SYSTEMS:
        raise SophosError(
            ErrorCode.STORE_UNSUPPORTED,
            f"{path} lies on a network file system ({kind}), where SQLite cannot keep its promises",
            "Choose a folder on a local disk with --data-dir",
        )


def file_system_of(path: Path) -> str:
    """The type of the file system that holds `path`, in the system's words; empty if unknown."""
    target = path.resolve()
    best = ""
    kind = ""
    for partition in psutil.disk_partitions(all=True):
        mount = Path(partition.mountpoint)
        if len(partition.mountpoint) >= len(best) and (mount == target or mount in target.parents):
            best, kind = partition.mountpoint, partition.fstype
    return kind.lower()


def _touch(path: Path) -> None:
    """Make the file with the right mode before SQLite does; its -wal and -shm inherit it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.close(descriptor)


def _remove_backups(path: Path, backups_dir: Path) -> None:
    for backup in backups_dir.glob(f"{path.stem}-schema-*.db"):
        backup.unlink(missing_ok=True)


def _copy_database(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = target.with_suffix(".part")
    _touch(scratch)
    with sqlite3.connect(source) as original, sqlite3.connect(scratch) as copy:
        original.backup(copy)
    copy.close()
    original.close()
    shutil.move(scratch, target)


def _make_engine(path: Path, *, read_only: bool) -> AsyncEngine:
    if read_only:
        # Bytes: under an ASCII locale the path may hold what is no character.
        name = "file:" + quote(os.fsencode(path))
        url = URL.create("sqlite+aiosqlite", database=name, query={"mode": "ro", "uri": "true"})
        pool = {"pool_size": 2, "max_overflow": 2}
    else:
        url = URL.create("sqlite+aiosqlite", database=str(path))
        pool = {"pool_size": 1, "max_overflow": 0}
    engine = create_async_engine(
        url,
        # Errors carry the values of their statement otherwise, and so the text of a chat into the log.
        hide_parameters=True,
        poolclass=AsyncAdaptedQueuePool,
        pool_timeout=60,
        connect_args={"isolation_level": None},
        **pool,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _configure(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        pragmas = (f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}", "PRAGMA query_only=ON") if read_only else PRAGMAS
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    if not read_only:

        @event.listens_for(engine.sync_engine, "begin")
        def _begin_immediate(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
