"""The passive parts of the fake core: what does not run, and makers of records for tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Literal

from sophos_desktop.core.domain.conversation import Message, MessageState, Role
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import DecisionKind
from sophos_desktop.core.domain.run import RunKind, RunRecord, RunStatus
from sophos_desktop.core.domain.specs import (
    EngineChoice,
    EngineKind,
    EngineStatus,
    ServerState,
    ServerStatus,
    ToolSpec,
)
from sophos_desktop.foundation.clock import to_text
from sophos_desktop.foundation.ids import new_id

Why = Literal["approval", "uncertain"]
START = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that goes on by a minute at each look, so that times differ."""

    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        """The next minute."""
        self.moment += timedelta(minutes=1)
        return self.moment

    def monotonic(self) -> float:
        """Seconds since the epoch of the fake."""
        return self.moment.timestamp()


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


class FakeDecisions:
    """Questions that the test puts."""

    def __init__(self) -> None:
        self.open: list[FakeQuestion] = []
        self.answers: list[tuple[str, DecisionKind]] = []

    async def pending(self, conversation_id: str | None = None) -> Sequence[FakeQuestion]:
        """The open ones."""
        return [one for one in self.open if conversation_id in (None, one.conversation_id)]

    async def decide(self, conversation_id: str, tool_call_id: str, kind: DecisionKind) -> None:
        """Answers one."""
        known = [one for one in self.open if one.tool_call_id == tool_call_id]
        if not known:
            raise SophosError(ErrorCode.DECISION_STALE, "This question is no longer open")
        self.open.remove(known[0])
        self.answers.append((tool_call_id, kind))


class FakeEngines:
    """One engine."""

    def __init__(self) -> None:
        self.current = EngineStatus(
            EngineKind.OLLAMA, True, "Ollama 0.12.6 answers at 127.0.0.1:11434", version="0.12.6"
        )
        self.asked = 0

    async def choose(self, engine: EngineKind | None, model: str | None) -> EngineChoice:
        """Always the same."""
        return EngineChoice(EngineKind.OLLAMA, "qwen3:8b", "It was used last")

    async def status(self) -> EngineStatus:
        """As the test set it."""
        self.asked += 1
        return self.current


class FakeServers:
    """Tool servers that the test sets."""

    def __init__(self) -> None:
        self.current: list[ServerStatus] = []
        self._listeners: list[Callable[[], None]] = []

    def statuses(self) -> Sequence[ServerStatus]:
        """As the test set them."""
        return self.current

    def set(self, *statuses: ServerStatus) -> None:
        """Change them all."""
        self.current = list(statuses)
        for listener in tuple(self._listeners):
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told of changes."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class FakeSettings:
    """Settings with a theme."""

    def __init__(self) -> None:
        self.current = SimpleNamespace(ui=SimpleNamespace(theme="system"))


def record(
    conversation_id: str,
    run_id: str,
    status: RunStatus,
    code: str | None = None,
    message: str | None = None,
    *,
    kind: RunKind = RunKind.MESSAGE,
    unfinished: bool = False,
) -> RunRecord:
    """A run's row."""
    return RunRecord(
        run_id,
        conversation_id,
        kind,
        status,
        code,
        message,
        "ollama",
        "qwen3:8b",
        None,
        to_text(START),
        None if status.is_active else to_text(START),
        unfinished=unfinished,
    )


def interrupted(conversation_id: str = "") -> RunRecord:
    """A run that a kill cut off."""
    return record(conversation_id, new_id(), RunStatus.INTERRUPTED, unfinished=True)


def user(text: str) -> Message:
    """A message of the user."""
    return Message(new_id(), Role.USER, text)


def assistant(text: str, state: MessageState = MessageState.COMPLETE, **more: Any) -> Message:
    """A message of the model."""
    return Message(new_id(), Role.ASSISTANT, text, state=state, **more)


def server(name: str, state: ServerState, tools: int = 0, reason: str = "") -> ServerStatus:
    """A tool server as it stands."""
    specs = tuple(ToolSpec(f"{name}__{i}", name, f"tool{i}", "", {}) for i in range(tools))
    return ServerStatus(name, "stdio", state, reason, to_text(START), tools=specs)
