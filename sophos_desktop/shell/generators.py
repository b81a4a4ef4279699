"""Has async generators that nobody finished closed on the loop, as asyncio's own loops do; qasync does not.

Invariant: while a loop runs with this entered, no generator is closed by the collector: one that waits while
it is closed would be told off on stderr ("ignored GeneratorExit"), and what it holds would stay open.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

CLOSING_SECONDS = 2.0


@contextmanager
def generators_closed(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Enter it before `loop` runs; what is left at the end is closed then, within `CLOSING_SECONDS`."""
    owner = TaskOwner(lambda error: _log.warning("a generator closed with %r", error))
    alive: WeakSet[AsyncGenerator[Any, Any]] = WeakSet()
    closing: set[asyncio.Task[None]] = set()

    def close(generator: AsyncGenerator[Any, Any]) -> None:
        task = owner.spawn(_close(generator), "close a generator")
        closing.add(task)
        task.add_done_callback(closing.discard)

    def let_go(generator: AsyncGenerator[Any, Any]) -> None:
        alive.discard(generator)
        if not loop.is_closed():
            loop.call_soon_threadsafe(close, generator)

    async def close_all() -> None:
        await asyncio.sleep(0)  # what the collector found last
        for generator in list(alive):
            close(generator)
        if closing:
            await asyncio.wait(closing, timeout=CLOSING_SECONDS)
        await owner.close()

    previous = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(firstiter=alive.add, finalizer=let_go)
    try:
        yield
    finally:
        loop.run_until_complete(close_all())
        sys.set_asyncgen_hooks(*previous)


async def _close(generator: AsyncGenerator[Any, Any]) -> None:
    await generator.aclose()
