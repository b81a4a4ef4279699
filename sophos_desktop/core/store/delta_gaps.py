"""Finds out that a thread is not whole: that messages which a checkpoint counts on are not in the file.

Invariant: only reads. LangGraph 1.2.24 folds what it finds and takes a thread whose older rows are gone for a
shorter one, or an empty one; each checkpoint's metadata says how many steps wrote since the last snapshot.
"""

import json
from collections.abc import Mapping
from typing import Any

from sophos_desktop.core.store.serializer import UnreadableCheckpoint

COUNTERS = "SELECT metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
"""The metadata of one checkpoint, which hold its counters."""

WRITTEN = """
WITH RECURSIVE chain(id, parent, depth) AS (
    SELECT checkpoint_id, parent_checkpoint_id, 0 FROM checkpoints
    WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = :id
    UNION ALL
    SELECT older.checkpoint_id, older.parent_checkpoint_id, chain.depth + 1
    FROM chain CROSS JOIN checkpoints older ON older.checkpoint_id = chain.parent
    WHERE older.thread_id = :thread AND older.checkpoint_ns = :ns AND chain.depth < :supersteps
)
SELECT count(*) FROM chain WHERE depth > 0 AND EXISTS (
    SELECT 1 FROM writes
    WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = chain.id AND channel = :channel
)
"""
"""How many of a checkpoint's ancestors, since its last snapshot, hold writes of a channel."""

Key = tuple[str, str, str]


def key_of(named: Mapping[str, Any]) -> Key | None:
    """Thread, namespace and checkpoint, as `configurable` has them; None where no checkpoint is named."""
    found = named.get("checkpoint_id")
    return (str(named["thread_id"]), str(named.get("checkpoint_ns", "")), str(found)) if found else None


def expected(metadata: bytes | str | None, channel: str) -> tuple[int, int] | None:
    """How many steps wrote, and how many there were, since the channel's last snapshot; None if the
    checkpoint does not say, as those of other versions may not."""
    try:
        counters = json.loads(metadata or b"null")["counters_since_delta_snapshot"][channel]
        updates, supersteps = counters
        return int(updates), int(supersteps)
    except (KeyError, TypeError, ValueError):
        return None


def parameters(key: Key, channel: str, supersteps: int) -> dict[str, Any]:
    """Those of `WRITTEN`."""
    thread, namespace, checkpoint_id = key
    return {
        "thread": thread,
        "ns": namespace,
        "id": checkpoint_id,
        "channel": channel,
        "supersteps": supersteps,
    }


def refuse_gap(found: int, updates: int) -> None:
    """Raises UnreadableCheckpoint if less is there than was written."""
    if found < updates:
        missing = updates - found
        raise UnreadableCheckpoint(f"what {missing} of its last {updates} steps wrote is not in the file")
