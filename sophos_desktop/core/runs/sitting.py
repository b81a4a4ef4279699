"""One sitting: from the claim, or a decision, to the recorded outcome.

Invariant: the outcome is written last, after the graph has stopped and its puts are done; only then is the
end announced. Whatever arrived and is not in the thread is kept as a partial (DURABILITY.md, rules 9 to 11).
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from sophos_desktop.core.agent.graph_runner import FAILED_ITSELF, DrainRequest, Question, Thread
from sophos_desktop.core.agent.run_context import RunContext
from sophos_desktop.core.domain.conversation import AttachmentRef, Message, MessageState
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ApprovalNeeded, Event, Recovered, RunStarted, SittingEnded
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.runs.announcer import Announcer
from sophos_desktop.core.runs.damage import with_older_state
from sophos_desktop.core.runs.decided import untold_decisions
from sophos_desktop.core.runs.event_stream import EventStream
from sophos_desktop.core.runs.model_choice import ModelChoice
from sophos_desktop.core.runs.partials import PartialKeeper, answer_so_far
from sophos_desktop.core.runs.questions import undecided_questions
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.runs.tidying import let_go_of_stored
from sophos_desktop.core.store.attachments import sent_with
from sophos_desktop.core.store.runs import Outcome
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

# A library may swallow a cancellation (`asyncio.wait_for` of Python 3.11 does if its result comes at that
# very moment), and then the run would go on for ever.
CANCEL_AGAIN_SECONDS = 2.0


class Sitting:
    """Lives from the claim to the end event. Used on one loop; `execute` is its only task but the graph's."""

    def __init__(
        self,
        stores: Stores,
        record: RunRecord,
        context: RunContext,
        stream: EventStream,
        choice: ModelChoice,
        partials: PartialKeeper,
        step_limit: int,
    ) -> None:
        """`record`: the claimed row; `context`: what its graph's nodes get."""
        self.record = record
        self.stream = stream
        self._stores = stores
        self._context = context
        self._choice = choice
        self._partials = partials
        self._step_limit = step_limit
        self._drain = DrainRequest()
        self._stop_requested = False
        self._is_announced = False
        self._tasks = TaskOwner(lambda error: _log.error("a sitting failed", exc_info=error))
        self._work: asyncio.Task[SophosError | None] | None = None
        self._cancel_again: asyncio.TimerHandle | None = None
        self._questions_asked: list[Event] = []
        self._announcer = Announcer(stores, record, context, stream, partials)

    def stop(self) -> None:
        """End it now: what arrived is kept, the run is `cancelled`."""
        self._stop_requested = True
        self._cancel_work()

    def drain(self) -> None:
        """End it after the step that runs now."""
        self._drain.make()

    def interrupt(self) -> None:
        """End it now, as part of a drain: the run is `interrupted`."""
        self._drain.make()
        self._cancel_work()

    def _cancel_work(self) -> None:
        """Again and again, until it has ended."""
        if self._work is None or self._work.done():
            return
        self._work.cancel()
        if self._cancel_again is not None:
            self._cancel_again.cancel()
        loop = asyncio.get_running_loop()
        self._cancel_again = loop.call_later(CANCEL_AGAIN_SECONDS, self._cancel_work)

    async def execute(self) -> SittingEnded:
        """Run to the outcome. Raises nothing but cancellation."""
        ending = self._stores.saver.listen(self.record.conversation_id, self._announcer.checkpoint_stored)
        self._work = self._tasks.spawn(self._drive(), f"run {self.record.id}")
        if self._stop_requested:
            self._cancel_work()
        keeper = self._tasks.spawn(self._partials.keep(self.stream), f"partials {self.record.id}")
        try:
            await asyncio.wait({self._work})
            error = None if self._work.cancelled() else self._work.result()
            keeper.cancel()
            await asyncio.wait({keeper})
            await self._stores.saver.puts_done(self.record.conversation_id)
            return await self._conclude(error, was_cancelled=self._work.cancelled())
        finally:
            if self._cancel_again is not None:
                self._cancel_again.cancel()
            ending()
            await self._tasks.close()

    async def _drive(self) -> SophosError | None:
        """The graph's work; the error that ended it, if any."""
        try:
            await self._announce_start()
            await self._continue_thread()
            while await self._was_decided_meanwhile():
                await self._stores.graph.run(
                    self._context, self._drain, message=None, step_limit=self._step_limit
                )
        except SophosError as error:
            return await with_older_state(self._stores, self.record.conversation_id, error)
        except Exception as error:  # noqa: BLE001  # whatever it is, the run gets an outcome
            _log.exception("run %s failed in our own code", self.record.id)
            return _bug(error)
        return None

    async def _announce_start(self) -> None:
        # Between its sittings a run was decided on; stored then, and told here to whoever follows it.
        self.stream.replay(await self._stores.trace.decided_since_end(self.record.id))
        notice = await self._choice.make()
        self._partials.model = self._choice.model
        events = [self._started()]
        if notice is not None:
            events.append(notice)
        await self.stream.emit(*events)
        self._is_announced = True

    def _started(self) -> Event:
        return RunStarted(
            conversation_id=self.record.conversation_id,
            kind=self.record.kind.value,
            engine=self._choice.engine,
            model=self._choice.model,
        )

    async def _continue_thread(self) -> None:
        record, graph = self.record, self._stores.graph
        thread = await graph.read(record.conversation_id)
        await self._tell_decisions(thread)
        # Finished by an earlier process, stored with the next checkpoint: announced with it.
        self._context.produced.extend(thread.results)
        if thread.results:
            what = "result was" if len(thread.results) == 1 else "results were"
            await self.stream.emit(Recovered(f"{len(thread.results)} finished {what} taken over"))
        left = await self._partials.left_by_earlier_runs(thread)
        self._announcer.supersedes([run_id for run_id, _ in left])
        message = None
        entering: Sequence[Message] = ()
        attached: Sequence[AttachmentRef] = ()
        if record.input_message_id is not None and not thread.holds(record.input_message_id):
            message = (record.input_message_id, record.input_text or "")
            attached = await self._stores.attachments.held_by(
                sent_with(record.conversation_id, record.input_message_id)
            )
            entering = answer_so_far([partial for _, partial in left])
            if thread.must_settle:
                await graph.settle(self._context)
        await graph.run(
            self._context,
            self._drain,
            message=message,
            attachments=attached,
            partials=entering,
            at=to_text(self._stores.clock.now()),
            step_limit=self._step_limit,
        )

    async def _was_decided_meanwhile(self) -> bool:
        """True if a question that is open in the thread has its decision: the graph can go on."""
        if self._drain.made:
            return False
        thread = await self._stores.graph.read(self.record.conversation_id)
        undecided = await undecided_questions(self._stores.journal, self.record.conversation_id, thread)
        await self._tell_decisions(thread)
        return len(undecided) < len(thread.questions)

    async def _tell_decisions(self, thread: Thread) -> None:
        decided = await untold_decisions(self._stores, self.record.conversation_id, thread)
        if decided:
            await self.stream.emit(*decided)

    async def _conclude(self, error: SophosError | None, *, was_cancelled: bool) -> SittingEnded:
        outcome = Outcome(RunStatus.FAILED, unfinished=True)
        closing: list[Event] = []
        try:
            outcome = await self._judge(error, was_cancelled=was_cancelled)
            await self._stores.runs.finish(self.record.id, outcome, owner=self.record.owner)
            closing = self._questions_asked
        except Exception as failure:  # noqa: BLE001  # whatever it is, nobody may wait for the end for ever
            # The row stays as it is; the next claim finds that nobody works on it and recovers it.
            known = failure if isinstance(failure, SophosError) else _bug(failure)
            _log.error(
                "the outcome of run %s could not be recorded: %s", self.record.id, known, exc_info=failure
            )
            outcome = _failed(outcome, error or known)
        return await self._announce_end(outcome, closing)

    async def _judge(self, error: SophosError | None, *, was_cancelled: bool) -> Outcome:
        """What became of the run; what arrived is kept. Raises SophosError STORE_*."""
        try:
            thread = await self._stores.graph.read(self.record.conversation_id)
        except SophosError as failure:
            # Nobody knows whether it holds the message: rather twice than lost.
            readable_later = failure.code is not ErrorCode.THREAD_UNREADABLE
            outcome = Outcome(
                RunStatus.FAILED,
                unfinished=readable_later,
                draft=self.record.input_text,
                may_hold_draft=True,
            )
            return _failed(outcome, error or failure)
        outcome = await self._outcome(thread, error, was_cancelled=was_cancelled)
        stopped = outcome.status is RunStatus.CANCELLED
        state = MessageState.STOPPED if stopped else MessageState.INCOMPLETE
        await self._partials.save(self.stream.arrived, thread, state, self._choice.model)
        await let_go_of_stored(self._stores, self.record.conversation_id, thread)
        return outcome

    async def _outcome(self, thread: Thread, error: SophosError | None, *, was_cancelled: bool) -> Outcome:
        record = self.record
        draft = None
        if record.input_message_id is not None and not thread.holds(record.input_message_id):
            draft = record.input_text
        self._questions_asked = []
        outcome = Outcome(
            status=RunStatus.COMPLETED,
            error_code=error.code.value if error else None,
            error_message=_for_a_run(error).message if error else None,
            unfinished=thread.unfinished,
            message_count=thread.message_count,
            draft=draft,
        )
        if self._stop_requested and (thread.unfinished or draft is not None):
            return replace(outcome, status=RunStatus.CANCELLED, error_code=None, error_message=None)
        if error is not None:
            return replace(outcome, status=RunStatus.FAILED)
        if thread.questions and not was_cancelled:
            undecided = await undecided_questions(self._stores.journal, record.conversation_id, thread)
            if undecided:
                self._questions_asked = [_approval(question) for question in undecided]
                return replace(outcome, status=RunStatus.WAITING)
        if thread.unfinished or draft is not None:
            return replace(outcome, status=RunStatus.INTERRUPTED)
        return outcome

    async def _announce_end(self, outcome: Outcome, closing: list[Event]) -> SittingEnded:
        waits = outcome.status is RunStatus.WAITING
        ended = SittingEnded(
            status=outcome.status.value,
            error_code=outcome.error_code,
            error_message=outcome.error_message,
            resumable=outcome.unfinished and not waits,
            usage=self.stream.usage,
        )
        if not self._is_announced:  # stopped, or refused by the store, before it really began
            closing = [self._started(), *closing]
        try:
            await self.stream.emit(*closing, ended)
        except SophosError as failure:
            _log.error("the end of run %s could not be stored: %s", self.record.id, failure.code)
            for event in (*closing, ended):
                self.stream.publish_unstored(event)
        return ended


def _failed(outcome: Outcome, error: SophosError) -> Outcome:
    error = _for_a_run(error)
    return replace(outcome, status=RunStatus.FAILED, error_code=error.code.value, error_message=error.message)


def _for_a_run(error: SophosError) -> SophosError:
    """A run goes on from its last step once there is room; nothing else that the store refuses does."""
    if error.code is not ErrorCode.STORE_FULL:
        return error
    return error.with_remedy(
        "Free some space on the disk, then resume; everything up to the last step is stored"
    )


def _bug(error: BaseException) -> SophosError:
    return SophosError(
        ErrorCode.AGENT_FAILURE,
        FAILED_ITSELF,
        "Resume to try again; the log has more than the details here",
        details=f"{type(error).__name__}: {error}",
    )


def _approval(question: Question) -> ApprovalNeeded:
    return ApprovalNeeded(
        tool_call_id=question.tool_call_id,
        server=question.server,
        tool=question.tool,
        args=question.args,
        why="approval" if question.why == "approval" else "uncertain",
        asked_at=question.asked_at,
        reason=question.reason,
        scope=question.scope,
    )
