"""LangGraph's checkpointer on its own connection to the same file.

Invariant: a put is complete or not there: it is never left half done by a cancelled task (an open
transaction on this connection would lock everybody else out), and a foreign lock is waited for. Whoever
records an outcome first waits until the puts of its thread are done (DURABILITY.md, rules 10, 16, 17).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

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
