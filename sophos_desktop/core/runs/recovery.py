"""Makes true again what a killed process left behind (DURABILITY.md, rules 12 and 13).

Invariant: children first, then deletions, then runs; a row is only touched if its owner is dead, or is this
process and works on nothing. Recovery never calls a model or a tool.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import Recovered, SittingEnded
from sophos_desktop.core.domain.ports import Child
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.runs.damage import with_older_state
from sophos_desktop.core.runs.event_stream import EventStream
from sophos_desktop.core.runs.questions import open_step, undecided_questions
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.runs.tidying import finish_deletion, let_go_of_stored
from sophos_desktop.core.store.runs import Outcome
from sophos_desktop.foundation import child_processes, owner_lock

_log = logging.getLogger(__name__)

CHILD_TOKEN_VARIABLE = "SOPHOS_CHILD_TOKEN"
_DECIDED = "everything is decided; it can be resumed"
_GRACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class RecoveredRun:
    """What recovery found out about a run."""

    conversation_id: str
    run_id: str
    status: RunStatus
    what: str


class Recovery:
    """Lives as long as the core."""

    def __init__(
        self, stores: Stores, owners_dir: Path, owner_id: str, works_on: Callable[[str], bool]
    ) -> None:
        """`works_on` says whether this process has a live task for a run id."""
        self._stores = stores
        self._owners_dir = owners_dir
        self._owner_id = owner_id
        self._works_on = works_on

    async def at_start(self) -> Sequence[RecoveredRun]:
        """Everything, for all conversations. Raises SophosError STORE_*."""
        await self.end_orphans()
        await self.finish_deletions()
        await self._stores.drafts.take_in(self._is_gone)
        found = [*await self._recover(await self._stores.runs.with_status(RunStatus.RUNNING))]
        for waiting in await self._stores.runs.with_status(RunStatus.WAITING):
            looked_at = await self._look_at_waiting(waiting, ends_decided=False)
            found += [looked_at] if looked_at is not None else []
        await asyncio.to_thread(owner_lock.sweep, self._owners_dir)
        return found

    async def before_claim(self, conversation_id: str) -> Sequence[RecoveredRun]:
        """What a dead owner left on one conversation. Raises SophosError STORE_*."""
        active = await self._stores.runs.active(conversation_id)
        if active is None or active.status is not RunStatus.RUNNING or not await self._is_dead(active):
            return ()
        await self.end_orphans()
        return await self._recover([active])

    async def release_decided(self, conversation_id: str) -> RecoveredRun | None:
        """End a run that waits though everything is decided: its process was killed before it went on.

        A message can be sent then, and what was decided holds. Raises SophosError STORE_*."""
        active = await self._stores.runs.active(conversation_id)
        if active is None or active.status is not RunStatus.WAITING:
            return None
        return await self._look_at_waiting(active, ends_decided=True)

    async def end_orphans(self) -> None:
        """End the children of dead owners, never those of a live one."""
        recorded = await self._stores.children.all()
        others = {child.owner for child in recorded} - {self._owner_id}
        dead = {owner for owner in others if not await self._is_alive(owner)}
        orphans = [child for child in recorded if child.owner in dead]
        await asyncio.gather(*(asyncio.to_thread(_end, child) for child in orphans))
        for child in orphans:
            await self._stores.children.ended(child.token)

    async def finish_deletions(self) -> None:
        """Go on where a deletion was cut off (DURABILITY.md, rule 14)."""
        for conversation_id in await self._stores.conversations.deleted():
            await finish_deletion(self._stores, conversation_id)

    async def _is_alive(self, owner: str) -> bool:
        return await asyncio.to_thread(owner_lock.is_alive, self._owners_dir, owner)

    async def _is_gone(self, owner: str) -> bool:
        return not await self._is_alive(owner)

    async def _is_dead(self, record: RunRecord) -> bool:
        if record.owner == self._owner_id:
            return not self._works_on(record.id)
        return record.owner is None or not await self._is_alive(record.owner)

    async def _recover(self, records: Sequence[RunRecord]) -> Sequence[RecoveredRun]:
        found = []
        for record in records:
            if not await self._is_dead(record):
                continue
            recovered = await self._recover_run(record)
            if recovered is not None:
                found.append(recovered)
        return found

    async def _recover_run(self, record: RunRecord) -> RecoveredRun | None:
        try:
            outcome, what = await self._judge(record)
        except SophosError as error:
            outcome = await self._unreadable(record, error, RunStatus.FAILED)
            what = f"its state cannot be read: {error.title}"
        return await self._finish(record, outcome, what)

    async def _unreadable(self, record: RunRecord, error: SophosError, status: RunStatus) -> Outcome:
        known = await with_older_state(self._stores, record.conversation_id, error)
        return Outcome(
            status,
            error_code=known.code.value,
            error_message=known.message,
            unfinished=known.code is not ErrorCode.THREAD_UNREADABLE,
            draft=record.input_text,
            may_hold_draft=True,
        )

    async def _look_at_waiting(self, record: RunRecord, *, ends_decided: bool) -> RecoveredRun | None:
        """A run that waits is left alone as long as a question of it is open; one that nothing is asked of
        ends. One whose questions are decided is to go on as the same run, unless something else is wanted."""
        try:
            thread = await self._stores.graph.read(record.conversation_id)
            if await undecided_questions(self._stores.journal, record.conversation_id, thread):
                return None
        except SophosError as error:
            if error.code is not ErrorCode.THREAD_UNREADABLE:
                raise
            outcome = await self._unreadable(record, error, RunStatus.INTERRUPTED)
            return await self._finish(record, outcome, f"its state cannot be read: {error.title}")
        if thread.questions and not ends_decided:
            return RecoveredRun(record.conversation_id, record.id, record.status, _DECIDED)
        outcome = Outcome(
            RunStatus.INTERRUPTED, unfinished=thread.unfinished, message_count=thread.message_count
        )
        return await self._finish(record, outcome, _DECIDED if thread.questions else "nothing was asked")

    async def _finish(self, record: RunRecord, outcome: Outcome, what: str) -> RecoveredRun | None:
        """None if somebody else has the row by now."""
        if not await self._stores.runs.finish(record.id, outcome, owner=record.owner):
            return None
        _log.info("recovered run %s: %s", record.id, outcome.status.value)
        await self._announce(record, outcome, what)
        return RecoveredRun(record.conversation_id, record.id, outcome.status, what)

    async def _judge(self, record: RunRecord) -> tuple[Outcome, str]:
        thread = await self._stores.graph.read(record.conversation_id)
        await let_go_of_stored(self._stores, record.conversation_id, thread)
        draft = None
        if record.input_message_id is not None and not thread.holds(record.input_message_id):
            draft = record.input_text
        outcome = Outcome(
            RunStatus.COMPLETED,
            unfinished=thread.unfinished,
            message_count=thread.message_count,
            draft=draft,
        )
        step = (await open_step(self._stores.journal, record.conversation_id, thread)).words()
        counts = f": {step}" if step else ""
        undecided = await undecided_questions(self._stores.journal, record.conversation_id, thread)
        if undecided:
            about = "a call" if len(undecided) == 1 else f"{len(undecided)} calls"
            return _with(outcome, RunStatus.WAITING), f"it waits for your decision on {about}{counts}"
        if draft is not None:
            return _with(
                outcome, RunStatus.INTERRUPTED
            ), "your message was not sent; it is in the composer again"
        if thread.unfinished:
            return _with(outcome, RunStatus.INTERRUPTED), f"it was interrupted and can be resumed{counts}"
        return outcome, "its answer was complete"

    async def _announce(self, record: RunRecord, outcome: Outcome, what: str) -> None:
        first = await self._stores.trace.last_seq(record.id) + 1
        stream = EventStream(record.id, self._stores.trace, self._stores.clock, first)
        waits = outcome.status is RunStatus.WAITING
        ended = SittingEnded(
            status=outcome.status.value,
            error_code=outcome.error_code,
            error_message=outcome.error_message,
            resumable=outcome.unfinished and not waits,
            usage=stream.usage,
        )
        await stream.emit(Recovered(what), ended)


def _with(outcome: Outcome, status: RunStatus) -> Outcome:
    return Outcome(
        status,
        unfinished=outcome.unfinished,
        message_count=outcome.message_count,
        draft=outcome.draft,
    )


def _end(child: Child) -> None:
    child_processes.end_recorded(
        child.pid, child.start_time, child.token, CHILD_TOKEN_VARIABLE, grace_seconds=_GRACE_SECONDS
    )
