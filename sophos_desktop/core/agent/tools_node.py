"""The tools node: one call each, around the journal (DURABILITY.md, rules 5 to 8).

Invariant: nothing is sent before its attempt is committed; a recorded result is never asked for again; the
node raises nothing but interrupts and cancellation, since one failing call would cancel its siblings.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NoReturn

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from sophos_desktop.core.agent.call_notes import CallNotes
from sophos_desktop.core.agent.kept_results import keep_whole, without_attachment
from sophos_desktop.core.agent.messages import tool_answer
from sophos_desktop.core.agent.run_context import RunContext, current_step
from sophos_desktop.core.agent.state import ToolTask
from sophos_desktop.core.domain.conversation import ToolStatus
from sophos_desktop.core.domain.errors import NoticeCode, SophosError
from sophos_desktop.core.domain.events import Event, Notice, StepEvent, ToolCallFinished, ToolCallStarted
from sophos_desktop.core.domain.policy import Policy
from sophos_desktop.core.domain.ports import ToolAttempt, ToolCallLost, ToolChanged, ToolServerDown
from sophos_desktop.core.domain.specs import ToolResult, ToolSpec
from sophos_desktop.foundation.clock import to_text

_log = logging.getLogger(__name__)

NEVER_STARTED = "This call was not made: the run ended before it."
OUTCOME_UNKNOWN = "This call was interrupted: whether it took effect is unknown. Check before you repeat it."
SKIPPED = "The user chose not to repeat this interrupted call: whether it took effect is unknown."
NOT_REPEATED = "This call was interrupted, whether it took effect is unknown, and it was not made again."
DENIED = "The user denied this call, so it was not made."
CHANGED = (
    "The tool's definition changed after the user was asked, so the call was not made. Ask for it again."
)
TRIES_OF_REPEATABLE = 3
"""How often a call that may be repeated is made when its server dies under it each time."""


async def tools(state: ToolTask, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Answer one call: from the journal, by a decision, or by making it."""
    context = runtime.context
    try:
        message = await _Call(context, state, current_step()).answer()
    except GraphBubbleUp:
        raise
    except SophosError as error:
        # The store refused before anything was sent. If that goes on, the answer's checkpoint fails too.
        message = _error(
            context, state, f"The call could not be recorded, so it was not made: {error.message}"
        )
    except Exception as error:  # noqa: BLE001  # rule 8: an error here would cancel the sibling calls
        _log.exception("a tool call failed in our own code")
        message = _error(context, state, f"The call failed inside Sophos: {type(error).__name__}")
    context.produced.append(message)
    return {"messages": [message]}


def _error(context: RunContext, task: ToolTask, text: str) -> ToolMessage:
    now = to_text(context.clock.now())
    return tool_answer(task, text, ToolStatus.ERROR, task["args"], now, context.run_id)


def _status(result: ToolResult) -> ToolStatus:
    if result.lost:
        return ToolStatus.INTERRUPTED
    return ToolStatus.ERROR if result.is_error else ToolStatus.OK


class _ServerDied(Exception):
    """The call was sent, and its server ended before it answered."""


class _Call:
    """One call on its way to an answer."""

    def __init__(self, context: RunContext, task: ToolTask, step: int) -> None:
        self._context = context
        self._task = task
        self._step = step

    async def answer(self) -> ToolMessage:
        latest = await self._context.journal.latest_attempt(self._task["id"])
        if latest is None:
            return await self._begin()
        if latest.state == "finished":
            return await self._repeat_recorded(latest)
        return await self._resolve_uncertain(latest)

    async def _begin(self) -> ToolMessage:
        """A call that was never sent: by the user's decision, else as the gate says."""
        decision = await self._context.journal.decision(self._task["id"], 0)
        if decision is not None and decision.decision == "deny":
            why = f" Reason: {decision.reason}" if decision.reason else ""
            return await self._say(f"{DENIED}{why}", ToolStatus.DENIED)
        if self._context.settling:
            return await self._say(NEVER_STARTED, ToolStatus.INTERRUPTED)
        spec = await self._offered()
        if decision is not None and decision.decision == "allow":
            if spec is not None and decision.fingerprint and decision.fingerprint != spec.fingerprint:
                return await self._say(CHANGED, ToolStatus.DENIED)
            args = decision.args if decision.args is not None else self._task["args"]
            if (reason := await self._denial(spec, args)) is not None:
                return await self._say(f"This call is not allowed: {reason}", ToolStatus.DENIED)
            return await self._make(args)
        args = self._task["args"]
        if spec is None or self._task["problem"] or await self._context.catalog.problem_with(spec, args):
            return await self._make(args)  # nothing is sent: nobody need be asked
        verdict = await self._context.gate.judge(spec, args, self._task.get("heard", ()))
        if verdict.policy is Policy.DENY:
            return await self._say(f"This call is not allowed: {verdict.reason}", ToolStatus.DENIED)
        if verdict.policy is Policy.ASK:
            self._ask(
                "approval",
                spec.server,
                spec.tool,
                args,
                0,
                reason=verdict.reason,
                scope=verdict.scope,
                fingerprint=spec.fingerprint,
            )
        return await self._make(args)

    def _ask(
        self,
        why: Literal["approval", "uncertain"],
        server: str,
        tool: str,
        args: Mapping[str, Any],
        attempt: int,
        *,
        reason: str = "",
        scope: str = "",
        fingerprint: str = "",
    ) -> NoReturn:
        """Let the run wait for a decision; it comes as a row (DURABILITY.md, rule 5)."""
        interrupt(
            {
                "tool_call_id": self._task["id"],
                "server": server,
                "tool": tool,
                "args": dict(args),
                "why": why,
                "attempt": attempt,
                "asked_at": to_text(self._context.clock.now()),
                "reason": reason,
                "scope": scope,
                "fingerprint": fingerprint,
            }
        )
        raise AssertionError("interrupt() does not return: no run is continued with a resume value")

    async def _offered(self) -> ToolSpec | None:
        """The tool; waits for its server if that is still starting."""
        await self._context.catalog.settle(self._context.tool_start_wait_seconds)
        return self._context.catalog.find(self._task["name"])

    async def _repeat_recorded(self, attempt: ToolAttempt) -> ToolMessage:
        # Without its text a checkpoint held the result already, and this task would not be open.
        result = attempt.result or ToolResult(OUTCOME_UNKNOWN, is_error=True, lost=True)
        status = _status(result)
        await self._tell(ToolCallFinished(self._task["id"], status.value, result.text, None, recorded=True))
        return self._message(result, status, attempt.args)

    async def _resolve_uncertain(self, attempt: ToolAttempt) -> ToolMessage:
        decision = await self._context.journal.decision(self._task["id"], attempt.attempt)
        if decision is not None and decision.decision == "skip":
            return await self._say(SKIPPED, ToolStatus.SKIPPED)
        if decision is not None and decision.decision == "result":
            return await self._say(decision.result or "", ToolStatus.OK)
        if self._context.settling:
            return await self._say(OUTCOME_UNKNOWN, ToolStatus.INTERRUPTED)
        # Whether the call may be repeated depends on the tool, and its server may still be starting.
        spec = self._context.catalog.find(self._task["name"]) or await self._offered()
        if decision is not None and decision.decision == "run-again":
            return await self._repeat(spec, decision.args if decision.args is not None else attempt.args)
        if spec is not None and spec.repeatable:
            return await self._repeat(spec, attempt.args)
        return self._ask("uncertain", attempt.server, attempt.tool, attempt.args, attempt.attempt)

    async def _repeat(self, spec: ToolSpec | None, args: Mapping[str, Any]) -> ToolMessage:
        if (reason := await self._denial(spec, args)) is not None:
            return await self._say(f"{NOT_REPEATED} {reason}", ToolStatus.SKIPPED)
        return await self._make(args)

    async def _denial(self, spec: ToolSpec | None, args: Mapping[str, Any]) -> str | None:
        """Why the tool is denied now; None if it is not. It may be, also after the user allowed one call of
        it: what is denied holds for all that is not sent yet."""
        if spec is None:
            return None  # then nothing is sent
        verdict = await self._context.gate.judge(spec, args, self._task.get("heard", ()))
        return verdict.reason if verdict.policy is Policy.DENY else None

    async def _make(self, args: Mapping[str, Any]) -> ToolMessage:
        if self._task["problem"]:
            return await self._say(self._task["problem"], ToolStatus.ERROR)
        spec = await self._offered()
        if spec is None:
            known = ", ".join(tool.name for tool in self._context.catalog.tools()) or "none"
            text = f"There is no tool called {self._task['name']}. The tools are: {known}"
            return await self._say(text, ToolStatus.ERROR)
        attempt = await self._context.journal.start_attempt(
            self._task["id"], self._context.run_id, spec.server, spec.tool, args
        )
        started = ToolCallStarted(self._task["id"], spec.server, spec.tool, dict(args), attempt.attempt)
        await self._context.sink.emit(*self._step_started(), started)
        began = self._context.clock.monotonic()
        try:
            async with CallNotes(self._context.sink, self._task["id"], spec.server) as notes:
                result, recorded = await self._send_and_record(attempt, spec, args, notes)
        except _ServerDied as death:
            if await self._may_try_again_after(death, spec, attempt):
                return await self._repeat(spec, args)
            text = f"{death}, {attempt.attempt} times. {OUTCOME_UNKNOWN}"
            result, recorded = await self._record(attempt, ToolResult(text, is_error=True, lost=True))
        duration = round((self._context.clock.monotonic() - began) * 1000)
        status = _status(result)
        if recorded:
            await self._tell(
                ToolCallFinished(self._task["id"], status.value, result.text, duration, recorded=False)
            )
        return self._message(result, status, args)

    async def _send_and_record(
        self, attempt: ToolAttempt, spec: ToolSpec, args: Mapping[str, Any], notes: CallNotes
    ) -> tuple[ToolResult, bool]:
        """What the thread gets of the result, and whether the journal has it."""
        # The result has no name here: of 60 MB only what is kept of it may stay in memory.
        return await self._record(
            attempt, await keep_whole(await self._send(spec, args, notes), f"{spec.name}.json")
        )

    async def _record(self, attempt: ToolAttempt, result: ToolResult) -> tuple[ToolResult, bool]:
        try:
            recorded = await self._context.journal.finish_attempt(attempt, result)
        except SophosError as error:
            # It was made and its result is here: if the checkpoint takes it, nothing is lost.
            _log.info("a result could not be recorded: %s", error.code)
            recorded = False
        return (replace(result, whole=None) if recorded else without_attachment(result)), recorded

    async def _may_try_again_after(self, death: _ServerDied, spec: ToolSpec, attempt: ToolAttempt) -> bool:
        """Its server died under the call: as uncertain as one that the death of the app cut off.

        What may not be repeated is asked about. False: it was tried often enough."""
        await self._tell(Notice(NoticeCode.TOOL_SERVER_DOWN.value, f"{death}"))
        if not spec.repeatable:
            self._ask("uncertain", spec.server, spec.tool, attempt.args, attempt.attempt)
        return attempt.attempt < TRIES_OF_REPEATABLE

    def _step_started(self) -> Sequence[Event]:
        if self._step in self._context.steps_begun:
            return ()
        self._context.steps_begun.add(self._step)
        return (StepEvent(step=self._step, node="tools", phase="started"),)

    async def _tell(self, event: Event) -> None:
        """Put something into the trace; if the store refuses, that never changes the answer."""
        try:
            await self._context.sink.emit(event)
        except SophosError as error:
            _log.info("%s could not be traced: %s", event.type, error.code)

    async def _send(self, spec: ToolSpec, args: Mapping[str, Any], notes: CallNotes) -> ToolResult:
        try:
            return await self._context.catalog.call(spec, args, notes.observe)
        except ToolChanged as error:
            return ToolResult(f"{error}, so it was not made. Ask for it again.", is_error=True)
        except ToolServerDown as error:
            text = f"The tool server {spec.server} is not available: {error}"
            await self._tell(Notice(NoticeCode.TOOL_SERVER_DOWN.value, text))
            return ToolResult(text, is_error=True)
        except ToolCallLost as error:
            if error.server_died:
                raise _ServerDied(str(error)) from error
            return ToolResult(f"{error} {OUTCOME_UNKNOWN}", is_error=True, lost=True)

    async def _say(self, text: str, status: ToolStatus) -> ToolMessage:
        """An answer for which nothing is sent."""
        await self._tell(ToolCallFinished(self._task["id"], status.value, text, None, recorded=False))
        return self._message(ToolResult(text), status, self._task["args"])

    def _message(self, result: ToolResult, status: ToolStatus, args: Mapping[str, Any]) -> ToolMessage:
        now = to_text(self._context.clock.now())
        return tool_answer(
            self._task, result.text, status, args, now, self._context.run_id, result.attachment
        )
