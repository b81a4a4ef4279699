"""Reads and writes the rows of conversations and the app's own state.

Invariant: a conversation that is deleted (has a tombstone) is in no answer of this module but `deleted`. A
tombstone says from when on it is final; until then it can be taken back, after that it can only be finished.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, delete, select, update
from sqlalchemy.dialects.sqlite import insert

from sophos_desktop.core.domain.conversation import Conversation, ConversationStatus
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.store import rows
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.deciding import wholly_decided
from sophos_desktop.core.store.drafts import forget_beside
from sophos_desktop.core.store.id_parts import ESCAPE, has_part, literal
from sophos_desktop.core.store.tables import app_state, conversations, runs
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.clock import Clock, to_text
from sophos_desktop.foundation.paths import resolve_paths

UNDO_SECONDS = 10.0


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
            waiting = [run.id for run in latest.values() if run.status is RunStatus.WAITING]
            decided = await wholly_decided(connection, waiting)
            latest |= {
                run.conversation_id: replace(run, decided=True)
                for run in latest.values()
                if run.id in decided
            }
        return [rows.conversation(row, latest.get(row["id"])) for row in found]

    async def rename(self, conversation_id: str, title: str) -> bool:
        """False if there is no such conversation."""
        return await self._change(conversation_id, title=title)

    async def _change(self, conversation_id: str, **values: object) -> bool:
        async with self._database.write() as connection:
            result = await connection.execute(
                update(conversations)
                .where(conversations.c.id == conversation_id, conversations.c.deleted_at.is_(None))
                .values(**values)
            )
            return result.rowcount == 1

    async def bury(self, conversation_id: str, *, undo_seconds: float = 0.0) -> bool:
        """Set the tombstone, unless a run is active. It can be taken back for `undo_seconds`, at most
        `UNDO_SECONDS`. False if it was not set."""
        failpoints.hit("delete.before_tombstone")
        async with self._database.write() as connection:
            result = await connection.execute(
                update(conversations)
                .where(
                    conversations.c.id == conversation_id,
                    conversations.c.deleted_at.is_(None),
                    ~_running(conversation_id).exists(),
                )
                .values(deleted_at=self._in(undo_seconds))
            )
            buried = result.rowcount == 1
        failpoints.hit("delete.after_tombstone")
        return buried

    async def restore(self, conversation_id: str) -> bool:
        """Take the tombstone back. False if it is final, or there is none."""
        async with self._database.write() as connection:
            result = await connection.execute(
                update(conversations)
                .where(conversations.c.id == conversation_id, conversations.c.deleted_at > self._in(0))
                .values(deleted_at=None)
            )
            return result.rowcount == 1

    async def make_final(self, conversation_id: str) -> bool:
        """The tombstone cannot be taken back any more. False if there is none: it was taken back; or if a run
        has begun in spite of it, which would go on writing: a later try removes that too.

        Whoever removes anything calls this first: of an undo and a removal at one moment one comes too late.
        """
        failpoints.hit("delete.before_final")
        async with self._database.write() as connection:
            result = await connection.execute(
                update(conversations)
                .where(
                    conversations.c.id == conversation_id,
                    conversations.c.deleted_at.is_not(None),
                    ~_running(conversation_id).exists(),
                )
                .values(deleted_at=self._in(0))
            )
            is_final = result.rowcount == 1
        failpoints.hit("delete.after_final")
        return is_final

    async def deleted(self) -> Sequence[str]:
        """The ids with a tombstone that is final. One that lies further ahead than an undo can is, too: the
        system's clock was set back."""
        tombstone = conversations.c.deleted_at
        async with self._database.read() as connection:
            result = await connection.execute(
                select(conversations.c.id).where(
                    tombstone.is_not(None), (tombstone <= self._in(0)) | (tombstone > self._in(UNDO_SECONDS))
                )
            )
            return list(result.scalars())

    def _in(self, seconds: float) -> str:
        return to_text(self._clock.now() + timedelta(seconds=seconds))

    async def remove(self, conversation_id: str) -> None:
        """Remove the rows of a conversation whose thread is gone; runs and what hangs on them go along, and
        so do copies of the database from before a migration, which hold it still."""
        failpoints.hit("delete.before_rows")
        await asyncio.to_thread(self._remove_backups)
        async with self._database.write() as connection:
            await forget_beside(connection, conversation_id)
            await connection.execute(delete(conversations).where(conversations.c.id == conversation_id))
        failpoints.hit("delete.after_rows")

    def _remove_backups(self) -> None:
        path = self._database.path
        for backup in resolve_paths(path.parent, {}).backups_dir.glob(f"{path.stem}-schema-*"):
            backup.unlink(missing_ok=True)

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


def _running(conversation_id: str) -> Select[Any]:
    return select(runs.c.id).where(runs.c.conversation_id == conversation_id, runs.c.status == "running")
