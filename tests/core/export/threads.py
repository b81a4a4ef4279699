"""Threads with fixed ids and times, written straight through LangGraph's own saver."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

from sophos_desktop.core.agent.history import ThreadHistory
from sophos_desktop.core.store.checkpoints import CheckpointReader
from sophos_desktop.core.store.serializer import StrictSerializer

THREAD = "01a00000-0000-7000-8000-000000000001"


class ThreadWriter:
    """Writes one checkpoint after another, each the child of the one before; lives for one file."""

    def __init__(self, saver: SqliteSaver) -> None:
        self._saver = saver
        self._count = 0
        self._latest: RunnableConfig = {"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}}

    def add(
        self, values: dict[str, Any], writes: Sequence[Sequence[BaseMessage]] = (), source: str = "loop"
    ) -> None:
        """A checkpoint with these values, and what the step after it wrote."""
        self._count += 1
        checkpoint = empty_checkpoint()
        checkpoint["id"] = f"1f1ecc9b-0000-6000-8000-{self._count:012}"
        checkpoint["ts"] = f"2026-10-01T12:{self._count // 60 % 60:02}:{self._count % 60:02}.123456+02:00"
        checkpoint["channel_values"] = values
        step: Any = {"source": source, "step": self._count - 2, "sophos_run_id": "run-1"}
        self._latest = self._saver.put(self._latest, checkpoint, step, {})
        for task, messages in enumerate(writes):
            self._saver.put_writes(self._latest, [("messages", [*messages])], f"task-{task}", f"~{task}")


@contextmanager
def a_thread_writer(path: Path) -> Iterator[ThreadWriter]:
    """A file with the saver's tables."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        yield ThreadWriter(SqliteSaver(connection, serde=StrictSerializer()))


@contextmanager
def a_history(path: Path) -> Iterator[ThreadHistory]:
    """What an export reads with."""
    with closing(CheckpointReader(path)) as reader:
        yield ThreadHistory(reader, reader.oldest_first)
