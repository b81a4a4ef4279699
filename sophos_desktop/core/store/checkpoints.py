"""LangGraph's checkpointer on its own connection to the same file, and a reader of histories beside it.

Invariant: a put is complete or not there: it is never left half done by a cancelled task (an open
transaction on this connection would lock everybody else out), and a foreign lock is waited for. Whoever
records an outcome first waits until the puts of its thread are done (DURABILITY.md, rules 10, 16, 17).
A reader has a connection of its own that cannot write, so that no run ever waits for it.
"""

import asyncio
import builtins
import logging
import os
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store import delta_gaps
from sophos_desktop.core.store.database import (
    LOCK_WAIT_SECONDS,
    PRAGMAS,
    RETRY_PAUSE_SECONDS,
)
from sophos_desktop.core.store.errors import DATABASE_ERRORS, is_busy, store_error
from sophos_desktop.core.store.serializer import StrictSerializer
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.tasks import TaskOwner

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

CheckpointListener = Callable[[str, int, str], Awaitable[None]]
"""Called with (checkpoint_id, step, source) after the checkpoint's commit."""

PAGE_LENGTH = 100
_READER_WAIT_SECONDS = 5.0


class CheckpointStore(AsyncSqliteSaver):
    """The saver of all threads; lives from `open_checkpoints` to `close`, on one event loop."""

    def __init__(
        self, connection: aiosqlite.Connection, path: Path, lock_wait_seconds: float = LOCK_WAIT_SECONDS
    ) -> None:
        """`connection`: already configured; `path`: for the words of errors."""
        super().__init__(connection, serde=StrictSerializer())
        self._path = path
        self._lock_wait_seconds = lock_wait_seconds
        self._puts: dict[str, set[asyncio.Task[Any]]] = {}
        self._listeners: dict[str, CheckpointListener] = {}
        self._tasks = TaskOwner(lambda error: _log.debug("a put failed: %s", error))

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def listen(self, thread_id: str, listener: CheckpointListener) -> Callable[[], None]:
        """Call `listener` after each commit of a checkpoint of the thread; returns what ends that."""
        self._listeners[thread_id] = listener
        return lambda: self._listeners.pop(thread_id, None) and None

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A stored checkpoint. Raises SophosError STORE_*, UnreadableCheckpoint."""
        try:
            return await super().aget_tuple(config)
        except DATABASE_ERRORS as error:
            known = store_error(error, self._path)
            if known is None:
                raise
            raise known from error

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What a checkpoint's channels are made of. Raises SophosError STORE_*, UnreadableCheckpoint, also
        where something that was written is not there any more."""
        try:
            history = await super().aget_delta_channel_history(config=config, channels=channels)
            await self._refuse_gaps(delta_gaps.key_of(config["configurable"]), channels)
        except DATABASE_ERRORS as error:
            known = store_error(error, self._path)
            if known is None:
                raise
            raise known from error
        return history

    async def _refuse_gaps(self, key: delta_gaps.Key | None, channels: Sequence[str]) -> None:
        if key is None:
            return
        async with self.lock, self.conn.cursor() as cursor:
            row = await (await cursor.execute(delta_gaps.COUNTERS, key)).fetchone()
            for channel in channels:
                counted = delta_gaps.expected(row[0] if row else None, channel)
                if counted is not None:
                    asked = delta_gaps.parameters(key, channel, counted[1])
                    found = await (await cursor.execute(delta_gaps.WRITTEN, asked)).fetchone()
                    delta_gaps.refuse_gap(found[0] if found else 0, counted[0])

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint. Raises SophosError STORE_*."""
        thread_id = str(config["configurable"]["thread_id"])

        store = super().aput

        async def put() -> RunnableConfig:
            failpoints.hit("checkpoint.before_put")
            stored = await self._insist(lambda: store(config, checkpoint, metadata, new_versions))
            failpoints.hit("checkpoint.after_put")
            return stored

        stored = await self._complete(thread_id, put())
        listener = self._listeners.get(thread_id)
        if listener is not None:
            await listener(checkpoint["id"], metadata.get("step", -1), metadata.get("source", ""))
        return stored

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store a task's writes. `task_path` keeps parallel results in order. Raises SophosError STORE_*."""
        thread_id = str(config["configurable"]["thread_id"])

        store = super().aput_writes

        async def put() -> None:
            failpoints.hit("writes.before_put")
            await self._insist(lambda: store(config, writes, task_id, task_path))
            failpoints.hit("writes.after_put")

        await self._complete(thread_id, put())

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all that is stored of a thread. Raises SophosError STORE_*."""
        remove = super().adelete_thread
        failpoints.hit("delete.before_thread")
        await self._complete(thread_id, self._insist(lambda: remove(thread_id)))
        failpoints.hit("delete.after_thread")

    async def puts_done(self, thread_id: str) -> None:
        """Wait until no put of the thread is under way."""
        while pending := self._puts.get(thread_id):
            await asyncio.wait(tuple(pending))

    async def _complete(self, thread_id: str, put: Coroutine[Any, Any, _T]) -> _T:
        """Run a put to its end, also if the caller is cancelled meanwhile."""
        task = self._tasks.spawn(put, f"put {thread_id}")
        pending = self._puts.setdefault(thread_id, set())
        pending.add(task)
        task.add_done_callback(lambda done: self._put_ended(thread_id, done))
        return await asyncio.shield(task)

    def _put_ended(self, thread_id: str, task: "asyncio.Task[Any]") -> None:
        pending = self._puts.get(thread_id, set())
        pending.discard(task)
        if not pending:
            self._puts.pop(thread_id, None)

    async def _insist(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._lock_wait_seconds
        while True:
            try:
                return await attempt()
            except DATABASE_ERRORS as error:
                # A statement that failed half way leaves a transaction open.
                async with self.lock:
                    await self.conn.rollback()
                if is_busy(error) and loop.time() < deadline:
                    await asyncio.sleep(RETRY_PAUSE_SECONDS)
                    continue
                known = store_error(error, self._path)
                if known is None:
                    raise
                raise known from error

    async def close(self) -> None:
        """Wait for puts under way, then close the connection."""
        for thread_id in tuple(self._puts):
            await self.puts_done(thread_id)
        await self._tasks.close()
        await self.conn.close()


async def open_checkpoints(path: Path, *, lock_wait_seconds: float = LOCK_WAIT_SECONDS) -> CheckpointStore:
    """Open the saver on an existing file and make its tables. Raises SophosError STORE_*."""
    connection = await aiosqlite.connect(path)
    try:
        for pragma in PRAGMAS:
            async with connection.execute(pragma):
                pass
        store = CheckpointStore(connection, path, lock_wait_seconds)
        await store._insist(store.setup)
    except BaseException:
        await connection.close()
        raise
    return store


class CheckpointReader(SqliteSaver):
    """Reads threads, in a worker thread; lives for one export.

    It blocks whoever calls it, and serves one caller at a time. No read transaction is open between two
    pages, so a slow reader does not keep the write-ahead log from being folded in."""

    def __init__(self, path: Path) -> None:
        """`path`: an existing file with the saver's tables. Raises SophosError STORE_*."""
        with _translated(path):
            connection = _connect_read_only(path)
        super().__init__(connection, serde=StrictSerializer())
        self._path = path
        self._outline = SqliteSaver(connection, serde=_Outline())
        # `open_checkpoints` made the tables; a set-up that cannot write takes them for those of an old
        # version and then forgets the order of parallel results.
        self.is_setup = self._outline.is_setup = True

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A stored checkpoint. Raises SophosError STORE_*, UnreadableCheckpoint."""
        with _translated(self._path):
            return super().get_tuple(config)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """As `CheckpointStore.aget_delta_channel_history`."""
        with _translated(self._path):
            history = super().get_delta_channel_history(config=config, channels=channels)
            self._refuse_gaps(delta_gaps.key_of(config["configurable"]), channels)
            return history

    def _refuse_gaps(self, key: delta_gaps.Key | None, channels: Sequence[str]) -> None:
        if key is None:
            return
        with self.cursor(transaction=False) as cursor:
            row = cursor.execute(delta_gaps.COUNTERS, key).fetchone()
            for channel in channels:
                counted = delta_gaps.expected(row[0] if row else None, channel)
                if counted is not None:
                    asked = delta_gaps.parameters(key, channel, counted[1])
                    found = cursor.execute(delta_gaps.WRITTEN, asked).fetchone()
                    delta_gaps.refuse_gap(found[0], counted[0])

    def ids_newest_first(self, thread_id: str) -> builtins.list[str]:
        """The ids of all checkpoints, also of those that cannot be unpacked. Raises SophosError STORE_*."""
        thread: RunnableConfig = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
        with _translated(self._path):
            found = self._outline.list(thread)
            return [str(stored.config["configurable"]["checkpoint_id"]) for stored in found]

    def oldest_first(self, thread_id: str) -> Iterator[CheckpointTuple]:
        """The checkpoints that are stored now, in their order; those that come meanwhile are left out.

        The library gives them newest first, so the thread is gone through twice: without unpacking it, for
        the newest checkpoint of each page, then page by page from the oldest.
        Raises SophosError STORE_*, NOT_FOUND (deleted meanwhile), UnreadableCheckpoint."""
        thread: RunnableConfig = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
        newest_of_pages: builtins.list[RunnableConfig] = []
        count = 0
        with _translated(self._path):
            for found in self._outline.list(thread):
                if count % PAGE_LENGTH == 0:
                    newest_of_pages.append(found.config)
                count += 1
        while newest_of_pages:
            newest = newest_of_pages.pop()
            length = count - len(newest_of_pages) * PAGE_LENGTH
            page = self._page(thread, newest, length)
            count -= length
            yield from reversed(page)

    def _page(
        self, thread: RunnableConfig, newest: RunnableConfig, length: int
    ) -> builtins.list[CheckpointTuple]:
        last = self.get_tuple(newest)
        with _translated(self._path):
            page = [*self.list(thread, before=newest, limit=length - 1)]
        if last is None or len(page) < length - 1:
            raise SophosError(
                ErrorCode.NOT_FOUND, "The conversation was deleted while it was read", "See `list`"
            )
        return [last, *page]

    def close(self) -> None:
        """Close the connection."""
        self.conn.close()


class _Outline:
    """A serializer that leaves everything packed."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        raise NotImplementedError("an outline is only read")

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return None


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except DATABASE_ERRORS as error:
        known = store_error(error, path)
        if known is None:
            raise
        raise known from error


def _connect_read_only(path: Path) -> sqlite3.Connection:
    # Bytes, and quoted: a path may hold what means something in an address, or what is no character.
    address = f"file:{quote(os.fsencode(path))}?mode=ro"
    connection = sqlite3.connect(
        address, uri=True, check_same_thread=False, timeout=_READER_WAIT_SECONDS, isolation_level=None
    )
    connection.execute("PRAGMA query_only=ON").close()
    return connection
