"""The history of a thread: as LangGraph's own, in one go, beside whoever writes it."""

import asyncio
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Send

from sophos_desktop.core.agent.graph import build_graph
from sophos_desktop.core.agent.graph_runner import config_of
from sophos_desktop.core.agent.messages import to_domain
from sophos_desktop.core.agent.state import AgentState
from sophos_desktop.core.assembly import Core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.history import LastMessage
from sophos_desktop.core.export.checkpoint_lines import checkpoint_line
from sophos_desktop.core.store import checkpoints
from sophos_desktop.core.store.checkpoints import CheckpointReader
from tests.core.export.samples import GOLDEN
from tests.core.export.threads import THREAD, a_history, a_thread_writer
from tests.support.core_fixture import append, calls, followed, open_test_core, say
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

Told = list[tuple[str, int, str, tuple[str, ...], int, LastMessage | None, str | None]]


def langgraphs_own(path: Path, thread_id: str) -> Told:
    """The same facts from LangGraph's history, which reads all of the thread anew for each checkpoint."""
    with closing(CheckpointReader(path)) as reader:
        told: Told = []
        for snapshot in build_graph(reader).get_state_history(config_of(thread_id)):
            messages = snapshot.values.get("messages", ())
            metadata: Any = snapshot.metadata
            told.append(
                (
                    snapshot.config["configurable"]["checkpoint_id"],
                    metadata["step"],
                    metadata["source"],
                    tuple(sorted(snapshot.next)),
                    len(messages),
                    LastMessage.of(to_domain(messages[-1])) if messages else None,
                    metadata.get("sophos_run_id"),
                )
            )
        return told[::-1]


def ours(path: Path, thread_id: str) -> Told:
    with a_history(path) as history:
        return [
            (
                record.checkpoint_id,
                record.step,
                record.source,
                tuple(sorted(record.next)),
                record.message_count,
                record.last_message,
                record.run_id,
            )
            for record in history.checkpoints(thread_id)
        ]


@pytest.fixture(params=["one page", "pages of three", "a snapshot every two updates"])
def circumstances(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pages end and how often LangGraph stores the whole list changes nothing."""
    if request.param == "pages of three":
        monkeypatch.setattr(checkpoints, "PAGE_LENGTH", 3)
    elif request.param == "a snapshot every two updates":
        (channel,) = AgentState.__annotations__["messages"].__metadata__
        monkeypatch.setattr(channel, "snapshot_frequency", 2)


@pytest.mark.usefixtures("circumstances")
async def test_a_history_is_the_one_that_langgraph_gives(
    core: Core, server: OllamaServer, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    server.script(
        calls(*(append(file, text) for text in "abc"), text="Three"),
        "Done.",
        Reply(pieces=("Half",), ending="cut"),
        "Whole.",
        Reply(pieces=("Half again",), ending="cut"),
        "The end.",
    )
    handle, _ = await say(core, None, "Go")
    thread_id = handle.conversation_id
    await say(core, thread_id, "Cut")
    await followed(await core.runs.resume(thread_id))
    await say(core, thread_id, "Cut again")
    await say(core, thread_id, "And on")
    path = core.paths.database
    told = await asyncio.to_thread(ours, path, thread_id)
    assert told == await asyncio.to_thread(langgraphs_own, path, thread_id)
    assert len(told) > 12
    with a_history(path) as history:
        assert await asyncio.to_thread(history.read, thread_id) == await core.runs._stores.graph.read(
            thread_id
        )


@pytest.mark.usefixtures("circumstances")
async def test_branches_and_messages_that_are_replaced_are_followed(core: Core, server: OllamaServer) -> None:
    handle, _ = await say(core, None, "One")
    thread_id = handle.conversation_id
    await say(core, thread_id, "Two")
    graph = core.runs._stores.graph._graph
    head = (await graph.aget_state(config_of(thread_id))).config
    earlier = [s.config async for s in graph.aget_state_history(config_of(thread_id))][3]

    async def update(config: Any, *messages: Any) -> None:
        await graph.aupdate_state(config, {"messages": [*messages]}, as_node="agent")

    await update(earlier, AIMessage("Another way", id="branch"))
    await update(config_of(thread_id), AIMessage("More of it", id="more"))
    await update(head)
    await update(config_of(thread_id), AIMessage("x", id="last"), AIMessage("in its place", id="last"))
    await update(config_of(thread_id), AIMessage("new", id="new"), AIMessage("anew", id="last"))
    path = core.paths.database
    told = await asyncio.to_thread(ours, path, thread_id)
    assert told == await asyncio.to_thread(langgraphs_own, path, thread_id)
    assert [entry[5].text for entry in told[-4:] if entry[5]] == [
        "More of it",
        "Hello!",
        "in its place",
        "new",
    ]


def golden_thread(path: Path) -> None:
    with a_thread_writer(path) as writer:
        hello = HumanMessage("مرحبا\u2028\ud83d" + "🦉" * 300, id="m1")
        call = AIMessage("", id="m2")
        results = [ToolMessage(text, id=f"r{text}", tool_call_id=f"m2:{text}") for text in "01"]
        writer.add({"__start__": {"messages": [hello]}}, [[hello]], source="input")
        writer.add({"branch:to:agent": None}, [[call]])
        writer.add({"__pregel_tasks": [Send("tools", {}), Send("tools", {})]}, [[r] for r in results])
        writer.add({"__pregel_tasks": [], "branch:to:agent": None}, [[AIMessage("Done.", id="m3")]])
        writer.add({"__pregel_tasks": []})


def test_the_lines_are_those_of_the_golden_file(tmp_path: Path) -> None:
    golden_thread(tmp_path / "sophos.db")
    with a_history(tmp_path / "sophos.db") as history:
        lines = "".join(map(checkpoint_line, history.checkpoints(THREAD)))
    assert lines.encode("ascii") == (GOLDEN / "history.checkpoints.jsonl").read_bytes()
    assert len(lines.splitlines()) == 5


def test_memory_does_not_grow_with_the_history(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    text = "x" * 10_000
    with a_thread_writer(path) as writer:
        for number in range(2000):
            message = AIMessage(text, id=f"m{number}")
            writer.add({"branch:to:agent": None}, [[message]])
    with a_history(path) as history:
        tracemalloc.start()
        try:
            last = [record.message_count for record in history.checkpoints(THREAD)][-1]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert last == 1999
    assert peak < 5_000_000, "of 20 MB of text"


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    with a_thread_writer(path) as writer:
        writer.add({})
    with closing(CheckpointReader(path)) as reader, pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.put({"configurable": {"thread_id": "x", "checkpoint_ns": ""}}, *_nothing(reader))


def _nothing(reader: CheckpointReader) -> tuple[Any, Any, Any]:
    stored = reader.get_tuple(config_of(THREAD))
    assert stored is not None
    return stored.checkpoint, {}, {}


def test_a_file_that_is_not_there_and_one_that_is_none_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(SophosError) as missing:
        CheckpointReader(tmp_path / "nowhere.db")
    assert missing.value.code is ErrorCode.STORE_UNREACHABLE
    (tmp_path / "junk.db").write_bytes(b"no database" * 500)
    with a_history(tmp_path / "junk.db") as history:
        with pytest.raises(SophosError) as junk:
            history.read(THREAD)
        with pytest.raises(SophosError) as again:
            list(history.checkpoints(THREAD))
    assert {junk.value.code, again.value.code} == {ErrorCode.STORE_CORRUPT}


@pytest.mark.parametrize(
    "spoil", ["UPDATE checkpoints SET checkpoint = x'c1'", "UPDATE checkpoints SET type = 'pickle'"]
)
def test_a_checkpoint_that_cannot_be_read_is_an_error_and_no_shorter_history(
    tmp_path: Path, spoil: str
) -> None:
    path = tmp_path / "sophos.db"
    golden_thread(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"{spoil} WHERE checkpoint_id LIKE '%3'")
    with a_history(path) as history, pytest.raises(SophosError) as refused:
        list(history.checkpoints(THREAD))
    assert refused.value.code is ErrorCode.THREAD_UNREADABLE


def test_a_thread_that_is_deleted_meanwhile_is_not_taken_for_a_shorter_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "PAGE_LENGTH", 2)
    path = tmp_path / "sophos.db"
    golden_thread(path)
    with a_history(path) as history:
        records = history.checkpoints(THREAD)
        next(records)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM checkpoints")
        with pytest.raises(SophosError) as gone:
            list(records)
    assert gone.value.code is ErrorCode.NOT_FOUND


async def test_a_thread_without_checkpoints_has_an_empty_history(
    data_dir: Path, server: OllamaServer
) -> None:
    async with open_test_core(data_dir, server) as core:
        with a_history(core.paths.database) as history:
            assert [*history.checkpoints("nobody")] == []
            assert history.read("nobody").messages == ()
