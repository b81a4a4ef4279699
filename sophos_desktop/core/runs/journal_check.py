"""Proves that threads, journal, decisions, runs and attachments agree, or says where they do not.

Invariant: changes nothing; reads one conversation at a time and keeps nothing of it but what is wrong. A
conversation on which a living process works is left out, since its records are on their way.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sophos_desktop.core.agent.graph_runner import GraphRunner, Thread
from sophos_desktop.core.domain.conversation import Message, Role, ToolStatus
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.runs.questions import open_calls
from sophos_desktop.core.store.consistency import (
    AttemptFacts,
    ConsistencyStore,
    ConversationFacts,
    RunFacts,
    UseFacts,
)

READINGS = 2
"""How often a conversation is read that changes meanwhile, before it counts as worked on."""

IsAlive = Callable[[str], Awaitable[bool]]
Progress = Callable[[int, int], None]
"""Called on the loop with how many conversations are done, of how many."""

_RESTART = "Start Sophos again: it recovers that"
_NEXT_RUN = "Send or resume something there: the next run puts it right"
_CHANGED = "If messages are missing there, put back a backup; else nothing needs to be done"
_LOOK = "Look at what the call did before you rely on it; the conversation goes on"
_ASK_AGAIN = "Ask for it again there, if you need it"
ATTACH_AGAIN = "The model is told that it could not be read; attach it again if you need it"
_DELETE = "Nothing is lost; it goes with the conversation"


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where the records do not agree. `conversation_id` is empty for what belongs to none."""

    conversation_id: str
    text: str
    remedy: str

    def sentence(self) -> str:
        """For people."""
        where = f"conversation {self.conversation_id}: " if self.conversation_id else ""
        return f"{where}{self.text}. {self.remedy}"


class JournalCheck:
    """Made for one check."""

    def __init__(self, store: ConsistencyStore, graph: GraphRunner, is_alive: IsAlive) -> None:
        """`is_alive` says of an owner's id whether its process lives."""
        self._store = store
        self._graph = graph
        self._is_alive = is_alive
        self.checked = 0
        self.worked_on = 0
        self.unreadable = 0

    async def findings(self, on_progress: Progress | None = None) -> AsyncGenerator[Finding, None]:
        """All of them, conversation by conversation. Raises SophosError STORE_*."""
        ids = await self._store.conversation_ids()
        for done, conversation_id in enumerate(ids, start=1):
            for finding in await self._of_conversation(conversation_id):
                yield finding
            if on_progress is not None:
                on_progress(done, len(ids))
        unused = await self._store.unused_attachments()
        if unused:
            text = "1 attachment is kept that nobody refers to"
            if unused > 1:
                text = f"{unused} attachments are kept that nobody refers to"
            yield Finding("", text, "They go when the next conversation is deleted")

    async def _of_conversation(self, conversation_id: str) -> Sequence[Finding]:
        for _ in range(READINGS):
            facts = await self._store.facts(conversation_id)
            if facts is None:
                return ()  # it was deleted meanwhile
            running = [run for run in facts.runs if run.status is RunStatus.RUNNING]
            if running:
                return await self._of_running(conversation_id, running[0])
            try:
                thread = await self._graph.read_as_found(conversation_id)
            except SophosError as error:
                if error.code is not ErrorCode.THREAD_UNREADABLE:
                    raise
                self.unreadable += 1  # the check of the threads names it
                return ()
            if await self._store.facts(conversation_id) == facts:
                self.checked += 1
                return [*disagreements(conversation_id, facts, thread)]
        self.worked_on += 1
        return ()

    async def _of_running(self, conversation_id: str, run: RunFacts) -> Sequence[Finding]:
        if run.owner is not None and await self._is_alive(run.owner):
            self.worked_on += 1
            return ()
        self.checked += 1
        return [
            Finding(
                conversation_id, f"the run {run.id} goes on by its row, but its process is dead", _RESTART
            )
        ]


def disagreements(conversation_id: str, facts: ConversationFacts, thread: Thread) -> Iterator[Finding]:
    """Where the records of a conversation on which nobody works do not agree."""
    known = _Known(facts, thread)
    for text, remedy in (
        *known.of_runs(),
        *known.of_attempts(),
        *known.of_results(),
        *known.of_decisions(),
        *known.of_attachments(),
    ):
        yield Finding(conversation_id, text, remedy)


_Wrong = tuple[str, str]


class _Known:
    """What the tables and the thread say of one conversation."""

    def __init__(self, facts: ConversationFacts, thread: Thread) -> None:
        self._facts = facts
        self._thread = thread
        messages = thread.to_domain()
        pending = {message.id for message in thread.results}
        self._attached = {
            (message.id, kept.sha256)
            for message in messages
            if message.role is Role.USER
            for kept in message.attachments
        }
        self._calls = {call.id for message in messages for call in message.tool_calls}
        self._results = _results_by_call(messages)
        self._stored = {call for call, result in self._results.items() if result.id not in pending}
        self._open = set(open_calls(thread))
        self._attempts: dict[str, list[AttemptFacts]] = {}
        for attempt in facts.attempts:
            self._attempts.setdefault(attempt.tool_call_id, []).append(attempt)

    def of_runs(self) -> Iterator[_Wrong]:
        if not self._facts.runs:
            return
        latest = self._facts.runs[-1]
        for run in self._facts.runs:
            if run.status is RunStatus.WAITING and not self._thread.questions:
                yield f"the run {run.id} waits for a decision, but nothing is asked", _RESTART
        if latest.unfinished != self._thread.unfinished:
            said, found = ("work is left", "the thread is complete")
            if not latest.unfinished:
                said, found = ("all is done", "the thread has work left")
            yield f"by the run {latest.id} {said}, but {found}", _NEXT_RUN
        if self._facts.message_count != self._thread.message_count:
            counted, found = self._facts.message_count, str(self._thread.message_count)
            yield f"{counted} messages are counted, but the thread has {found}", _NEXT_RUN

    def of_attempts(self) -> Iterator[_Wrong]:
        active = {run.id for run in self._facts.runs if run.status.is_active}
        for call, attempts in self._attempts.items():
            finished = any(attempt.is_finished for attempt in attempts)
            kept = any(attempt.is_kept for attempt in attempts)
            if call not in self._calls:
                yield f"the call {call} was made, but the thread does not know it", _CHANGED
            elif finished and not kept and call not in self._results:
                yield f"the call {call} gave a result that is neither in the thread nor kept", _ASK_AGAIN
            elif kept and call in self._stored:
                yield f"the result of the call {call} is in the thread and still kept beside it", _NEXT_RUN
            elif not finished and attempts[-1].run_id not in active and not self._is_settled(call):
                yield f"the call {call} was sent, but is neither answered nor left to do", _LOOK

    def _is_settled(self, call: str) -> bool:
        return call in self._results or call in self._open

    def of_results(self) -> Iterator[_Wrong]:
        entered = {call for call, decision in self._facts.decisions if decision == "result"}
        for call, result in self._results.items():
            if result.tool_status is not ToolStatus.OK or call in entered:
                continue
            if not any(attempt.is_finished for attempt in self._attempts.get(call, ())):
                yield f"the thread has a result of the call {call}, of which the journal knows none", _LOOK

    def of_decisions(self) -> Iterator[_Wrong]:
        for call in dict.fromkeys(call for call, _ in self._facts.decisions):
            if call not in self._calls:
                yield f"the call {call} was decided, but the thread does not know it", _CHANGED

    def of_attachments(self) -> Iterator[_Wrong]:
        uses = self._facts.uses
        there = {use.sha256 for use in uses if use.is_there}
        of_results = {kept.sha256 for result in self._results.values() for kept in result.attachments}
        for sha256 in sorted(of_results - there):
            yield f"the attachment {sha256[:8]} of a result is missing", _ASK_AGAIN
        there_with = {(use.ref, use.sha256) for use in uses if use.kind == "message" and use.is_there}
        for _, sha256 in sorted(self._attached - there_with):
            yield f"the attachment {sha256[:8]} of a message is missing", ATTACH_AGAIN
        for use in uses:
            if not self._is_referred(use, of_results):
                yield f"the attachment {use.sha256[:8]} is kept, but nothing refers to it", _DELETE
            elif not use.is_there and use.sha256 not in of_results and use.kind != "message":
                yield f"the attachment {use.sha256[:8]} is missing", _ASK_AGAIN

    def _is_referred(self, use: UseFacts, of_results: Collection[str]) -> bool:
        if use.kind == "tool_result":
            is_kept = any(attempt.is_kept for attempt in self._attempts.get(use.ref, ()))
            return use.sha256 in of_results or is_kept
        if use.kind == "message":
            return (use.ref, use.sha256) in self._attached
        return use.kind != "queued" or self._facts.is_queued


def _results_by_call(messages: Sequence[Message]) -> Mapping[str, Message]:
    """The first result of each call."""
    found: dict[str, Message] = {}
    for message in messages:
        if message.role is Role.TOOL and message.tool_call_id:
            found.setdefault(message.tool_call_id, message)
    return found
