"""What the parts of the core ask of one another.

Invariant: a part of the core knows its siblings only by these protocols; `assembly` joins them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sophos_desktop.core.domain.policy import Verdict
from sophos_desktop.core.domain.specs import (
    EngineChoice,
    EngineKind,
    EngineStatus,
    ModelEndpoint,
    ModelInfo,
    ServerStatus,
    ToolNote,
    ToolResult,
    ToolSpec,
)


class ToolCallLost(Exception):
    """The call was sent and no answer came: nobody knows whether it took effect. `server_died`: its server,
    or the connection to it, ended under it; else it was given up on, and the server was told so."""

    def __init__(self, text: str, *, server_died: bool = False) -> None:
        super().__init__(text)
        self.server_died = server_died


class ToolServerDown(Exception):
    """The call was not sent: its server is not there. The message says why, in words."""


class ToolChanged(ToolServerDown):
    """The call was not sent: by now its tool is defined otherwise than when it was judged."""


ToolObserver = Callable[[ToolNote], None]


class ToolCatalog(Protocol):
    """The tools that servers offer now."""

    def tools(self) -> Sequence[ToolSpec]:
        """All tools of servers that are ready, in a stable order."""

    def find(self, name: str) -> ToolSpec | None:
        """The tool with this model-facing name, also if its server is down right now."""

    async def settle(self, timeout_seconds: float) -> Sequence[str]:
        """Wait until no server is starting, at most for the time-out counted from each one's start; gives
        the names of those that still are."""

    async def call(
        self, spec: ToolSpec, args: Mapping[str, Any], observe: ToolObserver | None = None
    ) -> ToolResult:
        """Call a tool as `spec` defines it; `observe` is told on the loop what the server says meanwhile.

        Raises ToolServerDown (nothing was sent; ToolChanged: since it is defined otherwise now) or
        ToolCallLost (outcome unknown)."""

    async def problem_with(self, spec: ToolSpec, args: Mapping[str, Any]) -> str | None:
        """What is wrong with arguments, by the tool's schema; None if they fit. Nothing is sent."""


class ToolGate(Protocol):
    """Says which calls run by themselves, which are asked about, which are refused."""

    async def judge(self, spec: ToolSpec, args: Mapping[str, Any], heard_servers: Collection[str]) -> Verdict:
        """What happens to a call; `heard_servers`: those whose results the current turn holds."""

    async def offers(self, tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
        """The tools that are not forbidden altogether: what a model is told of."""


class ServerDirectory(Protocol):
    """The servers themselves, for the front ends."""

    def statuses(self) -> Sequence[ServerStatus]:
        """All configured servers, by name."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on the loop whenever a status changes; returns what ends that."""


class EngineDirectory(Protocol):
    """The engines and their models."""

    async def models(self, engine: EngineKind) -> Sequence[ModelInfo]:
        """What an engine has. Raises SophosError ENGINE_UNREACHABLE or ENGINE_ERROR."""

    async def choose(self, engine: EngineKind | None, model: str | None) -> EngineChoice:
        """Fill in what the caller left open. Raises SophosError."""

    async def endpoint(self, choice: EngineChoice) -> ModelEndpoint:
        """Where it answers; starts the starter. Raises SophosError (MODEL_UNAVAILABLE, …)."""

    async def status(self, engine: EngineKind | None = None) -> EngineStatus:
        """How an engine stands now; None: the one that the settings lead to."""


@dataclass(frozen=True, slots=True)
class Child:
    """A child process on record. `pid` and `start_time` are missing between token and spawn."""

    owner: str
    token: str
    what: str
    pid: int | None = None
    start_time: float | None = None


class ChildRecords(Protocol):
    """Records child processes, so that the next start can end orphans (DURABILITY.md, rule 13)."""

    async def announce(self, what: str) -> str:
        """Record a child that is about to be spawned; the token goes into its environment."""

    async def spawned(self, token: str, pid: int, start_time: float) -> None:
        """Add what identifies the process."""

    async def ended(self, token: str) -> None:
        """The child is gone."""


AttemptState = Literal["started", "finished"]


@dataclass(frozen=True, slots=True)
class ToolAttempt:
    """One time a call left this machine. `result` is None once a checkpoint holds it."""

    tool_call_id: str
    attempt: int
    run_id: str
    server: str
    tool: str
    args: Mapping[str, Any]
    state: AttemptState
    started_at: str
    finished_at: str | None
    is_error: bool
    result: ToolResult | None


DecisionKind = Literal["allow", "deny", "run-again", "skip", "result"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the user chose for a call; `attempt` is how many attempts had been made when it was asked;
    `fingerprint`: the tool's definition that was shown, None for what versions before stored; `decided_at`
    is set when it is recorded."""

    tool_call_id: str
    attempt: int
    why: Literal["approval", "uncertain"]
    decision: DecisionKind
    args: Mapping[str, Any] | None = None
    reason: str | None = None
    result: str | None = None
    fingerprint: str | None = None
    decided_at: str = ""


class ToolJournal(Protocol):
    """The journal of one thread and branch, as the tools node uses it (DURABILITY.md, rules 5 and 6)."""

    async def latest_attempt(self, tool_call_id: str) -> ToolAttempt | None:
        """The newest attempt of a call, or None if it never started."""

    async def start_attempt(
        self, tool_call_id: str, run_id: str, server: str, tool: str, args: Mapping[str, Any]
    ) -> ToolAttempt:
        """Record that the call is about to be sent; committed when this returns."""

    async def finish_attempt(self, attempt: ToolAttempt, result: ToolResult) -> bool:
        """Record what came back. False: too late, the attempt is no longer open."""

    async def decision(self, tool_call_id: str, attempt: int) -> Decision | None:
        """What the user chose for the call as it stood after `attempt` attempts."""
