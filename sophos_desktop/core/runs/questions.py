"""What a thread waits for: questions that are still open, and calls without a result.

Invariant: an open question = asked in the thread − decided − made (DURABILITY.md, rule 5); only reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sophos_desktop.core.agent.graph_runner import Question, Thread
from sophos_desktop.core.domain.conversation import Role
from sophos_desktop.core.domain.ports import ToolAttempt
from sophos_desktop.core.store.journal import JournalStore


async def undecided_questions(
    journal: JournalStore, conversation_id: str, thread: Thread
) -> Sequence[Question]:
    """The open questions of a thread for which no decision is recorded and no call was made."""
    mine = journal.of(conversation_id)
    return [
        question
        for question in thread.questions
        if await mine.decision(question.tool_call_id, question.attempt) is None
        and not _was_made(question, await mine.latest_attempt(question.tool_call_id))
    ]


def _was_made(question: Question, latest: ToolAttempt | None) -> bool:
    """True if the call was made since: something was allowed for good, and a kill kept the thread from it."""
    return latest is not None and (latest.attempt > question.attempt or latest.state == "finished")


@dataclass(frozen=True, slots=True)
class OpenStep:
    """The calls of an open step: how many have their result, were sent without one, were never sent."""

    finished: int = 0
    uncertain: int = 0
    not_sent: int = 0

    def words(self) -> str:
        """As part of a sentence; empty if there are none."""
        parts = []
        if self.finished:
            parts.append(f"{_results(self.finished)} taken over")
        if self.uncertain:
            parts.append(f"{_calls(self.uncertain)} uncertain")
        if self.not_sent:
            parts.append(f"{_calls(self.not_sent)} not made yet")
        return ", ".join(parts)


def _results(count: int) -> str:
    return "1 finished result is" if count == 1 else f"{count} finished results are"


def _calls(count: int) -> str:
    return "1 call is" if count == 1 else f"{count} calls are"


def open_calls(thread: Thread) -> Sequence[str]:
    """The ids of the calls of an open step that have no result in the thread."""
    if not thread.must_settle:
        return ()
    messages = thread.to_domain()
    answered = {message.tool_call_id for message in messages if message.role is Role.TOOL}
    asked = next((message.tool_calls for message in reversed(messages) if message.tool_calls), ())
    return [call.id for call in asked if call.id not in answered]


async def open_step(journal: JournalStore, conversation_id: str, thread: Thread) -> OpenStep:
    """How the calls of the open step stand, by thread and journal. Raises SophosError STORE_*."""
    mine = journal.of(conversation_id)
    states: list[str | None] = []
    for call_id in open_calls(thread):
        attempt = await mine.latest_attempt(call_id)
        states.append(None if attempt is None else attempt.state)
    in_writes = sum(message.type == "tool" for message in thread.results)
    return OpenStep(in_writes + states.count("finished"), states.count("started"), states.count(None))
