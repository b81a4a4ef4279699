"""Reads and writes the rows of runs: who may run, and what became of it.

Invariant: a status changes only along `LEGAL_TRANSITIONS`, and only for the owner that holds the row; the
claim inserts conversation and run in one transaction (DURABILITY.md, rule 3).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef, ConversationStatus, title_from
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import LEGAL_TRANSITIONS, LeftFailure, RunKind, RunRecord, RunStatus
from sophos_desktop.core.store import rows
from sophos_desktop.core.store.attachments import draft_of, give_back, hand_over, move, queued_in, sent_with
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.drafts import let_go_of_sent
from sophos_desktop.core.store.id_parts import has_part
from sophos_desktop.core.store.model_choices import take_new_chats
from sophos_desktop.core.store.tables import conversations, queued_messages, run_partials, runs
from sophos_desktop.foundation import failpoints
from sophos_desktop.foundation.clock import Clock, to_text

MAIN_BRANCH = "main"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim records. `input_text` and `input_message_id` are missing for a resume; `from_queue`: the
    text is the queued message, which is queued no longer once the claim is committed, and what it holds
    goes along; `attachments`: what goes with another message and leaves the draft then; `as_chosen`: a new
    conversation takes over the model that was chosen for the chat that does not exist yet."""

    run_id: str
    conversation_id: str
    kind: RunKind
    owner: str
    engine: str | None
    model: str | None
    input_text: str | None = None
    input_message_id: str | None = None
    new_conversation: bool = False
    from_queue: bool = False
    as_chosen: bool = False
    attachments: tuple[AttachmentRef | Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sitting. `draft`: text that is handed back with what is attached to it, since the
    thread does not hold it; `may_hold_draft`: nobody knows that, so what is attached is kept for both."""

    status: RunStatus
    error_code: str | None = None
    error_message: str | None = None
    unfinished: bool = False
    message_count: int | None = None
    draft: str | None = None
    may_hold_draft: bool = False


class RunStore:
    """Lives as long as its database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Times of changes come from `clock`."""
        self._database = database
        self._clock = clock

    async def claim(self, claim: Claim) -> RunRecord:
        """Take the conversation. Raises SophosError NOT_FOUND, SESSION_IN_PROGRESS, APPROVAL_PENDING,
        BAD_REQUEST (what is to go with the message is attached no longer)."""
        now = to_text(self._clock.now())
        failpoints.hit("claim.before_commit")
        try:
            async with self._database.write() as connection:
                if claim.new_conversation:
                    metadata = await take_new_chats(connection) if claim.as_chosen else {}
                    values = _new_conversation(claim, now, metadata)
                    await connection.execute(insert(conversations).values(**values))
                else:
                    await _touch_conversation(connection, claim, now)
                if claim.from_queue:
                    await _take_from_queue(connection, claim)
                await connection.execute(insert(runs).values(**_new_run(claim, now)))
                await _attach(connection, claim)
        except IntegrityError as error:
            raise await self._refusal(claim.conversation_id) from error
        failpoints.hit("claim.after_commit")
        record = await self.get(claim.run_id)
        assert record is not None
        return record

    async def _refusal(self, conversation_id: str) -> SophosError:
        active = await self.active(conversation_id)
        if active is not None and active.status is RunStatus.WAITING:
            return approval_pending()
        return SophosError(
            ErrorCode.SESSION_IN_PROGRESS,
            "An answer is being written in this conversation",
            "Wait until it has ended, or stop it",
        )

    async def get(self, run_id: str) -> RunRecord | None:
        """One run, or None."""
        found = await self._select(runs.c.id == run_id)
        return found[0] if found else None

    async def ids(self) -> Sequence[str]:
        """The ids of all runs."""
        async with self._database.read() as connection:
            return list((await connection.execute(select(runs.c.id))).scalars())

    async def ids_like(self, part: str) -> Sequence[str]:
        """The ids that begin or end with `part`, dashes ignored, `%` and `_` taken literally."""
        statement = select(runs.c.id).where(has_part(runs.c.id, part)).order_by(runs.c.id)
        async with self._database.read() as connection:
            return list((await connection.execute(statement)).scalars())

    async def of_conversation(self, conversation_id: str) -> list[RunRecord]:
        """All runs of a conversation, oldest first."""
        return await self._select(runs.c.conversation_id == conversation_id)

    async def left_failures(self, conversation_id: str) -> list[LeftFailure]:
        """The failed runs of a conversation after which the next was a message, oldest first."""
        order = (runs.c.started_at, runs.c.id)
        following = func.lead(runs.c.input_message_id).over(order_by=order).label("next_message_id")
        told = runs.c.id.label("run_id"), runs.c.error_code, runs.c.error_message, runs.c.input_message_id
        mine = select(*told, following, runs.c.status).where(runs.c.conversation_id == conversation_id)
        each = mine.order_by(*order).subquery()
        wanted = [column for column in each.c if column.name != "status"]
        is_left = (each.c.status == RunStatus.FAILED.value, each.c.next_message_id.is_not(None))
        async with self._database.read() as connection:
            found = (await connection.execute(select(*wanted).where(*is_left))).mappings()
            return [LeftFailure(**dict(row)) for row in found]

    async def active(self, conversation_id: str) -> RunRecord | None:
        """The run that is running or waiting, or None."""
        found = await self._select(
            runs.c.conversation_id == conversation_id, runs.c.status.in_(["running", "waiting"])
        )
        return found[0] if found else None

    async def with_status(self, status: RunStatus) -> list[RunRecord]:
        """All runs in one state."""
        return await self._select(runs.c.status == status.value)

    async def latest_model(self, engine: str) -> str | None:
        """The model of the newest run on an engine that completed."""
        statement = (
            select(runs.c.model)
            .where(runs.c.engine == engine, runs.c.status == RunStatus.COMPLETED.value)
            .order_by(runs.c.started_at.desc(), runs.c.id.desc())
            .limit(1)
        )
        async with self._database.read() as connection:
            return (await connection.execute(statement)).scalar_one_or_none()

    async def _select(self, *conditions: object) -> list[RunRecord]:
        statement = select(runs).where(*conditions).order_by(runs.c.started_at, runs.c.id)  # type: ignore[arg-type]
        async with self._database.read() as connection:
            return [rows.run_record(dict(row)) for row in (await connection.execute(statement)).mappings()]

    async def note_model(self, run_id: str, engine: str, model: str) -> None:
        """Record which engine and model the run took."""
        async with self._database.write() as connection:
            await connection.execute(
                update(runs).where(runs.c.id == run_id).values(engine=engine, model=model)
            )
            owner = select(runs.c.conversation_id).where(runs.c.id == run_id).scalar_subquery()
            await connection.execute(
                update(conversations).where(conversations.c.id == owner).values(model=model)
            )

    async def note_prompt(self, run_id: str, prompt_sha256: str | None) -> None:
        """Record which system prompt the run used last."""
        async with self._database.write() as connection:
            await connection.execute(
                update(runs).where(runs.c.id == run_id).values(prompt_sha256=prompt_sha256)
            )

    async def input_arrived(self, run_id: str) -> None:
        """A checkpoint holds the message: texts are stored once."""
        async with self._database.write() as connection:
            await connection.execute(update(runs).where(runs.c.id == run_id).values(input_text=None))

    async def with_input(self, conversation_id: str) -> list[RunRecord]:
        """The runs of a conversation that still hold their input beside the thread."""
        return await self._select(runs.c.conversation_id == conversation_id, runs.c.input_text.is_not(None))

    async def request_stop(self, run_id: str) -> bool:
        """Ask whoever executes the run to stop it. False if it no longer runs."""
        async with self._database.write() as connection:
            result = await connection.execute(
                update(runs)
                .where(runs.c.id == run_id, runs.c.status == RunStatus.RUNNING.value)
                .values(stop_requested=1)
            )
            return result.rowcount == 1

    async def stop_requests(self, owner: str) -> Sequence[str]:
        """The conversations whose run this owner executes and somebody asked to stop."""
        statement = select(runs.c.conversation_id).where(
            runs.c.status == RunStatus.RUNNING.value, runs.c.owner == owner, runs.c.stop_requested == 1
        )
        async with self._database.read() as connection:
            return list((await connection.execute(statement)).scalars())

    async def reclaim(self, run_id: str, owner: str) -> bool:
        """`waiting` → `running`, same row. False if it no longer waits."""
        async with self._database.write() as connection:
            result = await connection.execute(
                update(runs)
                .where(
                    runs.c.id == run_id,
                    runs.c.status == RunStatus.WAITING.value,
                    runs.c.conversation_id.in_(
                        select(conversations.c.id).where(conversations.c.deleted_at.is_(None))
                    ),
                )
                .values(status=RunStatus.RUNNING.value, owner=owner, stop_requested=0)
            )
            conversation = select(runs.c.conversation_id).where(runs.c.id == run_id).scalar_subquery()
            await connection.execute(
                update(conversations)
                .where(conversations.c.id == conversation)
                .values(updated_at=to_text(self._clock.now()))
            )
            return result.rowcount == 1

    async def finish(self, run_id: str, outcome: Outcome, *, owner: str | None) -> bool:
        """Record the outcome with the conversation's count and time in one transaction.

        `owner`: who must hold the row (None: nobody does, it waits). False: somebody else has it by now."""
        now = to_text(self._clock.now())
        waits = outcome.status is RunStatus.WAITING
        failpoints.hit("outcome.before_commit")
        async with self._database.write() as connection:
            current = (await connection.execute(select(runs).where(runs.c.id == run_id))).mappings().first()
            if current is None or current["owner"] != owner:
                return False
            status = RunStatus(current["status"])
            if outcome.status not in LEGAL_TRANSITIONS[status]:
                return False
            await connection.execute(
                update(runs)
                .where(runs.c.id == run_id)
                .values(
                    status=outcome.status.value,
                    error_code=outcome.error_code,
                    error_message=outcome.error_message,
                    unfinished=int(outcome.unfinished),
                    owner=None,
                    finished_at=None if waits else now,
                    # By now the thread holds it, or it is handed back as a draft.
                    input_text=None,
                )
            )
            if not outcome.unfinished and outcome.status is RunStatus.COMPLETED:
                await connection.execute(run_partials.delete().where(run_partials.c.run_id == run_id))
            await _update_conversation(connection, current["conversation_id"], outcome, now)
            if outcome.draft is not None and current["input_message_id"] is not None:
                unsent = sent_with(current["conversation_id"], current["input_message_id"])
                await give_back(connection, unsent, keeps=outcome.may_hold_draft)
        failpoints.hit("outcome.after_commit")
        return True


async def _update_conversation(
    connection: AsyncConnection, conversation_id: str, outcome: Outcome, now: str
) -> None:
    row = await connection.execute(select(conversations.c.draft).where(conversations.c.id == conversation_id))
    draft = row.scalar_one_or_none() or ""
    values: dict[str, object] = {"updated_at": now}
    if outcome.message_count is not None:
        values["message_count"] = outcome.message_count
    if outcome.draft is not None:
        # What was typed meanwhile stays, below what comes back.
        values["draft"] = "\n\n".join(text for text in (outcome.draft, draft) if text.strip())
    await connection.execute(
        update(conversations).where(conversations.c.id == conversation_id).values(**values)
    )


async def _touch_conversation(connection: AsyncConnection, claim: Claim, now: str) -> None:
    values: dict[str, object] = {"updated_at": now}
    mine = conversations.c.id == claim.conversation_id
    draft = (await connection.execute(select(conversations.c.draft).where(mine))).scalar_one_or_none() or ""
    # A draft is what is sent now, or the beginning of it, saved while it was typed; anything else stays.
    if claim.input_text is not None:
        if claim.input_text.strip().startswith(draft.strip()):
            values["draft"] = ""
        await let_go_of_sent(connection, claim.conversation_id, claim.owner, claim.input_text)
    result = await connection.execute(
        update(conversations)
        .where(conversations.c.id == claim.conversation_id, conversations.c.deleted_at.is_(None))
        .values(**values)
    )
    if result.rowcount == 0:
        raise SophosError(
            ErrorCode.NOT_FOUND, "There is no such conversation", "See `list` for what there is"
        )


async def _attach(connection: AsyncConnection, claim: Claim) -> None:
    """The message holds what goes with it from its first moment on."""
    if claim.input_message_id is None:
        return
    message = sent_with(claim.conversation_id, claim.input_message_id)
    if claim.from_queue:
        await move(connection, queued_in(claim.conversation_id), message)
    elif claim.attachments:
        draft = draft_of(None if claim.new_conversation else claim.conversation_id)
        await hand_over(connection, message, claim.attachments, [draft])


async def _take_from_queue(connection: AsyncConnection, claim: Claim) -> None:
    mine = (
        queued_messages.c.conversation_id == claim.conversation_id,
        queued_messages.c.text == claim.input_text,
    )
    if (await connection.execute(delete(queued_messages).where(*mine))).rowcount == 0:
        raise SophosError(
            ErrorCode.NOT_FOUND,
            "The queued message was sent or taken back meanwhile",
            "Look at the end of the conversation",
        )


def _first_name(claim: Claim) -> str:
    """What stands in for a text where there is none."""
    first = next(iter(claim.attachments), None)
    ref = first.ref if isinstance(first, Attachment) else first
    return "" if ref is None else ref.name


def _new_conversation(claim: Claim, now: str, metadata: Mapping[str, Any]) -> dict[str, object]:
    return {
        "id": claim.conversation_id,
        "title": title_from(claim.input_text or _first_name(claim)),
        "status": ConversationStatus.ACTIVE.value,
        "pinned": 0,
        "model": claim.model,
        "metadata": json.dumps(metadata),
        "message_count": 0,
        "draft": "",
        "created_at": now,
        "updated_at": now,
    }


def _new_run(claim: Claim, now: str) -> dict[str, object]:
    return {
        "id": claim.run_id,
        "conversation_id": claim.conversation_id,
        "branch_id": MAIN_BRANCH,
        "kind": claim.kind.value,
        "status": RunStatus.RUNNING.value,
        "engine": claim.engine,
        "model": claim.model,
        "input_text": claim.input_text,
        "input_message_id": claim.input_message_id,
        "owner": claim.owner,
        "unfinished": 1,
        "started_at": now,
    }


def approval_pending() -> SophosError:
    """What a new message or a resume gets while a decision is open."""
    return SophosError(
        ErrorCode.APPROVAL_PENDING,
        "This conversation waits for your decision on a tool call",
        "See `approvals`, then answer with `decide`",
    )
