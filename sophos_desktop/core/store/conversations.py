"""Reads and writes the rows of conversations and the app's own state.

Invariant: a conversation that is deleted (has a tombstone) is in no answer of this module but `deleted`.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, delete, select, update
from sqlalchemy.dialects.sqlite import insert

from sophos_desktop.core.domain.conversation import Conversation, ConversationStatus
from sophos_desktop.core.store import rows
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.id_parts import ESCAPE, has_part, literal
from sophos_desktop.core.store.tables import app_state, conversations, runs
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.clock import Clock, to_text


class ConversationStore:
    """Lives as long as its database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Times of changes come from `clock`."""
        self._database = database
        self._clock = clock

    async def find_all(
        self,
        *,
        statuses: Sequence[ConversationStatus] = (),
        query: str = "",
        tag: str = "",
        limit: int | None = None,
    ) -> list[Conversation]:
        """Newest first. `query`: part of the title, any case, taken literally."""
        statement = select(conversations).where(conversations.c.deleted_at.is_(None))
        if statuses:
            statement = statement.where(conversations.c.status.in_([status.value for status in statuses]))
        if query:
            statement = statement.where(conversations.c.title.ilike(f"%{literal(query)}%", escape=ESCAPE))
        statement = statement.order_by(conversations.c.updated_at.desc(), conversations.c.id.desc())
        if limit is not None and not tag:
            statement = statement.limit(limit)
        found = await self._with_last_runs(statement)
        if tag:
            found = [entry for entry in found if tag in entry.tags][:limit]
        return found

    async def stamps(self) -> dict[str, tuple[str, str, int]]:
        """Title, time and count of each conversation: cheap to read, and other once its entry is."""
        columns = (
            conversations.c.id,
            conversations.c.title,
            conversations.c.updated_at,
            conversations.c.message_count,
        )
        statement = select(*columns).where(conversations.c.deleted_at.is_(None))
        async with self._database.read() as connection:
            return {row[0]: (row[1], row[2], row[3]) for row in await connection.execute(statement)}

    async def get(self, conversation_id: str) -> Conversation | None:
        """One conversation, or None."""
        statement = select(conversations).where(
            conversations.c.id == conversation_id, conversations.c.deleted_at.is_(None)
        )
        found = await self._with_last_runs(statement)
        return found[0] if found else None

    async def ids(self) -> Sequence[str]:
        """The ids of all conversations."""
        statement = select(conversations.c.id).where(conversations.c.deleted_at.is_(None))
        async with self._database.read() as connection:
            return list((await connection.execute(statement)).scalars())

    async def ids_like(self, part: str) -> Sequence[str]:
        """The ids that begin or end with `part`, dashes ignored, `%` and `_` taken literally."""
        statement = (
            select(conversations.c.id)
            .where(conversations.c.deleted_at.is_(None), has_part(conversations.c.id, part))
            .order_by(conversations.c.id)
        )
        async with self._database.read() as connection:
            return list((await connection.execute(statement)).scalars())

    async def _with_last_runs(self, statement: Select[Any]) -> list[Conversation]:
        async with self._database.read() as connection:
            found = [dict(row) for row in (await connection.execute(statement)).mappings()]
            latest = {}
            for start in range(0, len(found), 500):
                ids = [row["id"] for row in found[start : start + 500]]
                of_these = select(runs).where(runs.c.conversation_id.in_(ids))
                ordered = of_these.order_by(runs.c.started_at, runs.c.id)
                for row in (await connection.execute(ordered)).mappings():
                    latest[row["conversation_id"]] = rows.run_record(dict(row))
        return [rows.conversation(row, latest.get(row["id"])) for row in found]

    async def rename(self, conversation_id: str, title: str) -> bool:
        """False if there is no such conversation."""
        return await self._change(conversation_id, title=title)

    async def save_draft(self, conversation_id: str, text: str) -> bool:
        """False if there is no such conversation. The conversation keeps its place in the list."""
        return await self._change(conversation_id, draft=text)

    async def _change(self, conversation_id: str, **values: object) -> bool:
        async with self._database.write() as connection:
            result = await connection.execute(
                update(conversations)
                .where(conversations.c.id == conversation_id, conversations.c.deleted_at.is_(None))
                .values(**values)
            )
            return result.rowcount == 1

    async def bury(self, conversation_id: str) -> bool:
        """Set the tombstone, unless a run is active. False if it was not set."""
        active = select(runs.c.id).where(
            runs.c.conversation_id == conversation_id, runs.c.status == "running"
        )
        failpoints.hit("delete.before_tombstone")
        async with self._database.write() as connection:
            result = await connection.execute(
                update(conversations)
                .where(
                    conversations.c.id == conversation_id,
                    conversations.c.deleted_at.is_(None),
                    ~active.exists(),
                )
                .values(deleted_at=to_text(self._clock.now()))
            )
            buried = result.rowcount == 1
        failpoints.hit("delete.after_tombstone")
        return buried

    async def deleted(self) -> Sequence[str]:
        """The ids with a tombstone."""
        async with self._database.read() as connection:
            result = await connection.execute(
                select(conversations.c.id).where(conversations.c.deleted_at.is_not(None))
            )
            return list(result.scalars())

    async def remove(self, conversation_id: str) -> None:
        """Remove the rows of a conversation whose thread is gone; runs and what hangs on them go along."""
        failpoints.hit("delete.before_rows")
        async with self._database.write() as connection:
            await connection.execute(delete(conversations).where(conversations.c.id == conversation_id))
        failpoints.hit("delete.after_rows")

    async def app_state(self, key: str) -> str | None:
        """What was saved under `key`."""
        async with self._database.read() as connection:
            result = await connection.execute(select(app_state.c.value).where(app_state.c.key == key))
            return result.scalar_one_or_none()

    async def save_app_state(self, key: str, value: str) -> None:
        """Save `value` under `key`, in place of what was there."""
        statement = insert(app_state).values(key=key, value=value)
        async with self._database.write() as connection:
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["key"], set_={"value": value})
            )
