"""The questions, the permissions and the queued messages of the fake core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import ApprovalNeeded
from sophos_desktop.core.domain.policy import Permission
from sophos_desktop.core.domain.ports import DecisionKind
from sophos_desktop.core.domain.queued import Queued
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.clock import to_text

if TYPE_CHECKING:
    from tests.support.fake_core import FakeCore, FakeHandle

Why = Literal["approval", "uncertain"]
ASKED_AT = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class FakeQuestion:
    """A call that waits for a decision."""

    conversation_id: str
    run_id: str
    tool_call_id: str
    server: str
    tool: str
    args: Mapping[str, Any]
    why: Why
    asked_at: str = ""
    attempt: int = 0
    reason: str = ""
    scope: str = ""
    input_schema: Mapping[str, Any] | None = field(default_factory=lambda: SCHEMA)

    def event(self) -> ApprovalNeeded:
        """What a run tells of it."""
        return ApprovalNeeded(
            self.tool_call_id, self.server, self.tool, self.args, self.why, to_text(ASKED_AT), self.reason
        )


class FakeDecisions:
    """Questions that the test puts; `given` holds all that was said with an answer."""

    def __init__(self) -> None:
        self.open: list[FakeQuestion] = []
        self.answers: list[tuple[str, DecisionKind]] = []
        self.given: list[dict[str, Any]] = []
        self.error: SophosError | None = None
        self.for_good: list[Permission] = []

    async def pending(self, conversation_id: str | None = None) -> Sequence[FakeQuestion]:
        """The open ones."""
        return [one for one in self.open if conversation_id in (None, one.conversation_id)]

    async def problem_with(self, question: Any, args: Mapping[str, Any]) -> str | None:
        """Wants every argument to be a text."""
        wrong = [f"- {name} must be text" for name, value in args.items() if not isinstance(value, str)]
        return "\n".join(["The arguments do not fit:", *wrong]) if wrong else None

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
    ) -> None:
        """Answers one."""
        if self.error is not None:
            raise self.error
        known = [one for one in self.open if one.tool_call_id == tool_call_id]
        if not known:
            raise SophosError(ErrorCode.DECISION_STALE, "This question is no longer open")
        self.open.remove(known[0])
        self.answers.append((tool_call_id, kind))
        self.given.append({"args": args, "reason": reason, "result": result, "always": always})

    async def permissions(self, server: str | None = None) -> Sequence[Permission]:
        """As the test set them."""
        return [one for one in self.for_good if server in (None, one.server)]

    async def forget(self, server: str, tool: str | None = None, scope: str | None = None) -> int:
        """Takes back what fits."""
        if self.error is not None:
            raise self.error
        fitting = [
            one
            for one in self.for_good
            if one.server == server and tool in (None, one.tool) and scope in (None, one.scope)
        ]
        self.for_good = [one for one in self.for_good if one not in fitting]
        return len(fitting)


class FakeQueue:
    """One message a conversation."""

    def __init__(self, core: "FakeCore") -> None:
        self._core = core
        self.texts: dict[str, str] = {}
        self.put_error: SophosError | None = None

    async def put(
        self,
        conversation_id: str,
        text: str,
        attachments: Sequence[AttachmentRef | Attachment] = (),
        *,
        seen: Queued | None = None,
    ) -> bool:
        """Refused with `put_error`."""
        if self.put_error is not None:
            raise self.put_error
        if seen is not None and await self.waiting(conversation_id) != seen:
            return False
        self._core.attachments.queue(conversation_id, attachments)
        self.texts[conversation_id] = text
        return True

    async def add(
        self, conversation_id: str, text: str, attachments: Sequence[AttachmentRef | Attachment] = ()
    ) -> Queued:
        """Behind what waits."""
        before = await self.waiting(conversation_id)
        both = "\n\n".join(part for part in (before.text, text) if part)
        await self.put(conversation_id, both, [*before.attachments, *attachments])
        return await self.waiting(conversation_id)

    async def waiting(self, conversation_id: str) -> Queued:
        """What waits."""
        if conversation_id not in self.texts:
            return Queued()
        held = await self._core.attachments.of_queued(conversation_id)
        return Queued(self.texts[conversation_id], tuple(held))

    async def remove(
        self, conversation_id: str, *, to_draft: bool = False, seen: Queued | None = None
    ) -> bool:
        """Taken back."""
        waits = await self.waiting(conversation_id)
        if waits.text is None or (seen is not None and waits != seen):
            return False
        self._core.attachments.unqueue(conversation_id, to_draft=to_draft)
        del self.texts[conversation_id]
        return True

    async def send(self, conversation_id: str, *, seen: Queued | None = None) -> "FakeHandle":
        """Started, and queued no longer."""
        waits = await self.waiting(conversation_id)
        if waits.text is None or (seen is not None and waits != seen):
            raise SophosError(ErrorCode.NOT_FOUND, "No such message is queued here")
        if self._core.runs.active(conversation_id) is not None:
            raise SophosError(ErrorCode.SESSION_IN_PROGRESS, "A run is active")
        handle = await self._core.runs.start(conversation_id, waits.text, attachments=waits.attachments)
        self._core.attachments.unqueue(conversation_id, to_draft=False)
        del self.texts[conversation_id]
        return handle

    async def deny_all_and_send(
        self, conversation_id: str, text: str, attachments: Sequence[AttachmentRef | Attachment] = ()
    ) -> "FakeHandle":
        """Every open question is denied."""
        held = await self._core.attachments.of_queued(conversation_id)
        await self.put(conversation_id, text, [*held, *attachments])
        for question in await self._core.decisions.pending(conversation_id):
            await self._core.decisions.decide(conversation_id, question.tool_call_id, "deny")
        self._core.runs.end_waiting(conversation_id, RunStatus.CANCELLED)
        return await self.send(conversation_id)


class FakeEntries:
    """What mcp.json says, as the test sets it."""

    def __init__(self) -> None:
        self.servers: list[SimpleNamespace] = []

    def set(
        self, name: str, approval: str | None = None, *, built_in: bool = False, disabled: bool = False
    ) -> None:
        """One more server."""
        self.servers.append(
            SimpleNamespace(name=name, approval=approval, built_in=built_in, disabled=disabled)
        )

    def load(self) -> SimpleNamespace:
        """All of them."""
        return SimpleNamespace(servers=tuple(self.servers))
