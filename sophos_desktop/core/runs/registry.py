"""The runs of this process: start, resume, decide, stop, drain.

Invariant: a run begins with a claim that is committed when `start` returns; one run per conversation, here
and in every other process; after `drain` none begins and none is left.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sophos_desktop.core.agent.graph_runner import Thread
from sophos_desktop.core.domain.conversation import (
    Attachment,
    AttachmentRef,
    Conversation,
    ConversationStatus,
)
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import RunEvent, SittingEnded
from sophos_desktop.core.domain.run import RunKind, RunRecord, RunStatus
from sophos_desktop.core.domain.specs import EngineKind
from sophos_desktop.core.runs.damage import with_older_state
from sophos_desktop.core.runs.event_stream import EventStream
from sophos_desktop.core.runs.questions import undecided_questions
from sophos_desktop.core.runs.recovery import RecoveredRun, Recovery
from sophos_desktop.core.runs.sitting import Sitting
from sophos_desktop.core.runs.sitting_factory import SittingFactory
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.attachments import draft_of
from sophos_desktop.core.store.runs import Claim, Outcome, approval_pending
from sophos_desktop.foundation.ids import new_id
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

Listener = Callable[[str], None]

# A stopped run needs a moment to put its last words down.
_LAST_WORDS_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RunHandle:
    """A run of this process, for whoever started it or wants to follow it."""

    run_id: str
    conversation_id: str
    _sitting: Sitting

    def events(self, from_seq: int = 1) -> AsyncIterator[RunEvent]:
        """What happened in this sitting, then what happens; ends after SittingEnded."""
        return self._sitting.stream.events(from_seq)

    async def wait(self) -> SittingEnded:
        """The end of the sitting."""
        return await self._sitting.stream.wait()


class RunRegistry:
    """Lives as long as the core, on its loop."""

    def __init__(self, stores: Stores, factory: SittingFactory, owner_id: str) -> None:
        """`owner_id`: the lock file's id of this process."""
        self._stores = stores
        self._factory = factory
        self._owner_id = owner_id
        self._recovery: Recovery | None = None
        self._live: dict[str, RunHandle] = {}
        self._launching: list[str] = []
        self._listeners: list[Listener] = []
        self._tasks = TaskOwner(lambda error: _log.error("a run's task failed", exc_info=error))
        self._closing = False

    def use(self, recovery: Recovery) -> None:
        """Recovery asks this registry what it works on, so it is made after it."""
        self._recovery = recovery

    def works_on(self, run_id: str) -> bool:
        """True if a task of this process executes the run, or is about to."""
        return run_id in self._launching or any(handle.run_id == run_id for handle in self._live.values())

    def active(self, conversation_id: str) -> RunHandle | None:
        """The run of this process on a conversation."""
        return self._live.get(conversation_id)

    @property
    def is_idle(self) -> bool:
        """True if no run of this process is active."""
        return not self._live

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on the loop with a conversation's id when a run there starts or ends."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    async def start(
        self,
        conversation_id: str | None,
        text: str,
        *,
        engine: EngineKind | None = None,
        model: str | None = None,
        from_queue: bool = False,
        as_chosen: bool = False,
        attachments: Sequence[AttachmentRef | Attachment] = (),
    ) -> RunHandle:
        """Send a message; None begins a conversation. The text is safe when this returns. `from_queue`: it is
        the conversation's queued message, which is queued no longer then. `as_chosen`: a new conversation
        takes over the model that was chosen for the chat that does not exist yet. `attachments`: what of the
        draft's goes with it, or what is given with its bytes; a queued message has its own.

        Raises SophosError BAD_REQUEST, NOT_FOUND, SESSION_IN_PROGRESS, APPROVAL_PENDING,
        CONVERSATION_ARCHIVED, STORE_*."""
        self._refuse_if_closing()
        if not text.strip() and not attachments and not from_queue:
            raise SophosError(ErrorCode.BAD_REQUEST, "The message is empty", "Write something to send")
        if self._recovery is not None:
            await self._recovery.end_orphans()
        if conversation_id is not None:
            conversation = await self._open(conversation_id)
            if self._recovery is not None:
                await self._recovery.release_decided(conversation_id)
            engine, model = self._factory.preference(conversation, engine, model)
        elif as_chosen and engine is None and model is None:
            preferred = await self._factory.preferred_for_new_chat()
            engine, model = preferred.engine, preferred.model
        claim = Claim(
            run_id=new_id(),
            conversation_id=conversation_id or new_id(),
            kind=RunKind.MESSAGE,
            owner=self._owner_id,
            engine=engine.value if engine else None,
            model=model,
            input_text=text,
            input_message_id=new_id(),
            new_conversation=conversation_id is None,
            as_chosen=as_chosen,
            from_queue=from_queue,
            attachments=tuple(attachments),
        )
        return await self._claim_and_launch(claim, engine, model)

    async def resume(
        self, conversation_id: str, *, engine: EngineKind | None = None, model: str | None = None
    ) -> RunHandle:
        """Continue what is left to do.

        Raises SophosError RUN_NOT_RESUMABLE, NOT_FOUND, SESSION_IN_PROGRESS, APPROVAL_PENDING, STORE_*."""
        self._refuse_if_closing()
        conversation = await self._open(conversation_id)
        active = await self._stores.runs.active(conversation_id)
        if active is not None and active.status is RunStatus.WAITING:
            return await self.proceed(conversation_id)
        engine, model = self._factory.preference(conversation, engine, model)
        claim = Claim(
            run_id=new_id(),
            conversation_id=conversation_id,
            kind=RunKind.RESUME,
            owner=self._owner_id,
            engine=engine.value if engine else None,
            model=model,
        )
        if active is None and not (await self._read(conversation_id)).unfinished:
            held = await self._stores.attachments.held_by(draft_of(conversation_id))
            raise _nothing_to_resume(has_draft=bool(conversation.draft.strip() or held))
        return await self._claim_and_launch(claim, engine, model)

    async def recover(self, conversation_id: str) -> Sequence[RecoveredRun]:
        """Clear up what a dead owner left on a conversation; does nothing while the owner lives.

        For whoever follows a run of another process. Raises SophosError STORE_*."""
        return () if self._recovery is None else await self._recovery.before_claim(conversation_id)

    async def proceed(self, conversation_id: str) -> RunHandle:
        """Go on with a run that waits, after a decision: the same run, a new sitting.

        Raises SophosError APPROVAL_PENDING (nothing was decided), RUN_NOT_RESUMABLE, SESSION_IN_PROGRESS."""
        self._refuse_if_closing()
        conversation = await self._open(conversation_id)
        active = await self._stores.runs.active(conversation_id)
        if active is None:  # somebody ended the wait, as for a message that then failed: work may be left
            return await self.resume(conversation_id)
        thread = await self._read(conversation_id)
        undecided = await undecided_questions(self._stores.journal, conversation_id, thread)
        if thread.questions and len(undecided) == len(thread.questions):
            raise approval_pending()
        engine, model = self._factory.preference(conversation, None, None, goes_on=True)
        with self._launch_of(active.id):
            if not await self._stores.runs.reclaim(active.id, self._owner_id):
                raise SophosError(
                    ErrorCode.SESSION_IN_PROGRESS,
                    "The run already goes on",
                    "Wait until it has ended, or stop it",
                )
            record = await self._stores.runs.get(active.id)
            assert record is not None
            return await self._launch(record, engine, model)

    async def _read(self, conversation_id: str) -> Thread:
        try:
            return await self._stores.graph.read(conversation_id)
        except SophosError as error:
            raise await with_older_state(self._stores, conversation_id, error) from error

    async def _open(self, conversation_id: str) -> Conversation:
        """The conversation, with what a dead owner left there cleared up."""
        if self._recovery is not None:
            await self._recovery.before_claim(conversation_id)
        conversation = await self._stores.conversations.get(conversation_id)
        if conversation is None:
            raise SophosError(ErrorCode.NOT_FOUND, "There is no such conversation", "See `list`")
        if conversation.status is ConversationStatus.ARCHIVED:
            raise SophosError(
                ErrorCode.CONVERSATION_ARCHIVED, "The conversation is archived", "Take it out of the archive"
            )
        return conversation

    @contextmanager
    def _launch_of(self, run_id: str) -> Iterator[None]:
        """Between its claim and its task a run would look like one whose process died."""
        self._launching.append(run_id)
        try:
            yield
        finally:
            self._launching.remove(run_id)

    async def _claim_and_launch(
        self, claim: Claim, engine: EngineKind | None, model: str | None
    ) -> RunHandle:
        with self._launch_of(claim.run_id):
            return await self._launch(await self._stores.runs.claim(claim), engine, model)

    async def _launch(self, record: RunRecord, engine: EngineKind | None, model: str | None) -> RunHandle:
        first_seq = await self._stores.trace.last_seq(record.id) + 1
        sitting = self._factory.make(record, engine, model, first_seq)
        handle = RunHandle(record.id, record.conversation_id, sitting)
        self._live[record.conversation_id] = handle
        self._tasks.spawn(self._execute(handle), f"sitting {record.id}")
        self._tell(record.conversation_id)
        return handle

    async def _execute(self, handle: RunHandle) -> None:
        try:
            await handle._sitting.execute()
        finally:
            if self._live.get(handle.conversation_id) is handle:
                del self._live[handle.conversation_id]
            self._tell(handle.conversation_id)

    def _tell(self, conversation_id: str) -> None:
        for listener in tuple(self._listeners):
            listener(conversation_id)

    def stop(self, conversation_id: str) -> bool:
        """Stop the run of this process on a conversation; False if there is none."""
        handle = self._live.get(conversation_id)
        if handle is None:
            return False
        handle._sitting.stop()
        return True

    async def cancel_waiting(self, conversation_id: str) -> bool:
        """End a run that waits for a decision: `cancelled`, with its work left to be continued.

        False if none waits here. Raises SophosError STORE_*, THREAD_UNREADABLE."""
        active = await self._stores.runs.active(conversation_id)
        if active is None or active.status is not RunStatus.WAITING:
            return False
        thread = await self._stores.graph.read(conversation_id)
        outcome = Outcome(
            RunStatus.CANCELLED, unfinished=thread.unfinished, message_count=thread.message_count
        )
        if not await self._stores.runs.finish(active.id, outcome, owner=None):
            return False  # it was decided meanwhile and goes on
        first = await self._stores.trace.last_seq(active.id) + 1
        stream = EventStream(active.id, self._stores.trace, self._stores.clock, first)
        await stream.emit(SittingEnded(outcome.status.value, None, None, thread.unfinished, stream.usage))
        self._tell(conversation_id)
        return True

    async def drain(self, timeout_seconds: float) -> None:
        """Refuse new runs; let each run's step finish for `timeout_seconds` at most, then end it."""
        self._closing = True
        handles = tuple(self._live.values())
        for handle in handles:
            handle._sitting.drain()
        await self._ended(timeout_seconds)
        for handle in tuple(self._live.values()):
            handle._sitting.interrupt()
        await self._ended(_LAST_WORDS_SECONDS)

    async def _ended(self, timeout_seconds: float) -> None:
        endings = [self._tasks.spawn(h.wait(), f"end of {h.run_id}") for h in self._live.values()]
        if endings:
            _, late = await asyncio.wait(endings, timeout=timeout_seconds)
            for ending in late:
                ending.cancel()

    async def close(self) -> None:
        """End every task; the outcome of a run that did not drain is left to recovery."""
        self._closing = True
        await self._tasks.close()

    def _refuse_if_closing(self) -> None:
        if self._closing:
            raise SophosError(ErrorCode.SESSION_IN_PROGRESS, "Sophos is closing", "Start it again")


def _nothing_to_resume(*, has_draft: bool) -> SophosError:
    if has_draft:
        return SophosError(
            ErrorCode.RUN_NOT_RESUMABLE,
            "There is nothing to resume: what you wrote last was not sent and is kept as the draft",
            "Send it again; `show` has it",
        )
    return SophosError(
        ErrorCode.RUN_NOT_RESUMABLE,
        "There is nothing to resume: the last answer is complete",
        "Send a message instead",
    )
