"""The questions that runs wait on, and the user's answers.

Invariant: a decision is a row, committed before the run goes on; one that comes too late is refused
(DURABILITY.md, rule 5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import Decision, DecisionKind
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.runs.questions import undecided_questions
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.journal import stale_decision

_UNCERTAIN_KINDS: tuple[DecisionKind, ...] = ("run-again", "skip", "result")
_APPROVAL_KINDS: tuple[DecisionKind, ...] = ("allow", "deny")


@dataclass(frozen=True, slots=True)
class PendingDecision:
    """A question that a run waits on. `attempt`: how many attempts had been made when it was asked."""

    conversation_id: str
    run_id: str
    tool_call_id: str
    server: str
    tool: str
    args: Mapping[str, Any]
    why: str
    asked_at: str
    attempt: int

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "conversation_id": self.conversation_id,
            "run_id": self.run_id,
            "tool_call_id": self.tool_call_id,
            "server": self.server,
            "tool": self.tool,
            "args": dict(self.args),
            "why": self.why,
            "asked_at": self.asked_at,
        }


class Decisions:
    """Lives as long as the core."""

    def __init__(self, stores: Stores) -> None:
        """Reads threads, writes decisions."""
        self._stores = stores

    async def pending(self, conversation_id: str | None = None) -> Sequence[PendingDecision]:
        """The open questions of one conversation, or of all."""
        waiting = await self._stores.runs.with_status(RunStatus.WAITING)
        if conversation_id is not None:
            active = await self._stores.runs.active(conversation_id)
            waiting = [active] if active is not None else []
        found = []
        for record in waiting:
            thread = await self._stores.graph.read(record.conversation_id)
            for question in await undecided_questions(self._stores.journal, record.conversation_id, thread):
                found.append(
                    PendingDecision(
                        conversation_id=record.conversation_id,
                        run_id=record.id,
                        tool_call_id=question.tool_call_id,
                        server=question.server,
                        tool=question.tool,
                        args=question.args,
                        why=question.why,
                        asked_at=question.asked_at,
                        attempt=question.attempt,
                    )
                )
        return found

    async def decide(
        self,
        conversation_id: str,
        tool_call_id: str,
        kind: DecisionKind,
        *,
        args: Mapping[str, Any] | None = None,
        reason: str | None = None,
        result: str | None = None,
    ) -> PendingDecision:
        """Record what the user chose; `tool_call_id` may be a unique ending.

        Raises SophosError DECISION_STALE, BAD_REQUEST (it does not fit the question), AMBIGUOUS_ID."""
        question = _chosen(await self.pending(conversation_id), tool_call_id)
        fitting = _APPROVAL_KINDS if question.why == "approval" else _UNCERTAIN_KINDS
        if kind not in fitting:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"“{kind}” does not answer this question",
                f"Choose one of: {', '.join(fitting)}",
            )
        if kind == "result" and result is None:
            raise SophosError(ErrorCode.BAD_REQUEST, "The result is missing", "Give it with --result TEXT")
        await self._stores.journal.decide(
            conversation_id,
            Decision(
                tool_call_id=question.tool_call_id,
                attempt=question.attempt,
                why="approval" if question.why == "approval" else "uncertain",
                decision=kind,
                args=args,
                reason=reason,
                result=result,
            ),
        )
        return question


def _chosen(pending: Sequence[PendingDecision], tool_call_id: str) -> PendingDecision:
    exact = [question for question in pending if question.tool_call_id == tool_call_id]
    fitting = exact or [question for question in pending if question.tool_call_id.endswith(tool_call_id)]
    if not fitting or not tool_call_id:
        raise stale_decision()
    if len(fitting) > 1:
        raise SophosError(
            ErrorCode.AMBIGUOUS_ID, f"“{tool_call_id}” fits several calls", "Give more of the call's id"
        )
    return fitting[0]
