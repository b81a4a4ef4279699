"""The journal: which calls left this machine, what came back, and what the user decided.

Invariant: an attempt is inserted before its call is sent and finished at most once; a decision is checked
against what is still open in the transaction that records it (DURABILITY.md, rules 5 and 6).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import insert, select, update

from sophos_desktop.core.domain.conversation import Attachment
from sophos_desktop.core.domain.ports import Decision, ToolAttempt, ToolJournal
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.store import rows
from sophos_desktop.core.store.attachments import Use, hold
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.deciding import Asked, Circumstances, record, told_decisions
from sophos_desktop.core.store.runs import MAIN_BRANCH
from sophos_desktop.core.store.tables import decisions, tool_attempts
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.clock import Clock, to_text

_NOTHING_ELSE = Circumstances()


class JournalStore:
    """Lives as long as its database; hands out the journal of one conversation."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Times of attempts and decisions come from `clock`."""
        self._database = database
        self._clock = clock

    def of(self, conversation_id: str, branch_id: str = MAIN_BRANCH) -> ToolJournal:
        """The journal of one conversation's branch."""
        return _BranchJournal(self._database, self._clock, conversation_id, branch_id)

    async def attempts(self, conversation_id: str) -> list[ToolAttempt]:
        """All attempts of a conversation, in the order they began."""
        statement = select(tool_attempts).where(tool_attempts.c.conversation_id == conversation_id)
        statement = statement.order_by(tool_attempts.c.started_at, tool_attempts.c.tool_call_id)
        async with self._database.read() as connection:
            found = (await connection.execute(statement)).mappings()
            return [rows.tool_attempt(dict(row)) for row in found]

    async def calls_with_results(self, conversation_id: str) -> Sequence[str]:
        """The calls whose result the journal still holds."""
        statement = select(tool_attempts.c.tool_call_id).where(
            tool_attempts.c.conversation_id == conversation_id, tool_attempts.c.result.is_not(None)
        )
        async with self._database.read() as connection:
            return list((await connection.execute(statement)).scalars())

    async def drop_results(self, conversation_id: str, tool_call_ids: Sequence[str]) -> None:
        """A checkpoint holds these calls' results now; the rows stay."""
        failpoints.hit("journal.before_drop")
        async with self._database.write() as connection:
            await connection.execute(
                update(tool_attempts)
                .where(
                    tool_attempts.c.conversation_id == conversation_id,
                    tool_attempts.c.tool_call_id.in_(list(tool_call_ids)),
                )
                .values(result=None)
            )

    async def decide(
        self, conversation_id: str, decision: Decision, about: Circumstances = _NOTHING_ELSE
    ) -> None:
        """Record a decision, and tell it in the trace of the run that waits; its time is now.

        Raises SophosError DECISION_STALE if the question is no longer open."""
        key = {"conversation_id": conversation_id, "branch_id": MAIN_BRANCH}
        failpoints.hit("decision.before_commit")
        async with self._database.write() as connection:
            # Within the transaction, so that times are in the order of the decisions.
            timed = replace(decision, decided_at=to_text(self._clock.now()))
            await record(connection, key, timed, about)
        failpoints.hit("decision.after_commit")

    async def decisions(self, conversation_id: str) -> Sequence[Decision]:
        """All decisions on a conversation's calls, in the order they were taken."""
        statement = select(decisions).where(decisions.c.conversation_id == conversation_id)
        statement = statement.order_by(decisions.c.decided_at, decisions.c.tool_call_id)
        async with self._database.read() as connection:
            found = (await connection.execute(statement)).mappings()
            return [rows.decision(dict(row)) for row in found]

    async def told_decisions(self, conversation_id: str) -> set[Asked]:
        """The decisions that are in a trace of the conversation."""
        return await told_decisions(self._database, conversation_id)


class _BranchJournal:
    """The journal as the tools node of one run uses it."""

    def __init__(self, database: Database, clock: Clock, conversation_id: str, branch_id: str) -> None:
        self._database = database
        self._clock = clock
        self._key = {"conversation_id": conversation_id, "branch_id": branch_id}

    async def latest_attempt(self, tool_call_id: str) -> ToolAttempt | None:
        statement = (
            select(tool_attempts)
            .filter_by(**self._key, tool_call_id=tool_call_id)
            .order_by(tool_attempts.c.attempt.desc())
            .limit(1)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).mappings().first()
            return None if row is None else rows.tool_attempt(dict(row))

    async def start_attempt(
        self, tool_call_id: str, run_id: str, server: str, tool: str, args: Mapping[str, Any]
    ) -> ToolAttempt:
        previous = await self.latest_attempt(tool_call_id)
        attempt = ToolAttempt(
            tool_call_id=tool_call_id,
            attempt=1 if previous is None else previous.attempt + 1,
            run_id=run_id,
            server=server,
            tool=tool,
            args=args,
            state="started",
            started_at=to_text(self._clock.now()),
            finished_at=None,
            is_error=False,
            result=None,
        )
        failpoints.hit("journal.before_started")
        async with self._database.write() as connection:
            await connection.execute(
                insert(tool_attempts).values(
                    **self._key,
                    tool_call_id=tool_call_id,
                    attempt=attempt.attempt,
                    run_id=run_id,
                    server=server,
                    tool=tool,
                    args=json.dumps(dict(args)),
                    state="started",
                    started_at=attempt.started_at,
                    is_error=0,
                )
            )
        failpoints.hit("journal.after_started")
        return attempt

    async def finish_attempt(self, attempt: ToolAttempt, result: ToolResult) -> bool:
        failpoints.hit("journal.before_finished")
        async with self._database.write() as connection:
            changed = await connection.execute(
                update(tool_attempts)
                .filter_by(
                    **self._key,
                    tool_call_id=attempt.tool_call_id,
                    attempt=attempt.attempt,
                    state="started",
                )
                .values(
                    state="finished",
                    finished_at=to_text(self._clock.now()),
                    is_error=int(result.is_error),
                    result=rows.tool_result_to_text(result),
                )
            )
            recorded = changed.rowcount == 1
            if recorded and result.attachment is not None and result.whole is not None:
                # In the same transaction: no message ever refers to what is not there.
                use = Use(self._key["conversation_id"], "tool_result", attempt.tool_call_id)
                await hold(connection, use, [Attachment(result.attachment, result.whole)])
        failpoints.hit("journal.after_finished")
        return recorded

    async def decision(self, tool_call_id: str, attempt: int) -> Decision | None:
        statement = select(decisions).filter_by(**self._key, tool_call_id=tool_call_id, attempt=attempt)
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).mappings().first()
            return None if row is None else rows.decision(dict(row))
