"""The graph: START → agent → one `Send` per tool call → agent … → END.

Invariant: an answer with calls is followed by exactly one tools task per call, in the calls' order.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from sophos_desktop.core.agent.agent_node import agent
from sophos_desktop.core.agent.messages import tool_tasks
from sophos_desktop.core.agent.run_context import RunContext
from sophos_desktop.core.agent.state import AgentState
from sophos_desktop.core.agent.tools_node import tools

AGENT, TOOLS = "agent", "tools"

Graph = CompiledStateGraph[AgentState, RunContext, AgentState, AgentState]


def build_graph(saver: BaseCheckpointSaver[Any]) -> Graph:
    """The compiled graph over a checkpointer."""
    builder = StateGraph(AgentState, context_schema=RunContext)
    builder.add_node(AGENT, agent)
    builder.add_node(TOOLS, tools)
    builder.add_edge(START, AGENT)
    builder.add_conditional_edges(AGENT, _after_answer, [TOOLS, END])
    builder.add_edge(TOOLS, AGENT)
    return builder.compile(checkpointer=saver)


def _after_answer(state: AgentState) -> list[Send] | str:
    last = state["messages"][-1]
    if isinstance(last, AIMessage) and last.tool_calls:
        heard = _heard_servers(state["messages"])
        return [Send(TOOLS, {**task, "heard": heard}) for task in tool_tasks(last)]
    return END


def _heard_servers(messages: Sequence[BaseMessage]) -> list[str]:
    """The servers whose answers stand in the current turn, in the order of their names."""
    turn: list[BaseMessage] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        turn.append(message)
    answered = {message.tool_call_id for message in turn if isinstance(message, ToolMessage)}
    asked = [task for message in turn if isinstance(message, AIMessage) for task in tool_tasks(message)]
    return sorted({task["server"] for task in asked if task["id"] in answered and task["server"]})
