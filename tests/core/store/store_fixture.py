"""What the tests of the store share: a file with its schema, and a second connection that gets in the way."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata, empty_checkpoint

from sophos_desktop.core.domain.run import RunKind
from sophos_desktop.core.store.checkpoints import CheckpointStore, open_checkpoints
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.runs import Claim
from sophos_desktop.foundation.ids import new_id

METADATA: CheckpointMetadata = {"source": "loop", "step": 1}


@asynccontextmanager
async def open_database(path: Path, *, lock_wait_seconds: float = 15.0) -> AsyncIterator[Database]:
    """An open database; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    database = Database(path, lock_wait_seconds=lock_wait_seconds)
    try:
        await database.open(path.parent / "backups")
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def open_saver(path: Path, *, lock_wait_seconds: float = 15.0) -> AsyncIterator[CheckpointStore]:
    """An open checkpointer on an existing file."""
    saver = await open_checkpoints(path, lock_wait_seconds=lock_wait_seconds)
    try:
        yield saver
    finally:
        await saver.close()


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program's connection, which waits for no lock."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    finally:
        connection.close()


def can_write_at_once(path: Path) -> bool:
    """True if nobody holds the write lock."""
    with connected(path) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        other.execute("ROLLBACK")
        return True


def rows_of(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """What another program reads."""
    with connected(path) as other:
        return [tuple(row) for row in other.execute(statement)]


def a_claim(conversation_id: str | None = None, text: str = "Hello", owner: str = "owner") -> Claim:
    """A message for a conversation; None begins one."""
    return Claim(
        run_id=new_id(),
        conversation_id=conversation_id or new_id(),
        kind=RunKind.MESSAGE,
        owner=owner,
        engine=None,
        model=None,
        input_text=text,
        input_message_id=new_id(),
        new_conversation=conversation_id is None,
    )


def place(thread_id: str = "thread", checkpoint_id: str | None = None) -> RunnableConfig:
    """Where a checkpoint belongs."""
    where: dict[str, str] = {"thread_id": thread_id, "checkpoint_ns": ""}
    if checkpoint_id is not None:
        where["checkpoint_id"] = checkpoint_id
    return {"configurable": where}


def a_checkpoint() -> Checkpoint:
    """A checkpoint that holds nothing."""
    return empty_checkpoint()
