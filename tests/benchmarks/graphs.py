"""Graphs to measure: ours on a scripted model, and raw LangGraph as a simple app would use it."""

import operator
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

import aiosqlite
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from sophos_desktop.core.agent.chat_pieces import AnswerOptions, FinalPiece, Piece, TextPiece
from sophos_desktop.core.agent.context import TokenGauge
from sophos_desktop.core.agent.graph_runner import DrainRequest, GraphRunner
from sophos_desktop.core.agent.run_context import RunContext
from sophos_desktop.core.domain.conversation import Message
from sophos_desktop.core.domain.events import Event, TextDelta, ThinkingDelta
from sophos_desktop.core.domain.policy import Verdict
from sophos_desktop.core.domain.ports import Decision, ToolAttempt, ToolObserver
from sophos_desktop.core.domain.specs import EngineKind, ModelEndpoint, ToolResult, ToolSpec
from sophos_desktop.foundation.clock import SystemClock
from sophos_desktop.foundation.ids import new_id

QUESTION = "What is in the file? " * 10
ANSWER = "It holds the orders of October, one a line. " * 11


class _Silence:
    """A sink that keeps nothing."""

    def delta(self, event: TextDelta | ThinkingDelta) -> None: ...

    async def emit(self, *events: Event) -> None: ...


class _NoTools:
    """A catalog without tools, and a journal nobody asks."""

    def tools(self) -> Sequence[ToolSpec]:
        return ()

    def find(self, name: str) -> ToolSpec | None:
        return None

    async def settle(self, timeout_seconds: float) -> Sequence[str]:
        return ()

    async def call(
        self, spec: ToolSpec, args: Mapping[str, Any], observe: ToolObserver | None = None
    ) -> ToolResult:
        raise NotImplementedError

    async def problem_with(self, spec: ToolSpec, args: Mapping[str, Any]) -> str | None:
        raise NotImplementedError

    async def judge(self, spec: ToolSpec, args: Mapping[str, Any], heard_servers: Collection[str]) -> Verdict:
        raise NotImplementedError

    async def offers(self, tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
        return tools

    async def latest_attempt(self, tool_call_id: str) -> ToolAttempt | None:
        raise NotImplementedError

    async def start_attempt(self, *_: Any) -> ToolAttempt:
        raise NotImplementedError

    async def finish_attempt(self, attempt: ToolAttempt, result: ToolResult) -> bool:
        raise NotImplementedError

    async def decision(self, tool_call_id: str, attempt: int) -> Decision | None:
        raise NotImplementedError


class OurThread:
    """One conversation on our graph, with a model that answers at once."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self.runner = GraphRunner(saver)
        self.thread_id = new_id()

    async def turn(self, earlier: Sequence[Message] = ()) -> None:
        """A question and its answer: two steps. `earlier`: messages that enter with the question."""
        context = RunContext(
            run_id=new_id(),
            conversation_id=self.thread_id,
            sink=_Silence(),
            journal=_NoTools(),
            catalog=_NoTools(),
            gate=_NoTools(),
            stream_chat=_answer,
            endpoint=_endpoint,
            system_prompt=_no_prompt,
            options=AnswerOptions(),
            gauge=TokenGauge(),
            clock=SystemClock(),
        )
        message = (new_id(), QUESTION)
        await self.runner.run(
            context, DrainRequest(), message=message, partials=earlier, at="now", step_limit=25
        )


async def _answer(
    endpoint: ModelEndpoint,
    options: AnswerOptions,
    messages: Sequence[BaseMessage],
    tools: Sequence[ToolSpec],
) -> AsyncGenerator[Piece, None]:
    yield TextPiece(ANSWER)
    yield FinalPiece("stop", prompt_tokens=100, output_tokens=100)


async def _endpoint() -> ModelEndpoint:
    return ModelEndpoint(EngineKind.OLLAMA, "scripted", "", frozenset(), 8192)


async def _no_prompt() -> str:
    return ""


class _RawState(TypedDict):
    messages: Annotated[list[BaseMessage], operator.add]


async def _raw_agent(state: _RawState) -> dict[str, Any]:
    return {"messages": [AIMessage(ANSWER, id=new_id())]}


class RawThread:
    """The same turns on LangGraph's default channel and checkpointer, nothing else."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        builder = StateGraph(_RawState)
        builder.add_node("agent", _raw_agent)
        builder.add_edge(START, "agent")
        builder.add_edge("agent", END)
        self._graph = builder.compile(checkpointer=saver)

    async def turn(self) -> None:
        """A question and its answer: two steps."""
        await self._graph.ainvoke(
            {"messages": [HumanMessage(QUESTION, id=new_id())]},
            {"configurable": {"thread_id": "raw"}},
            durability="sync",
        )


async def raw_saver(path: Path) -> AsyncSqliteSaver:
    """LangGraph's checkpointer as it comes."""
    return AsyncSqliteSaver(await aiosqlite.connect(path))


def size_of(path: Path) -> int:
    """The file and its log, in bytes."""
    return sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))
