"""What was decided about a thread's calls and is in no trace yet, as events.

Invariant: each decision is told once in the traces of its conversation; only reads. Mostly it is told in the
transaction that records it; what is left for the run that goes on is what was decided while it ran, in the
moment before its end was told, or by a version that told no decisions.
"""

from collections.abc import Sequence

from sophos_desktop.core.agent.graph_runner import Question, Thread
from sophos_desktop.core.domain.events import ToolDecided
from sophos_desktop.core.domain.policy import Permission
from sophos_desktop.core.domain.ports import Decision
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.deciding import Circumstances, tool_decided


async def untold_decisions(stores: Stores, conversation_id: str, thread: Thread) -> Sequence[ToolDecided]:
    """Those on the questions of the thread, in their order. Raises SophosError STORE_*."""
    if not thread.questions:
        return ()
    mine = stores.journal.of(conversation_id)
    told = await stores.journal.told_decisions(conversation_id)
    found = []
    left_open = 0
    for question in thread.questions:
        decision = await mine.decision(question.tool_call_id, question.attempt)
        if decision is None:
            left_open += 1
        elif (question.tool_call_id, question.attempt) not in told:
            permissions = await stores.permissions.all(question.server)
            about = Circumstances(
                edited=decision.args is not None and dict(decision.args) != question.args,
                always=any(_came_with(decision, question, permission) for permission in permissions),
            )
            found.append((decision, about))
    return [tool_decided(decision, about, left_open) for decision, about in found]


def _came_with(decision: Decision, question: Question, permission: Permission) -> bool:
    """True if the permission is the decision's "always": it is recorded right after it."""
    return (
        permission.tool == question.tool
        and permission.decision.value == decision.decision
        and permission.decided_at >= decision.decided_at
    )
