"""Answers the questions that a run waits on, as `--approve` says.

Invariant: `allow` and `deny` answer approvals alone: whether an interrupted call took effect, only a person
can find out. Without a terminal to ask on, `ask` leaves the run waiting.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sophos_desktop.cli.console import Console
from sophos_desktop.cli.parser import PROGRAM
from sophos_desktop.cli.run_output import question, whole_arguments
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import DecisionKind

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core
    from sophos_desktop.core.runs.decisions import PendingDecision

# How long a server may take to say what its tools are, when a decision depends on that.
SERVERS_SECONDS = 30.0

_APPROVAL_ANSWERS: dict[str, DecisionKind] = {"a": "allow", "w": "allow", "c": "allow", "d": "deny"}
_UNCERTAIN_ANSWERS: dict[str, DecisionKind] = {"r": "run-again", "s": "skip", "e": "result"}
_APPROVAL_CHOICES = (
    "[a] allow it once  [w] always allow {always}  [c] change its arguments  [d] deny it  [l] decide later > "
)
_UNCERTAIN_CHOICES = "[r] run it again  [s] skip it  [e] enter its result  [l] decide later > "


@dataclass(frozen=True, slots=True)
class _Answer:
    kind: DecisionKind
    result: str | None = None
    args: Mapping[str, Any] | None = None
    reason: str | None = None
    always: bool = False


class Approver:
    """Lives for one command."""

    def __init__(self, core: "Core", console: Console, mode: str | None) -> None:
        """`mode`: what `--approve` says, None if it was not given."""
        self._core = core
        self._console = console
        self._mode = mode or "ask"
        self._put_off: set[str] = set()
        self._always: set[tuple[str, str, str]] = set()

    @property
    def asks_a_person(self) -> bool:
        """True if questions are put on the terminal, each when it is its turn."""
        return self._mode == "ask" and self._console.can_ask

    async def answer(self, conversation_id: str) -> bool:
        """Answer what can be answered; True if the run may be able to go on.

        A question that somebody else answered meanwhile is told, and is no error."""
        answered = False
        for pending in await self._pending(conversation_id):
            if pending.tool_call_id in self._put_off:
                continue
            if (pending.server, pending.tool, pending.scope) in self._always:
                continue  # it was allowed for good a moment ago: the run makes it as it goes on
            answered |= await self._settle(pending)
        self._always.clear()
        return answered

    async def _settle(self, pending: "PendingDecision") -> bool:
        """Get one answer recorded; False if the question is left open."""
        while True:
            answer = await self._choose(pending)
            if answer is None:
                self._put_off.add(pending.tool_call_id)
                return False
            try:
                await self._core.decisions.decide(
                    pending.conversation_id,
                    pending.tool_call_id,
                    answer.kind,
                    args=answer.args,
                    reason=answer.reason,
                    result=answer.result,
                    always=answer.always,
                )
            except SophosError as error:
                if error.code is ErrorCode.DECISION_STALE:
                    await self._console.note(f"notice {error.code}: {error.message}")
                    if await self._is_open(pending):  # the tool was denied since: nobody else answered
                        if self.asks_a_person:
                            continue
                        self._put_off.add(pending.tool_call_id)
                        return False
                    return True
                if error.code is not ErrorCode.BAD_REQUEST or not self.asks_a_person:
                    raise
                await self._console.note(error.message)
                continue
            if answer.always:
                self._always.add((pending.server, pending.tool, pending.scope))
            return True

    async def _is_open(self, pending: "PendingDecision") -> bool:
        left = await self._core.decisions.pending(pending.conversation_id)
        asked = (pending.tool_call_id, pending.attempt)
        return any((question.tool_call_id, question.attempt) == asked for question in left)

    async def _pending(self, conversation_id: str) -> "Sequence[PendingDecision]":
        if self._mode == "wait" or (self._mode == "ask" and not self.asks_a_person):
            return ()
        return await self._core.decisions.pending(conversation_id)

    async def _choose(self, pending: "PendingDecision") -> _Answer | None:
        if self._mode == "ask":
            return await self._ask(pending)
        if pending.why != "approval":
            return None
        return _Answer("allow" if self._mode == "allow" else "deny")

    async def _ask(self, pending: "PendingDecision") -> _Answer | None:
        await self._console.note(
            question(pending.server, pending.tool, pending.args, pending.why, pending.reason)
        )
        approval = pending.why == "approval"
        answers = _APPROVAL_ANSWERS if approval else _UNCERTAIN_ANSWERS
        always = f"it for {pending.scope}" if pending.scope else "this tool"
        choices = _APPROVAL_CHOICES.format(always=always) if approval else _UNCERTAIN_CHOICES
        while True:
            typed = await self._typed(choices)
            # The letter alone: “what?” must not allow anything for good, nor “abort” allow it once.
            letter = "l" if typed is None else typed.strip().lower()
            if letter == "l":
                return None
            if letter in answers:
                answer = await self._whole(pending, letter, answers[letter])
                if answer is not None:
                    return answer

    async def _whole(self, pending: "PendingDecision", letter: str, kind: DecisionKind) -> _Answer | None:
        """The answer with what belongs to it; None if the person thought better of it."""
        if letter == "c":
            changed = await self._changed(pending)
            return None if changed is None else _Answer(kind, args=changed)
        if kind == "result":
            result = await self._typed("its result > ")
            return None if result is None else _Answer(kind, result)
        if kind == "deny":
            reason = await self._typed("why, for the model (may be empty) > ")
            return None if reason is None else _Answer(kind, reason=reason.strip() or None)
        return _Answer(kind, always=letter == "w")

    async def _typed(self, prompt: str) -> str | None:
        """A line; None at the terminal's end of input. A question that is left with Ctrl+C stays open."""
        try:
            return await self._console.ask(prompt)
        except asyncio.CancelledError:
            self._console.note_now(f"\nthe question stays open: see `{PROGRAM} approvals`")
            raise

    async def _changed(self, pending: "PendingDecision") -> Mapping[str, Any] | None:
        """Other arguments that fit the tool; None if there are none after all."""
        await self._console.note(f"now: {whole_arguments(pending.args)}")
        typed = await self._typed("its arguments as JSON > ")
        if typed is None or not typed.strip():
            return None
        try:
            args = json.loads(typed)
        except (ValueError, RecursionError) as error:
            await self._console.note(f"that is no JSON: {error}")
            return None
        if not isinstance(args, dict):
            await self._console.note("that is no JSON object")
            return None
        await self._core.tool_host.settle(SERVERS_SECONDS)
        problem = await self._core.decisions.problem_with(pending, args)
        if problem is not None:
            await self._console.note(problem)
            return None
        return args
