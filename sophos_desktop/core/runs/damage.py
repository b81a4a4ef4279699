"""Says of a thread that cannot be read which older state of it can.

Invariant: only reads, on a connection that cannot write; nobody goes back to an older state by himself, since
the steps after it were really taken.
"""

import asyncio
from contextlib import closing
from itertools import islice

from sophos_desktop.core.agent.history import OlderState, ThreadHistory
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.checkpoints import CheckpointReader

MOST_TRIED = 100


async def older_state(stores: Stores, conversation_id: str, error: SophosError) -> str:
    """The newest state that can be read, as a sentence without full stop.

    Empty if there is none, or if the error is not that the thread cannot be read."""
    if error.code is not ErrorCode.THREAD_UNREADABLE:
        return ""
    try:
        older = await asyncio.to_thread(_newest_readable, stores, conversation_id)
    except SophosError:
        return ""
    if older is None:
        return ""
    count = "1 message" if older.message_count == 1 else f"{older.message_count} messages"
    return f"The newest state that can be read is of {older.at} ({count}, checkpoint {older.checkpoint_id})"


async def with_older_state(stores: Stores, conversation_id: str, error: SophosError) -> SophosError:
    """The error; if an older state can be read, its remedy says which."""
    state = await older_state(stores, conversation_id, error)
    return error.with_remedy(f"{error.remedy}. {state}") if state else error


def _newest_readable(stores: Stores, conversation_id: str) -> OlderState | None:
    with closing(CheckpointReader(stores.saver.path)) as reader:
        ids = reader.ids_newest_first(conversation_id)
        return ThreadHistory(reader, reader.oldest_first).newest_readable(
            conversation_id, islice(ids, MOST_TRIED)
        )
