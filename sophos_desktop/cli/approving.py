"""Answers the questions that a run waits on, as `--approve` says.

Invariant: `allow` and `deny` answer approvals alone: whether an interrupted call took effect, only a person
can find out. Without a terminal to ask on, `ask` leaves the run waiting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sophos_desktop.cli.console import Console
from sophos_desktop.cli.run_output import question
from sophos_desktop.core.domain.ports import DecisionKind

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core
    from sophos_desktop.core.runs.decisions import PendingDecision

_APPROVAL_ANSWERS: dict[str, DecisionKind] = {"a": "allow", "d": "deny"}
_UNCERTAIN_ANSWERS: dict[str, DecisionKind] = {"r": "run-again", "s": "skip", "e": "result"}
_APPROVAL_CHOICES = "[a] allow it  [d] deny it  [l] decide later > "
_UNCERTAIN_CHOICES = "[r] run it again  [s] skip it  [e] enter its result  [l] decide later > "


@dataclass(frozen=True, slots=True)
class _Answer:
    kind: DecisionKind
    result: str | None = None


class Approver:
    """Lives for one command."""

    def __init__(self, core: "Core", console: Console, mode: str | None) -> None:
        """`mode`: what `--approve` says, None if it was not given."""
        self._core = core
        self._console = console
        self._mode = mode or "ask"

    async def answer(self, conversation_id: str) -> bool:
        """Answer what can be answered; True if the run can go on. Raises SophosError DECISION_STALE."""
        answered = False
        for pending in await self._pending(conversation_id):
            answer = await self._choose(pending)
            if answer is None:
                continue
            await self._core.decisions.decide(
                conversation_id, pending.tool_call_id, answer.kind, result=answer.result
            )
            answered = True
        return answered

    async def _pending(self, conversation_id: str) -> "Sequence[PendingDecision]":
        if self._mode == "wait" or (self._mode == "ask" and not self._console.can_ask):
            return ()
        return await self._core.decisions.pending(conversation_id)

    async def _choose(self, pending: "PendingDecision") -> _Answer | None:
        if self._mode == "ask":
            return await self._ask(pending)
        if pending.why != "approval":
            return None
        return _Answer("allow" if self._mode == "allow" else "deny")

    async def _ask(self, pending: "PendingDecision") -> _Answer | None:
        approval = pending.why == "approval"
        answers = _APPROVAL_ANSWERS if approval else _UNCERTAIN_ANSWERS
        await self._console.note(question(pending.server, pending.tool, pending.args, pending.why))
        while True:
            typed = await self._console.ask(_APPROVAL_CHOICES if approval else _UNCERTAIN_CHOICES)
            if typed is None or typed.strip().lower() in ("l", "later"):
                return None
            kind = answers.get(typed.strip().lower()[:1])
            if kind == "result":
                result = await self._console.ask("its result > ")
                return None if result is None else _Answer(kind, result)
            if kind is not None:
                return _Answer(kind)
