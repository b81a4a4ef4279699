"""The message that waits until the run of its conversation has ended: one per conversation.

Invariant: a queued text is committed when `put` returns; the claim that sends it removes it in its own
transaction (`RunStore.claim`), so that it is neither lost nor sent twice.
"""

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert

from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import queued_messages
from sophos_desktop.foundation.clock import Clock, to_text


class QueueStore:
    """Lives as long as its database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Times come from `clock`."""
        self._database = database
        self._clock = clock

    async def put(self, conversation_id: str, text: str) -> None:
        """Queue a message in place of one that waits already."""
        values = {"text": text, "queued_at": to_text(self._clock.now())}
        statement = insert(queued_messages).values(conversation_id=conversation_id, **values)
        async with self._database.write() as connection:
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["conversation_id"], set_=values)
            )

    async def get(self, conversation_id: str) -> str | None:
        """The message that waits, or None."""
        statement = select(queued_messages.c.text).where(queued_messages.c.conversation_id == conversation_id)
        async with self._database.read() as connection:
            return (await connection.execute(statement)).scalar_one_or_none()

    async def remove(self, conversation_id: str) -> bool:
        """Take it back. False if none waits (any more)."""
        statement = delete(queued_messages).where(queued_messages.c.conversation_id == conversation_id)
        async with self._database.write() as connection:
            return (await connection.execute(statement)).rowcount == 1
