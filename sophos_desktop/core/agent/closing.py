"""Closes a library's streams to their end, also in a task that is cancelled again and again.

Invariant: no generator is left half closed to the collector, which would have it closed in a task of its own:
a loop that ends meanwhile leaves a traceback on stderr. The cancellation is raised once all is closed.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

# Closing is a matter of milliseconds; an engine that hangs must not hold up who stops the run.
LONGEST_SECONDS = 2.0

_TURNS_TO_CLOSE = 80  # nine generators, a few turns each


async def left_generators_closed() -> None:
    """Give the loop the turns that it needs for generators, one in the other, that a library leaves to the
    collector, which has each closed in a task of its own."""
    for _ in range(_TURNS_TO_CLOSE):
        await asyncio.sleep(0)


async def closed_in_peace(work: Coroutine[Any, Any, None]) -> None:
    """Let `work`, which closes something, come to its end. Raises CancelledError if the task was cancelled
    meanwhile; what `work` raises is logged alone."""
    tasks = TaskOwner(lambda error: _log.info("a stream closed with %r", error))
    closing = tasks.spawn(work, "close a stream")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + LONGEST_SECONDS
    cancelled: asyncio.CancelledError | None = None
    while not closing.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait({closing}, timeout=left)
        except asyncio.CancelledError as again:
            cancelled = again
    if not closing.done():
        closing.cancel()
    if cancelled is not None:
        raise cancelled
