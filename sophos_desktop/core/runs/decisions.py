"""The questions that runs wait on, and the user's answers.

Invariant: a decision is a row, committed before the run goes on; one that comes too late is refused
(DURABILITY.md, rule 5). What holds for good ("always") is recorded after it, and only for its definition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.agent.graph_runner import Question
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.policy import Permission, Policy, is_scoped, scope_of
from sophos_desktop.core.domain.ports import Decision, DecisionKind, ToolCatalog
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.domain.specs import ToolSpec
from sophos_desktop.core.runs.questions import undecided_questions
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.runs.tool_gate import PolicyGate
from sophos_desktop.core.store.deciding import Circumstances, stale_decision

_UNCERTAIN_KINDS: tuple[DecisionKind, ...] = ("run-again", "skip", "result")
_APPROVAL_KINDS: tuple[DecisionKind, ...] = ("allow", "deny")
_SENDING_KINDS: tuple[DecisionKind, ...] = ("allow", "run-again")


@dataclass(frozen=True, slots=True)
class PendingDecision:
    """A question that a run waits on. `attempt`: how many attempts had been made when it was asked;
    `reason`: why it is asked; `scope`: what "always" would hold for (a host, empty: everything);
    `input_schema`: the tool's, if its server is known to this process; `fingerprint`: the definition that is
    asked about."""

    conversation_id: str
    run_id: str
    tool_call_id: str
    server: str
    tool: str
    args: Mapping[str, Any]
    why: str
    asked_at: str
    attempt: int
    reason: str = ""
    scope: str = ""
    input_schema: Mapping[str, Any] | None = None
    fingerprint: str = ""

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
            "reason": self.reason,
            "scope": self.scope or None,
        }


class Decisions:
    """Lives as long as the core."""

    def __init__(self, stores: Stores, catalog: ToolCatalog, gate: PolicyGate) -> None:
        """Reads threads, writes decisions and permissions."""
        self._stores = stores
        self._catalog = catalog
        self._gate = gate

    async def pending(self, conversation_id: str | None = None) -> Sequence[PendingDecision]:
        """The open questions of one conversation, or of all."""
        waiting = await self._stores.runs.with_status(RunStatus.WAITING)
        if conversation_id is not None:
            active = await self._stores.runs.active(conversation_id)
            waiting = [active] if active is not None else []
        found = []
        for record in waiting:
            if await self._stores.conversations.get(record.conversation_id) is None:
                continue  # it is being deleted
            thread = await self._stores.graph.read(record.conversation_id)
            questions = await undecided_questions(self._stores.journal, record.conversation_id, thread)
            found += [self._pending(record, question) for question in questions]
        return found

    def _pending(self, record: RunRecord, question: Question) -> PendingDecision:
        spec = self._spec(question.server, question.tool)
        return PendingDecision(
            conversation_id=record.conversation_id,
            run_id=record.id,
            tool_call_id=question.tool_call_id,
            server=question.server,
            tool=question.tool,
            args=question.args,
            why=question.why,
            asked_at=question.asked_at,
            attempt=question.attempt,
            reason=question.reason,
            scope=question.scope,
            input_schema=None if spec is None else spec.input_schema,
            fingerprint=question.fingerprint,
        )

    def _spec(self, server: str, tool: str) -> ToolSpec | None:
        offered = self._catalog.tools()
        return next((spec for spec in offered if (spec.server, spec.tool) == (server, tool)), None)

    async def problem_with(self, question: PendingDecision, args: Mapping[str, Any]) -> str | None:
        """What is wrong with changed arguments; None if they fit, or if the tool's schema is not known."""
        spec = self._spec(question.server, question.tool)
        return None if spec is None else await self._catalog.problem_with(spec, args)

    async def decide(
        self,
        conversation_id: str,
        tool_call_id: str,
        kind: DecisionKind,
        *,
        args: Mapping[str, Any] | None = None,
        reason: str | None = None,
        result: str | None = None,
        always: bool = False,
    ) -> PendingDecision:
        """Record what the user chose; `tool_call_id` may be a unique ending. `always`: also for later calls
        of this tool, as long as its definition is the same.

        Raises SophosError DECISION_STALE (the question is answered, or the tool was denied since it was
        asked, which stands until it is taken back), BAD_REQUEST (it does not fit the question, or the
        arguments do not fit the tool), AMBIGUOUS_ID."""
        open_questions = await self.pending(conversation_id)
        question = _chosen(open_questions, tool_call_id)
        await self._refuse_unfitting(question, kind, args=args, result=result, always=always)
        if kind in _SENDING_KINDS:
            await self._refuse_denied(question, question.args if args is None else args)
        permission = await self._permission(question, kind, args) if always else None
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
                fingerprint=question.fingerprint or None,
            ),
            Circumstances(
                edited=args is not None and dict(args) != dict(question.args),
                always=permission is not None,
                beside=[(other.tool_call_id, other.attempt) for other in open_questions if other != question],
            ),
        )
        if permission is not None:
            # Second, so that a kill in between forgets a wish and never allows what was not decided.
            await self._stores.permissions.remember(permission)
        return question

    async def _refuse_unfitting(
        self,
        question: PendingDecision,
        kind: DecisionKind,
        *,
        args: Mapping[str, Any] | None,
        result: str | None,
        always: bool,
    ) -> None:
        fitting = _APPROVAL_KINDS if question.why == "approval" else _UNCERTAIN_KINDS
        if kind not in fitting:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"“{kind}” does not answer this question",
                f"Choose one of: {', '.join(fitting)}",
            )
        if always and question.why != "approval":
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                "Whether an interrupted call is made again cannot be decided for good",
                "Decide each one",
            )
        if kind == "result" and result is None:
            raise SophosError(ErrorCode.BAD_REQUEST, "The result is missing", "Give it with --result TEXT")
        problem = None if args is None else await self.problem_with(question, args)
        if problem is not None:
            raise SophosError(ErrorCode.BAD_REQUEST, "The arguments do not fit the tool", problem.rstrip("."))

    async def _refuse_denied(self, question: PendingDecision, args: Mapping[str, Any]) -> None:
        """Somebody who denies a tool means every call that is not sent yet, also those asked about."""
        # Rules about tools hold while their server is away too.
        unknown = ToolSpec(question.tool, question.server, question.tool, "", {})
        spec = self._spec(question.server, question.tool) or unknown
        verdict = await self._gate.judge(spec, args, ())
        if verdict.policy is not Policy.DENY:
            return
        since = f" since {verdict.since[:16].replace('T', ' ')} UTC" if verdict.since else ""
        raise SophosError(
            ErrorCode.DECISION_STALE,
            f"{verdict.reason.rstrip('.')}{since}, so this call of {question.server}.{question.tool} "
            "cannot be allowed",
            "Take that back first, as with `mcp forget`, or deny this call",
        )

    async def _permission(
        self, question: PendingDecision, kind: DecisionKind, args: Mapping[str, Any] | None
    ) -> Permission:
        await self._catalog.settle(_SERVER_WAIT_SECONDS)
        spec = self._spec(question.server, question.tool)
        if spec is None:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"The tool server {question.server} is not there, so it is not known what would be allowed",
                "Decide this call alone, or start the server",
            )
        scope = scope_of(spec, args if args is not None else question.args, self._gate.rule(spec.server))
        decision = Policy.ALLOW if kind == "allow" else Policy.DENY
        self._refuse_unscoped(spec.server, scope, decision)
        shown = question.fingerprint or spec.fingerprint
        return Permission(question.server, question.tool, scope, shown, decision)

    def _refuse_unscoped(self, server: str, scope: str, decision: Policy) -> None:
        if decision is Policy.ALLOW and not scope and is_scoped(server, self._gate.rule(server)):
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"{server} is allowed for good host by host, and this names no host",
                "Name one, or decide each call",
            )

    async def deny_all(self, conversation_id: str, reason: str) -> int:
        """Answer everything that is open: approvals are denied, uncertain calls skipped. Returns how many."""
        decided = 0
        for question in await self.pending(conversation_id):
            kind: DecisionKind = "deny" if question.why == "approval" else "skip"
            await self.decide(conversation_id, question.tool_call_id, kind, reason=reason)
            decided += 1
        return decided

    # What holds for good.

    async def permissions(self, server: str | None = None) -> Sequence[Permission]:
        """What was decided for good."""
        return await self._stores.permissions.all(server)

    async def set_permission(
        self, server: str, tool: str | None, policy: Policy, *, scope: str = ""
    ) -> Permission:
        """Decide for good about a tool, or all tools of a server, outside any run.

        Raises SophosError NOT_FOUND: to allow a tool its definition must be known."""
        await self._catalog.settle(_SERVER_WAIT_SECONDS)
        spec = self._spec(server, tool) if tool is not None else None
        if tool is not None and spec is None and policy is Policy.ALLOW:
            raise SophosError(
                ErrorCode.NOT_FOUND, f"The tool server {server} offers no tool {tool}", "See `mcp`"
            )
        if tool is None and policy is Policy.ALLOW:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                "All tools of a server, also later ones, are allowed in mcp.json only",
                'Put "approval": "allow" into its entry, or allow tools one by one',
            )
        self._refuse_unscoped(server, scope, policy)
        fingerprint = spec.fingerprint if spec is not None else ""
        permission = Permission(server, tool or "", scope.lower(), fingerprint, policy)
        await self._stores.permissions.remember(permission)
        return permission

    async def forget(self, server: str, tool: str | None = None, scope: str | None = None) -> int:
        """Take back what was decided for good; returns how many decisions."""
        return await self._stores.permissions.forget(server, tool, scope)


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


_SERVER_WAIT_SECONDS = 10.0
