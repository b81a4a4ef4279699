"""Owns asyncio tasks.

Invariant: every task of the program has an owner that keeps a strong reference and routes its error;
an owner that is closed has no task left. No other module calls `asyncio.create_task`.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")

ErrorRoute = Callable[[BaseException], None]


class TaskOwner:
    """Spawns tasks and ends them. Lives on one event loop, from its first `spawn` to `close`."""

    def __init__(self, on_error: ErrorRoute) -> None:
        """`on_error` gets each exception that a task did not handle itself."""
        self._on_error = on_error
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, _T], name: str) -> "asyncio.Task[_T]":
        """Run `work` as a task called `name`."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_error(error)

    @property
    def active(self) -> int:
        """How many tasks are not done."""
        return len(self._tasks)

    async def close(self) -> None:
        """Cancel what still runs and wait until it has ended."""
        while self._tasks:
            pending = tuple(self._tasks)
            for task in pending:
                task.cancel()
            await asyncio.wait(pending)
