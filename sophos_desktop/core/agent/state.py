"""The graph's state: the message list, stored as what was added.

Invariant: the reducer gives the same list for one batch of writes or several, and never makes up an id:
whoever writes a message has given it one (DURABILITY.md, Growth).
"""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from langchain_core.messages import BaseMessage
from langgraph.channels.delta import DeltaChannel

SNAPSHOT_FREQUENCY = 500


def append_messages(state: list[BaseMessage], writes: Sequence[Sequence[BaseMessage]]) -> list[BaseMessage]:
    """`state` with the writes appended; a message whose id is there already takes its place. One without an
    id, which only another program wrote, takes nobody's."""
    added = [message for write in writes for message in write]
    known = {message.id: index for index, message in enumerate(state) if message.id}
    result = list(state)
    for message in added:
        if message.id and message.id in known:
            result[known[message.id]] = message
            continue
        if message.id:
            known[message.id] = len(result)
        result.append(message)
    return result


class AgentState(TypedDict):
    """What every node reads and adds to."""

    messages: Annotated[
        list[BaseMessage], DeltaChannel(append_messages, snapshot_frequency=SNAPSHOT_FREQUENCY)
    ]


class ToolTask(TypedDict):
    """One call, as it is sent to the tools node. `problem`: why it cannot be made, else None; `heard`: the
    servers whose results the turn held when the call was asked for (checkpoints of 0.1 do not have it)."""

    id: str
    name: str
    args: dict[str, Any]
    problem: str | None
    server: str
    tool: str
    heard: NotRequired[list[str]]
