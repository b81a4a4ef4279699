"""What a run did, kept for the trace, and the text that arrived but is not in the thread.

Invariant: events are derived (nothing is decided by them); deltas are never stored; a run has at most one
partial, and it never changes what is left to do (DURABILITY.md, rule 11).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.sqlite import insert

from sophos_desktop.core.domain.events import SittingEnded, ToolDecided
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import run_partials, runs, trace_events


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One row of the trace. `data`: the event's fields, without texts that the thread holds."""

    run_id: str
    seq: int
    at: str
    event: str
    data: Mapping[str, Any]
    step: int | None = None
    node: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Partial:
    """Text that arrived for a message that is not in the thread. `state`: incomplete or stopped."""

    run_id: str
    message_id: str
    text: str
    thinking: str
    state: str
    at: str
    model: str | None


class TraceStore:
    """Lives as long as its database."""

    def __init__(self, database: Database) -> None:
        """Keeps nothing of its own."""
        self._database = database

    async def append(self, events: Sequence[StoredEvent]) -> None:
        """Add events in one transaction; each `(run_id, seq)` must be new."""
        values = [
            {
                "run_id": event.run_id,
                "seq": event.seq,
                "at": event.at,
                "step": event.step,
                "node": event.node,
                "event": event.event,
                "name": event.name,
                "data": json.dumps(event.data),
            }
            for event in events
        ]
        async with self._database.write() as connection:
            await connection.execute(insert(trace_events), values)

    async def events(self, run_id: str, after_seq: int = 0) -> list[StoredEvent]:
        """The stored events of a run with a higher number, in order."""
        statement = (
            select(trace_events)
            .where(trace_events.c.run_id == run_id, trace_events.c.seq > after_seq)
            .order_by(trace_events.c.seq)
        )
        async with self._database.read() as connection:
            return [
                StoredEvent(
                    run_id=row["run_id"],
                    seq=row["seq"],
                    at=row["at"],
                    event=row["event"],
                    data=json.loads(row["data"]),
                    step=row["step"],
                    node=row["node"],
                    name=row["name"],
                )
                for row in (await connection.execute(statement)).mappings()
            ]

    async def last_seq(self, run_id: str) -> int:
        """The highest number of a stored event; 0 if there is none."""
        statement = select(func.max(trace_events.c.seq)).where(trace_events.c.run_id == run_id)
        async with self._database.read() as connection:
            return (await connection.execute(statement)).scalar() or 0

    async def decided_since_end(self, run_id: str) -> list[StoredEvent]:
        """What was decided after the last sitting of a run had ended, in order."""
        last_end = select(func.max(trace_events.c.seq)).where(
            trace_events.c.run_id == run_id, trace_events.c.event == SittingEnded.type
        )
        async with self._database.read() as connection:
            ended = (await connection.execute(last_end)).scalar()
        later = await self.events(run_id, ended) if ended else []
        return [event for event in later if event.event == ToolDecided.type]

    async def save_partial(self, partial: Partial) -> None:
        """Keep the text that arrived, in place of an earlier one of the run."""
        values = {
            "run_id": partial.run_id,
            "message_id": partial.message_id,
            "text": partial.text,
            "thinking": partial.thinking,
            "state": partial.state,
            "at": partial.at,
            "model": partial.model,
        }
        statement = insert(run_partials).values(**values)
        async with self._database.write() as connection:
            await connection.execute(statement.on_conflict_do_update(index_elements=["run_id"], set_=values))

    async def partials(self, conversation_id: str) -> Sequence[Partial]:
        """The partials of a conversation's runs, oldest first."""
        statement = (
            select(run_partials)
            .join(runs, runs.c.id == run_partials.c.run_id)
            .where(runs.c.conversation_id == conversation_id)
            .order_by(runs.c.started_at, runs.c.id)
        )
        async with self._database.read() as connection:
            return [Partial(**dict(row)) for row in (await connection.execute(statement)).mappings()]

    async def drop_partials(self, run_ids: Sequence[str]) -> None:
        """These runs' partials are in the thread now, or are dropped by a continuation."""
        async with self._database.write() as connection:
            await connection.execute(run_partials.delete().where(run_partials.c.run_id.in_(list(run_ids))))
