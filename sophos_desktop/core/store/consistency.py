"""What the tables say of one conversation, in the few columns that a comparison with its thread needs.

Invariant: only reads, and no texts: of results and attachments it says whether they are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import (
    attachment_uses,
    attachments,
    conversations,
    decisions,
    queued_messages,
    runs,
    tool_attempts,
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run's state and who executes it."""

    id: str
    status: RunStatus
    owner: str | None
    unfinished: bool


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """An attempt; `is_kept`: its result is still in the journal."""

    tool_call_id: str
    run_id: str
    is_finished: bool
    is_kept: bool


@dataclass(frozen=True, slots=True)
class UseFacts:
    """Who holds an attachment; `is_there`: its content is stored."""

    kind: str
    ref: str
    sha256: str
    is_there: bool


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """One conversation; runs and attempts in the order in which they began, decisions as (call, decision);
    `is_queued`: a message waits there."""

    message_count: int
    runs: tuple[RunFacts, ...]
    attempts: tuple[AttemptFacts, ...]
    decisions: tuple[tuple[str, str], ...]
    uses: tuple[UseFacts, ...]
    is_queued: bool


class ConsistencyStore:
    """Lives as long as its database."""

    def __init__(self, database: Database) -> None:
        """Keeps nothing of its own."""
        self._database = database

    async def facts(self, conversation_id: str) -> ConversationFacts | None:
        """None if the conversation is not there, or deleted. Raises SophosError STORE_*."""
        async with self._database.read() as connection:
            count = await connection.execute(
                select(conversations.c.message_count).where(
                    conversations.c.id == conversation_id, conversations.c.deleted_at.is_(None)
                )
            )
            message_count = count.scalar_one_or_none()
            if message_count is None:
                return None
            of_runs = await connection.execute(
                select(runs.c.id, runs.c.status, runs.c.owner, runs.c.unfinished)
                .where(runs.c.conversation_id == conversation_id)
                .order_by(runs.c.started_at, runs.c.id)
            )
            run_facts = tuple(
                RunFacts(row.id, RunStatus(row.status), row.owner, bool(row.unfinished)) for row in of_runs
            )
            of_attempts = await connection.execute(
                select(
                    tool_attempts.c.tool_call_id,
                    tool_attempts.c.run_id,
                    tool_attempts.c.state,
                    tool_attempts.c.result.is_not(None).label("is_kept"),
                )
                .where(tool_attempts.c.conversation_id == conversation_id)
                .order_by(tool_attempts.c.tool_call_id, tool_attempts.c.attempt)
            )
            attempt_facts = tuple(
                AttemptFacts(row.tool_call_id, row.run_id, row.state == "finished", bool(row.is_kept))
                for row in of_attempts
            )
            of_decisions = await connection.execute(
                select(decisions.c.tool_call_id, decisions.c.decision)
                .where(decisions.c.conversation_id == conversation_id)
                .order_by(decisions.c.decided_at, decisions.c.tool_call_id)
            )
            decided = tuple((row.tool_call_id, row.decision) for row in of_decisions)
            of_uses = await connection.execute(
                select(
                    attachment_uses.c.kind,
                    attachment_uses.c.ref,
                    attachment_uses.c.sha256,
                    attachments.c.sha256.is_not(None).label("is_there"),
                )
                .outerjoin(attachments, attachments.c.sha256 == attachment_uses.c.sha256)
                .where(attachment_uses.c.conversation_id == conversation_id)
                .order_by(attachment_uses.c.kind, attachment_uses.c.ref, attachment_uses.c.position)
            )
            queued = await connection.execute(
                select(queued_messages.c.conversation_id).where(
                    queued_messages.c.conversation_id == conversation_id
                )
            )
            is_queued = queued.first() is not None
            use_facts = tuple(UseFacts(row.kind, row.ref, row.sha256, bool(row.is_there)) for row in of_uses)
        return ConversationFacts(message_count, run_facts, attempt_facts, decided, use_facts, is_queued)

    async def unused_attachments(self) -> int:
        """How many attachments nobody holds. Raises SophosError STORE_*."""
        used = select(attachment_uses.c.sha256).where(attachment_uses.c.sha256 == attachments.c.sha256)
        statement = select(func.count()).select_from(attachments).where(~used.exists())
        async with self._database.read() as connection:
            return int((await connection.execute(statement)).scalar_one())

    async def conversation_ids(self) -> Sequence[str]:
        """All conversations that are not deleted, oldest first. Raises SophosError STORE_*."""
        statement = select(conversations.c.id).where(conversations.c.deleted_at.is_(None))
        async with self._database.read() as connection:
            return list((await connection.execute(statement.order_by(conversations.c.id))).scalars())
