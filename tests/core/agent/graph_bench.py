"""The real graph, journal and file around a scripted model and scripted tools."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from sophos_desktop.core.agent.chat_pieces import AnswerOptions, CallPiece, FinalPiece, Piece, TextPiece
from sophos_desktop.core.agent.context import TokenGauge
from sophos_desktop.core.agent.graph_runner import DrainRequest, GraphRunner, Question
from sophos_desktop.core.agent.run_context import RunContext
from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.domain.events import Event, TextDelta, ThinkingDelta
from sophos_desktop.core.domain.policy import Policy, Verdict
from sophos_desktop.core.domain.ports import Decision, DecisionKind, ToolJournal, ToolObserver
from sophos_desktop.core.domain.run import RunKind
from sophos_desktop.core.domain.specs import EngineKind, ModelEndpoint, ToolAnnotations, ToolResult, ToolSpec
from sophos_desktop.core.store.checkpoints import open_checkpoints
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.journal import JournalStore
from sophos_desktop.core.store.runs import Claim, RunStore
from sophos_desktop.foundation.clock import SystemClock

CONVERSATION, RUN = "conversation", "run"
DONE: tuple[Piece, ...] = (TextPiece("Done."), FinalPiece("stop"))
ENDPOINT = ModelEndpoint(EngineKind.OLLAMA, "model", "http://127.0.0.1:9", frozenset({"tools"}), 8192)

Behaviour = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


def spec(name: str, *, read_only: bool | None = None, trusted: bool = False) -> ToolSpec:
    """A tool of the server `here`."""
    schema = {"type": "object"}
    return ToolSpec(f"here__{name}", "here", name, "", schema, ToolAnnotations(read_only), trusted)


class ScriptedCatalog:
    """The port ToolCatalog with behaviours instead of servers."""

    def __init__(self, *tools: tuple[ToolSpec, Behaviour]) -> None:
        self._tools = {tool.name: tool for tool, _ in tools}
        self._behaviours = {tool.name: behaviour for tool, behaviour in tools}
        self.called: list[tuple[str, Mapping[str, Any]]] = []
        self.starting: tuple[str, ...] = ()
        self.observe: ToolObserver | None = None
        """Of the latest call: what a server would say its notes to."""

    def tools(self) -> Sequence[ToolSpec]:
        return list(self._tools.values())

    def find(self, name: str) -> ToolSpec | None:
        return self._tools.get(name)

    async def settle(self, timeout_seconds: float) -> Sequence[str]:
        """What a test says is starting."""
        return self.starting

    async def problem_with(self, spec: ToolSpec, args: Mapping[str, Any]) -> str | None:
        return None

    async def call(
        self, spec: ToolSpec, args: Mapping[str, Any], observe: ToolObserver | None = None
    ) -> ToolResult:
        self.called.append((spec.tool, args))
        self.observe = observe
        return await self._behaviours[spec.name](args)


@dataclass
class ScriptedGate:
    """The port ToolGate: allows what is not named here, by tool."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    heard: dict[str, Collection[str]] = field(default_factory=dict)
    """What servers the turn was said to have heard, by tool."""

    async def judge(self, spec: ToolSpec, args: Mapping[str, Any], heard_servers: Collection[str]) -> Verdict:
        self.heard[spec.tool] = heard_servers
        return self.verdicts.get(spec.tool, Verdict(Policy.ALLOW))

    async def offers(self, tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
        return tools


@dataclass
class ListSink:
    """The port RunSink as lists."""

    events: list[Event] = field(default_factory=list)
    deltas: list[TextDelta | ThinkingDelta] = field(default_factory=list)

    def delta(self, event: TextDelta | ThinkingDelta) -> None:
        self.deltas.append(event)

    async def emit(self, *events: Event) -> None:
        self.events.extend(events)

    def of(self, kind: type[Event]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


@dataclass
class GraphBench:
    """One thread. `replies`: what the model says next; when it is used up, it says that it is done."""

    graph: GraphRunner
    journal: ToolJournal
    journals: JournalStore
    catalog: ScriptedCatalog
    gate: ScriptedGate = field(default_factory=ScriptedGate)
    sink: ListSink = field(default_factory=ListSink)
    replies: list[Sequence[Piece]] = field(default_factory=list)
    asked: list[Sequence[BaseMessage]] = field(default_factory=list)
    offered: list[Sequence[ToolSpec]] = field(default_factory=list)
    drain: DrainRequest = field(default_factory=DrainRequest)
    drain_after_answer: bool = False
    said: set[str] = field(default_factory=set)

    def context(self) -> RunContext:
        """What the nodes of one sitting get."""

        async def endpoint() -> ModelEndpoint:
            return ENDPOINT

        async def system_prompt() -> str:
            return ""

        return RunContext(
            run_id=RUN,
            conversation_id=CONVERSATION,
            sink=self.sink,
            journal=self.journal,
            catalog=self.catalog,
            gate=self.gate,
            stream_chat=self._stream_chat,
            endpoint=endpoint,
            system_prompt=system_prompt,
            options=AnswerOptions(num_ctx=4096),
            gauge=TokenGauge(),
            clock=SystemClock(),
            said=self.said,
        )

    async def _stream_chat(
        self,
        endpoint: ModelEndpoint,
        options: AnswerOptions,
        messages: Sequence[BaseMessage],
        tools: Sequence[ToolSpec],
    ) -> AsyncGenerator[Piece, None]:
        self.asked.append(messages)
        self.offered.append(tools)
        for piece in self.replies.pop(0) if self.replies else DONE:
            yield piece
        if self.drain_after_answer:
            self.drain.make()

    async def open_calls(self, *calls: CallPiece) -> list[str]:
        """Let the model ask for calls, and stop before any is made. Their ids."""
        self.replies.insert(0, [*calls, FinalPiece("stop")])
        self.drain_after_answer = True
        await self.graph.run(self.context(), self.drain, message=("user-1", "Go"), step_limit=25)
        self.drain, self.drain_after_answer = DrainRequest(), False
        (asked,) = [message for message in await self.messages() if message.tool_calls]
        return [call.id for call in asked.tool_calls]

    async def go_on(self) -> None:
        """What a resume does."""
        await self.graph.run(self.context(), self.drain, message=None, step_limit=25)

    async def settle(self) -> None:
        """What precedes a new message."""
        await self.graph.settle(self.context())

    async def messages(self) -> list[Message]:
        """The thread."""
        return (await self.graph.read(CONVERSATION)).to_domain()

    async def questions(self) -> Sequence[Question]:
        """What the thread waits for."""
        return (await self.graph.read(CONVERSATION)).questions

    async def results(self) -> list[tuple[str, str]]:
        """State and text of all results, in the thread's order."""
        found = [message for message in await self.messages() if message.role is Role.TOOL]
        return [(str(message.tool_status), message.text) for message in found]

    async def started(self, call_id: str, tool: str = "work", **args: Any) -> None:
        """A process sent the call and was killed."""
        await self.journal.start_attempt(call_id, "an earlier run", "here", tool, args)

    async def finished(self, call_id: str, result: ToolResult, tool: str = "work") -> None:
        """A process recorded the call's result and was killed."""
        attempt = await self.journal.start_attempt(call_id, "an earlier run", "here", tool, {})
        await self.journal.finish_attempt(attempt, result)

    async def decide(self, call_id: str, kind: DecisionKind, **more: Any) -> None:
        """The user's word on the question that is open."""
        approval = kind in ("allow", "deny")
        decision = Decision(
            call_id, 0 if approval else 1, "approval" if approval else "uncertain", kind, **more
        )
        await self.journals.decide(CONVERSATION, decision)


@asynccontextmanager
async def graph_bench(path: Path, *tools: tuple[ToolSpec, Behaviour]) -> AsyncIterator[GraphBench]:
    """An empty thread in a new file."""
    database = Database(path)
    await database.open(path.parent)
    saver = await open_checkpoints(path)
    try:
        clock = SystemClock()
        claim = Claim(RUN, CONVERSATION, RunKind.MESSAGE, "owner", None, None, "Go", new_conversation=True)
        await RunStore(database, clock).claim(claim)
        journals = JournalStore(database, clock)
        yield GraphBench(GraphRunner(saver), journals.of(CONVERSATION), journals, ScriptedCatalog(*tools))
    finally:
        await saver.close()
        await database.close()
