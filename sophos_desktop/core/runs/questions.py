"""Which questions of a thread are still open.

Invariant: open = asked in the thread − decided (DURABILITY.md, rule 5).
"""

from collections.abc import Sequence

from sophos_desktop.core.agent.graph_runner import Question, Thread
from sophos_desktop.core.store.journal import JournalStore


async def undecided_questions(
    journal: JournalStore, conversation_id: str, thread: Thread
) -> Sequence[Question]:
    """The open questions of a thread for which no decision is recorded."""
    decided = journal.of(conversation_id)
    return [
        question
        for question in thread.questions
        if await decided.decision(question.tool_call_id, question.attempt) is None
    ]
