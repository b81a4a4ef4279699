"""The message that waits until the run of its conversation has ended: one per conversation.

Invariant: a queued text is committed with what is attached to it when `put` returns; the claim that sends it
removes it in its own transaction (`RunStore.claim`), so that it is neither lost nor sent twice. Who says what
he saw changes only that: another window may have queued something else meanwhile.
"""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.queued import Queued
from sophos_desktop.core.store.attachments import draft_of, drop, give_back, hand_over, held_in, queued_in
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import queued_messages
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.clock import Clock, to_text


class QueueStore:
    """Lives as long as its database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Times come from `clock`."""
        self._database = database
        self._clock = clock

    async def put(
        self,
        conversation_id: str,
        text: str,
        given: Sequence[AttachmentRef | Attachment] = (),
        *,
        seen: Queued | None = None,
    ) -> bool:
        """Queue a message in place of one that waits already. The draft lets go of what is given with it.
        False, and nothing is changed, if `seen` is given and is not what waits.

        Raises SophosError BAD_REQUEST: something is attached neither to the draft nor to what waits."""
        values = {"text": text, "queued_at": to_text(self._clock.now())}
        statement = insert(queued_messages).values(conversation_id=conversation_id, **values)
        failpoints.hit("queue.before_commit")
        async with self._database.write() as connection:
            if seen is not None and await _waiting(connection, conversation_id) != seen:
                return False
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["conversation_id"], set_=values)
            )
            await hand_over(connection, queued_in(conversation_id), given, [draft_of(conversation_id)])
        failpoints.hit("queue.after_commit")
        return True

    async def waiting(self, conversation_id: str) -> Queued:
        """The message that waits, with what is attached to it."""
        async with self._database.read() as connection:
            return await _waiting(connection, conversation_id)

    async def get(self, conversation_id: str) -> str | None:
        """The text of the message that waits, or None."""
        return (await self.waiting(conversation_id)).text

    async def remove(
        self, conversation_id: str, *, to_draft: bool = False, seen: Queued | None = None
    ) -> bool:
        """Take it back. `to_draft`: what is attached to it goes in front of what is attached to the draft;
        else it is gone. False, and nothing is changed, if none waits (any more), or if `seen` is given and is
        not what waits."""
        statement = delete(queued_messages).where(queued_messages.c.conversation_id == conversation_id)
        failpoints.hit("unqueue.before_commit")
        async with self._database.write() as connection:
            if seen is not None and await _waiting(connection, conversation_id) != seen:
                return False
            if (await connection.execute(statement)).rowcount == 0:
                return False
            if to_draft:
                await give_back(connection, queued_in(conversation_id))
            else:
                await drop(connection, queued_in(conversation_id))
        failpoints.hit("unqueue.after_commit")
        return True


async def _waiting(connection: AsyncConnection, conversation_id: str) -> Queued:
    statement = select(queued_messages.c.text).where(queued_messages.c.conversation_id == conversation_id)
    text = (await connection.execute(statement)).scalar_one_or_none()
    if text is None:
        return Queued()
    return Queued(text, tuple(await held_in(connection, queued_in(conversation_id))))
