"""A thread with snapshots in it is whole as long as what was written since the last one is there."""

import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph

from sophos_desktop.core.agent.state import append_messages
from sophos_desktop.core.store.checkpoints import CheckpointReader, CheckpointStore, open_checkpoints
from sophos_desktop.core.store.delta_gaps import expected
from sophos_desktop.core.store.serializer import UnreadableCheckpoint

CONFIG: RunnableConfig = {"configurable": {"thread_id": "thread"}}
TURNS = 11


class _State(TypedDict):
    messages: Annotated[list[BaseMessage], DeltaChannel(append_messages, snapshot_frequency=5)]


def graph_over(saver: CheckpointStore) -> Any:
    async def answer(state: _State) -> dict[str, Any]:
        return {"messages": [AIMessage("Yes", id=f"answer {len(state['messages'])}")]}

    builder = StateGraph(_State)
    builder.add_node("agent", answer)
    builder.add_edge(START, "agent")
    builder.add_edge("agent", END)
    return builder.compile(checkpointer=saver)


async def written(path: Path) -> None:
    """A thread of many turns, which can be read after each."""
    saver = await open_checkpoints(path)
    try:
        graph = graph_over(saver)
        for turn in range(TURNS):
            await graph.ainvoke(
                {"messages": [HumanMessage("Hi", id=f"hi {turn}")]}, CONFIG, durability="sync"
            )
            assert len((await graph.aget_state(CONFIG)).values["messages"]) == 2 * turn + 2
        await graph.aupdate_state(CONFIG, {"messages": [AIMessage("More", id="more")]}, as_node="agent")
        assert len((await graph.aget_state(CONFIG)).values["messages"]) == 2 * TURNS + 1
    finally:
        await saver.close()


async def read(path: Path) -> int:
    """How many messages the thread has. Raises UnreadableCheckpoint."""
    saver = await open_checkpoints(path)
    try:
        return len((await graph_over(saver).aget_state(CONFIG)).values["messages"])
    finally:
        await saver.close()


def change(path: Path, statement: str) -> int:
    connection = sqlite3.connect(path)
    with connection:
        changed = connection.execute(statement).rowcount
    connection.close()
    return changed


_ORDERED = "SELECT rowid FROM writes WHERE channel = 'messages' ORDER BY checkpoint_id"


async def test_what_was_written_since_the_last_snapshot_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    await written(path)
    assert change(path, f"DELETE FROM writes WHERE rowid = ({_ORDERED} LIMIT 1)") == 1
    assert await read(path) == 2 * TURNS + 1, "a snapshot holds it"
    assert change(path, f"DELETE FROM writes WHERE rowid = ({_ORDERED} DESC LIMIT 1)") == 1
    with pytest.raises(UnreadableCheckpoint, match="1 of its last"):
        await read(path)
    reader = CheckpointReader(path)
    try:
        newest = reader.get_tuple(CONFIG)
        assert newest is not None
        with pytest.raises(UnreadableCheckpoint):
            reader.get_delta_channel_history(config=newest.config, channels=["messages"])
    finally:
        reader.close()


@pytest.mark.parametrize(
    "metadata", [None, b"", b"{}", b"not json", b'{"counters_since_delta_snapshot": {"messages": 3}}']
)
def test_a_checkpoint_that_does_not_say_what_was_written_is_believed(metadata: bytes | None) -> None:
    assert expected(metadata, "messages") is None
