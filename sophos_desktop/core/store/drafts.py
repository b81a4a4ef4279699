"""Keeps the text of drafts: one that is shared by all windows, and beside it what one of them holds instead.

Invariant: a text replaces only what its writer has seen, or holds itself; any other is kept beside the shared
draft under its owner's id, until its owner gives it up, sends it, or is dead: then it goes below the shared
draft. So no window takes away what another one holds.
"""

from collections.abc import Awaitable, Callable

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.domain.drafts import Draft, as_stored, holds, together
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import app_state, conversations
from sophos_desktop.foundation import failpoints

_NEW_CHAT = "draft"
_BESIDE = "draft.beside:"


class DraftStore:
    """Lives as long as its database."""

    def __init__(self, database: Database, owner_id: str) -> None:
        """`owner_id`: under which id this process keeps texts beside shared ones."""
        self._database = database
        self._owner_id = owner_id

    async def read(self, conversation_id: str | None) -> Draft:
        """What is kept; empty where there is no such conversation. None: the chat that does not exist yet."""
        async with self._database.read() as connection:
            shared = await _shared(connection, conversation_id) or ""
            own = await _value(connection, _beside(conversation_id, self._owner_id))
        return Draft(shared if own is None else own, shared)

    async def save(self, conversation_id: str | None, text: str, *, seen: str | None = None) -> Draft:
        """Keep `text`; gives what is kept then. `seen`: the shared draft that `text` was made from; where it
        says something else by now that `text` does not hold, it stays, and `text` is kept beside it. None:
        `text` takes its place whatever it says. Does nothing where there is no such conversation."""
        text, key = as_stored(text), _beside(conversation_id, self._owner_id)
        failpoints.hit("draft.before_commit")
        async with self._database.write() as connection:
            shared = await _shared(connection, conversation_id)
            if shared is None and conversation_id is not None:
                return Draft(text, text)
            shared = shared or ""
            if seen is None or shared == as_stored(seen) or holds(text, shared):
                await _write_shared(connection, conversation_id, text)
                await _forget(connection, app_state.c.key == key)
                shared = text
            elif text.strip():
                await _write_value(connection, key, text)
            else:
                await _forget(connection, app_state.c.key == key)
        failpoints.hit("draft.after_commit")
        return Draft(text, shared)

    async def take_in(self, is_dead: Callable[[str], Awaitable[bool]]) -> None:
        """What dead processes have kept beside shared drafts goes below these. `is_dead` is asked of ids of
        owners; this process's own is left out."""
        async with self._database.read() as connection:
            owners = {owner for _, owner, _ in await _all_beside(connection)} - {self._owner_id}
        dead = {owner for owner in owners if await is_dead(owner)}
        if not dead:
            return
        failpoints.hit("take_in.before_commit")
        async with self._database.write() as connection:
            for conversation_id, owner, text in await _all_beside(connection):
                if owner not in dead:
                    continue
                await _forget(connection, app_state.c.key == _beside(conversation_id, owner))
                # One whose deletion can still be taken back gets it too.
                shared = await _shared(connection, conversation_id, even_deleted=True)
                if shared is not None or conversation_id is None:
                    await _write_shared(connection, conversation_id, together(shared or "", text))
        failpoints.hit("take_in.after_commit")


async def let_go_of_sent(connection: AsyncConnection, conversation_id: str, owner: str, sent: str) -> None:
    """Within the claim's transaction: what its owner kept beside the draft is what is sent now, or the
    beginning of it, saved while it was typed; anything else stays."""
    key = _beside(conversation_id, owner)
    kept = await _value(connection, key)
    if kept is not None and sent.strip().startswith(kept.strip()):
        await _forget(connection, app_state.c.key == key)


async def forget_beside(connection: AsyncConnection, conversation_id: str) -> None:
    """Within the transaction that removes a conversation: so do all texts beside its draft."""
    await _forget(connection, app_state.c.key.startswith(_beside(conversation_id, ""), autoescape=True))


def _beside(conversation_id: str | None, owner: str) -> str:
    return f"{_BESIDE}{conversation_id or ''}:{owner}"


async def _all_beside(connection: AsyncConnection) -> list[tuple[str | None, str, str]]:
    """Conversation, owner and text of each, oldest owner first."""
    statement = select(app_state).where(app_state.c.key.startswith(_BESIDE, autoescape=True))
    found = (await connection.execute(statement.order_by(app_state.c.key))).mappings().all()
    parted = [(row["key"].removeprefix(_BESIDE).partition(":"), row["value"]) for row in found]
    return [(conversation_id or None, owner, text) for (conversation_id, _, owner), text in parted]


async def _shared(
    connection: AsyncConnection, conversation_id: str | None, *, even_deleted: bool = False
) -> str | None:
    if conversation_id is None:
        return await _value(connection, _NEW_CHAT)
    statement = select(conversations.c.draft).where(_mine(conversation_id, even_deleted=even_deleted))
    return (await connection.execute(statement)).scalar_one_or_none()


def _mine(conversation_id: str, *, even_deleted: bool) -> ColumnElement[bool]:
    mine = conversations.c.id == conversation_id
    return mine if even_deleted else mine & conversations.c.deleted_at.is_(None)


async def _write_shared(connection: AsyncConnection, conversation_id: str | None, text: str) -> None:
    if conversation_id is None:
        await _write_value(connection, _NEW_CHAT, text)
    else:
        mine = _mine(conversation_id, even_deleted=True)
        await connection.execute(update(conversations).where(mine).values(draft=text))


async def _value(connection: AsyncConnection, key: str) -> str | None:
    return (
        await connection.execute(select(app_state.c.value).where(app_state.c.key == key))
    ).scalar_one_or_none()


async def _write_value(connection: AsyncConnection, key: str, value: str) -> None:
    statement = insert(app_state).values(key=key, value=value)
    await connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


async def _forget(connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    await connection.execute(delete(app_state).where(which))
