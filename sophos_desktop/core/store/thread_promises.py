"""Reads from the tables what a thread must hold by now.

Invariant: only reads, and no texts; a conversation that is being deleted promises nothing.
"""

from sqlalchemy import and_, select

from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.domain.thread_promises import ThreadPromise
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import conversations, runs, tool_attempts


class ThreadPromiseStore:
    """Lives as long as its database."""

    def __init__(self, database: Database) -> None:
        """Keeps nothing of its own."""
        self._database = database

    async def of(self, conversation_id: str) -> ThreadPromise | None:
        """None if there is no such conversation, or it is deleted. Raises SophosError STORE_*."""
        counted = select(conversations.c.message_count).where(
            conversations.c.id == conversation_id, conversations.c.deleted_at.is_(None)
        )
        attempts = select(
            tool_attempts.c.tool_call_id,
            # Only an attempt that finished had a result to let go.
            and_(tool_attempts.c.state == "finished", tool_attempts.c.result.is_(None)).label("is_let_go"),
        ).where(tool_attempts.c.conversation_id == conversation_id)
        # An outcome lets go of the text as well: then it may be the draft again.
        inputs = select(runs.c.input_message_id).where(
            runs.c.conversation_id == conversation_id,
            runs.c.status == RunStatus.RUNNING.value,
            runs.c.input_message_id.is_not(None),
            runs.c.input_text.is_(None),
        )
        async with self._database.read() as connection:
            message_count = (await connection.execute(counted)).scalar_one_or_none()
            if message_count is None:
                return None
            sent = (await connection.execute(attempts)).all()
            arrived = (await connection.execute(inputs)).scalars().all()
        return ThreadPromise(
            message_count,
            frozenset(row.tool_call_id for row in sent),
            frozenset(row.tool_call_id for row in sent if row.is_let_go),
            frozenset(arrived),
        )
