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
from sophos_desktop.core.runs.event_stream import EventStream
from sophos_desktop.core.runs.questions import undecided_questions
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.runs.tidying import let_go_of_stored
from sophos_desktop.core.store.runs import Outcome
from sophos_desktop.foundation import child_processes, owner_lock

_log = logging.getLogger(__name__)

CHILD_TOKEN_VARIABLE = "SOPHOS_CHILD_TOKEN"
_GRACE_SECONDS = 1.5


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
        found = await self._recover(await self._stores.runs.with_status(RunStatus.RUNNING))
        await asyncio.to_thread(owner_lock.sweep, self._owners_dir)
        return found

    async def before_claim(self, conversation_id: str) -> Sequence[RecoveredRun]:
        """What a dead owner left on one conversation. Raises SophosError STORE_*."""
        active = await self._stores.runs.active(conversation_id)
        if active is None or active.status is not RunStatus.RUNNING or not await self._is_dead(active):
            return ()
        await self.end_orphans()
        return await self._recover([active])

    async def end_orphans(self) -> None:
        """End the children of dead owners, never those of a live one."""
        for child in await self._stores.children.all():
            if child.owner == self._owner_id or await self._is_alive(child.owner):
                continue
            await asyncio.to_thread(_end, child)
            await self._stores.children.ended(child.token)

    async def finish_deletions(self) -> None:
        """Go on where a deletion was cut off (DURABILITY.md, rule 14)."""
        for conversation_id in await self._stores.conversations.deleted():
            await self._stores.saver.adelete_thread(conversation_id)
            await self._stores.conversations.remove(conversation_id)

    async def _is_alive(self, owner: str) -> bool:
        return await asyncio.to_thread(owner_lock.is_alive, self._owners_dir, owner)

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
            outcome = Outcome(
                RunStatus.FAILED,
                error_code=error.code.value,
                error_message=error.message,
                unfinished=error.code is not ErrorCode.THREAD_UNREADABLE,
                draft=record.input_text,
            )
            what = f"its state cannot be read: {error.title}"
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
        if await undecided_questions(self._stores.journal, record.conversation_id, thread):
            return _with(outcome, RunStatus.WAITING), "it waits for your decision"
        if draft is not None:
            return _with(
                outcome, RunStatus.INTERRUPTED
            ), "your message was not sent; it is in the composer again"
        if thread.unfinished:
            return _with(outcome, RunStatus.INTERRUPTED), "it was interrupted and can be resumed"
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
    if child.pid is not None and child.start_time is not None:
        child_processes.end_tree(child.pid, child.start_time, grace_seconds=_GRACE_SECONDS)
    for pid in child_processes.find_by_token(child.token, CHILD_TOKEN_VARIABLE):
        start_time = child_processes.identify(pid)
        if start_time is not None:
            child_processes.end_tree(pid, start_time, grace_seconds=_GRACE_SECONDS)
