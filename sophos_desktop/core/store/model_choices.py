"""Keeps which model was chosen: with each conversation, and for the chat that does not exist yet.

Invariant: a choice for the chat that does not exist yet belongs, from the claim that begins its conversation,
to that conversation alone; both happen in one transaction.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.domain.model_choices import CHOICE_KEY
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import app_state, conversations, runs, trace_events

_NEW_CHAT = "models.new_chat"
_RUNS_LOOKED_AT = 10


class ModelChoiceStore:
    """Lives as long as its database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_new_chat(self) -> object:
        """What was kept for the chat that does not exist yet, as JSON; None if nothing."""
        async with self._database.read() as connection:
            return await _new_chats(connection)

    async def keep_for_new_chat(self, choice: Mapping[str, Any]) -> None:
        """Keep a choice for the chat that does not exist yet."""
        text = json.dumps(dict(choice))
        statement = insert(app_state).values(key=_NEW_CHAT, value=text)
        async with self._database.write() as connection:
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["key"], set_={"value": text})
            )

    async def keep(self, conversation_id: str, choice: Mapping[str, Any]) -> bool:
        """Keep a choice with a conversation, which stays where it is in the list. False if there is none."""
        mine = (conversations.c.id == conversation_id, conversations.c.deleted_at.is_(None))
        async with self._database.write() as connection:
            result = await connection.execute(select(conversations.c.metadata).where(*mine))
            metadata = result.scalar_one_or_none()
            if metadata is None:
                return False
            changed = json.dumps({**json.loads(metadata), CHOICE_KEY: dict(choice)})
            await connection.execute(update(conversations).where(*mine).values(metadata=changed))
            return True

    async def last_call(self, conversation_id: str) -> Mapping[str, Any] | None:
        """The fields of the newest `model_call` event among a conversation's latest runs; None if none called
        a model."""
        latest = (
            select(runs.c.id)
            .where(runs.c.conversation_id == conversation_id)
            .order_by(runs.c.started_at.desc(), runs.c.id.desc())
            .limit(_RUNS_LOOKED_AT)
        )
        async with self._database.read() as connection:
            for run_id in (await connection.execute(latest)).scalars().all():
                call = (
                    select(trace_events.c.data)
                    .where(trace_events.c.run_id == run_id, trace_events.c.event == "model_call")
                    .order_by(trace_events.c.seq.desc())
                    .limit(1)
                )
                data = (await connection.execute(call)).scalar_one_or_none()
                if data is not None:
                    fields: Mapping[str, Any] = json.loads(data)
                    return fields
        return None


async def take_new_chats(connection: AsyncConnection) -> Mapping[str, Any]:
    """The metadata of a conversation that begins now: the choice, which is not the next chat's any more."""
    choice = await _new_chats(connection)
    if choice is None:
        return {}
    await connection.execute(delete(app_state).where(app_state.c.key == _NEW_CHAT))
    return {CHOICE_KEY: choice}


async def _new_chats(connection: AsyncConnection) -> object:
    result = await connection.execute(select(app_state.c.value).where(app_state.c.key == _NEW_CHAT))
    text = result.scalar_one_or_none()
    return None if text is None else json.loads(text)
