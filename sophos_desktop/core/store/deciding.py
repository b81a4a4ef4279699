"""Records what the user decided about a call, and tells it in the trace of the run that waits for it.

Invariant: within one transaction: the question is still open, the decision is its row, and the event is the
next one of the run. A run that somebody executes tells it itself, since its numbers are its own.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import SittingEnded, ToolDecided, event_fields
from sophos_desktop.core.domain.ports import Decision
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import conversations, decisions, runs, tool_attempts, trace_events

Asked = tuple[str, int]
"""A question: the call's id, and how many attempts had been made."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the trace tells beside the decision itself; `beside`: the other questions that were open."""

    edited: bool = False
    always: bool = False
    beside: Sequence[Asked] = ()


def tool_decided(decision: Decision, about: Circumstances, left_open: int) -> ToolDecided:
    """The event that tells a decision."""
    return ToolDecided(
        tool_call_id=decision.tool_call_id,
        decision=decision.decision,
        why=decision.why,
        decided_at=decision.decided_at,
        edited=about.edited,
        reason=decision.reason,
        always=about.always,
        attempt=decision.attempt,
        left_open=left_open,
    )


async def record(
    connection: AsyncConnection,
    key: dict[str, str],
    decision: Decision,
    about: Circumstances,
) -> None:
    """`key`: conversation and branch; `decision.decided_at` is now. Raises SophosError DECISION_STALE."""
    await _refuse_stale(connection, key, decision)
    active = await _active_run(connection, key["conversation_id"])
    if active is None:
        raise stale_decision()
    await connection.execute(insert(decisions).values(**key, **_values(decision)))
    await connection.execute(
        update(conversations)
        .where(conversations.c.id == key["conversation_id"])
        .values(updated_at=decision.decided_at)  # so that every list of conversations looks again
    )
    if active["status"] == RunStatus.WAITING.value:
        left_open = len(about.beside) - await _decided_among(connection, key, about.beside)
        await _tell(connection, active["id"], tool_decided(decision, about, left_open))


async def _refuse_stale(connection: AsyncConnection, key: dict[str, str], decision: Decision) -> None:
    attempts = (
        select(func.max(tool_attempts.c.attempt), func.count().filter(tool_attempts.c.state == "finished"))
        .filter_by(**key, tool_call_id=decision.tool_call_id)
        .select_from(tool_attempts)
    )
    made, finished = (await connection.execute(attempts)).one()
    asked = (decision.tool_call_id, decision.attempt)
    if (made or 0) != decision.attempt or finished or await _decided_among(connection, key, [asked]):
        raise stale_decision()


async def _decided_among(connection: AsyncConnection, key: dict[str, str], asked: Sequence[Asked]) -> int:
    if not asked:
        return 0
    one_of_them = or_(
        *(
            and_(decisions.c.tool_call_id == call_id, decisions.c.attempt == attempt)
            for call_id, attempt in asked
        )
    )
    count = select(func.count()).select_from(decisions).filter_by(**key).where(one_of_them)
    return int((await connection.execute(count)).scalar_one())


async def _active_run(connection: AsyncConnection, conversation_id: str) -> dict[str, Any] | None:
    active = (RunStatus.RUNNING.value, RunStatus.WAITING.value)
    statement = select(runs.c.id, runs.c.status).where(
        runs.c.conversation_id == conversation_id, runs.c.status.in_(active)
    )
    row = (await connection.execute(statement)).mappings().first()
    return None if row is None else dict(row)


def _values(decision: Decision) -> dict[str, object]:
    return {
        "tool_call_id": decision.tool_call_id,
        "attempt": decision.attempt,
        "why": decision.why,
        "decision": decision.decision,
        "args": json.dumps(dict(decision.args)) if decision.args is not None else None,
        "reason": decision.reason,
        "result": decision.result,
        "fingerprint": decision.fingerprint,
        "decided_at": decision.decided_at,
    }


async def _tell(connection: AsyncConnection, run_id: str, event: ToolDecided) -> None:
    of_run = select(trace_events.c.seq, trace_events.c.event).where(trace_events.c.run_id == run_id)
    last = (await connection.execute(of_run.order_by(trace_events.c.seq.desc()).limit(1))).first()
    if last is None or last.event not in (SittingEnded.type, ToolDecided.type):
        # The row waits, and the sitting is about to tell its end: with the number that would be taken here.
        # The sitting that goes on tells it.
        return
    values = {
        "run_id": run_id,
        "seq": last.seq + 1,
        "at": event.decided_at,
        "event": event.type,
        "name": event.tool_call_id,
        "data": json.dumps(event_fields(event)),
    }
    await connection.execute(insert(trace_events).values(**values))


async def wholly_decided(connection: AsyncConnection, run_ids: Sequence[str]) -> set[str]:
    """Those of some waiting runs of which nothing is asked any more, by what their traces tell last."""
    found = set()
    for run_id in run_ids:
        of_run = select(trace_events.c.event, trace_events.c.data).where(trace_events.c.run_id == run_id)
        last = (await connection.execute(of_run.order_by(trace_events.c.seq.desc()).limit(1))).first()
        if last is not None and last.event == ToolDecided.type and not json.loads(last.data)["left_open"]:
            found.add(run_id)
    return found


async def told_decisions(database: Database, conversation_id: str) -> set[Asked]:
    """The decisions that are in a trace of the conversation."""
    statement = (
        select(trace_events.c.name, trace_events.c.data)
        .join(runs, runs.c.id == trace_events.c.run_id)
        .where(runs.c.conversation_id == conversation_id, trace_events.c.event == ToolDecided.type)
    )
    async with database.read() as connection:
        found = await connection.execute(statement)
        return {(str(row.name), int(json.loads(row.data)["attempt"])) for row in found}


def stale_decision() -> SophosError:
    """What a decision gets that comes too late."""
    return SophosError(
        ErrorCode.DECISION_STALE,
        "This question is no longer open",
        "See `approvals` for what waits for a decision now",
    )
