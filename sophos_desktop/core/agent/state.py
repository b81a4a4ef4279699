"""The graph's state: the message list, stored as what was added.

Invariant: the reducer gives the same list for one batch of writes or several, and never makes up an id:
whoever writes a message has given it one (DURABILITY.md, Growth).
"""

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import BaseMessage
from langgraph.channels.delta import DeltaChannel

SNAPSHOT_FREQUENCY = 500


def append_messages(state: list[BaseMessage], writes: Sequence[Sequence[BaseMessage]]) -> list[BaseMessage]:
    """`state` with the writes appended; a message whose id is there already takes its place."""
    added = [message for write in writes for message in write]
    known = {message.id: index for index, message in enumerate(state)}
    result = list(state)
    for message in added:
        if message.id in known:
            result[known[message.id]] = message
        else:
            known[message.id] = len(result)
            result.append(message)
    return result


class AgentState(TypedDict):
    """What every node reads and adds to."""

    messages: Annotated[
        list[BaseMessage], DeltaChannel(append_messages, snapshot_frequency=SNAPSHOT_FREQUENCY)
    ]


class ToolTask(TypedDict):
    """One call, as it is sent to the tools node. `problem`: why it cannot be made, else None."""

    id: str
    name: str
    args: dict[str, Any]
    problem: str | None
    server: str
    tool: str
