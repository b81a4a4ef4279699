"""Rules of DURABILITY.md that hold for every run and that no other test states by itself: 1, 4, 6, 16, 17."""

import asyncio
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from sophos_desktop.core.agent.chat_pieces import CallPiece
from sophos_desktop.core.agent.graph_runner import config_of
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.ports import Decision
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.store.checkpoints import CheckpointStore, open_checkpoints
from sophos_desktop.core.store.database import Database
from tests.core.agent.graph_bench import CONVERSATION, RUN, GraphBench, graph_bench, spec
from tests.support.guards import ExpectedLogs

CALL = CallPiece("here__work", {"n": 1}, "")


async def work(args: Mapping[str, Any]) -> ToolResult:
    return ToolResult("worked")


class _Killed(Exception):
    """Stands for the end of the process."""


async def cut_before_the_checkpoint(bench: GraphBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tools finish, and the process end before their step's checkpoint is written."""

    async def refuse(*_: Any) -> RunnableConfig:
        raise _Killed

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointStore, "aput", refuse)
        with pytest.raises(SophosError):
            await bench.go_on()


async def test_rule_1_what_is_left_is_told_by_the_tasks_and_not_by_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_logs: ExpectedLogs
) -> None:
    expected_logs("a run failed in our own code")
    async with graph_bench(tmp_path / "sophos.db", (spec("work"), work)) as bench:
        await bench.open_calls(CALL, CALL)
        await cut_before_the_checkpoint(bench, monkeypatch)
        snapshot = await bench.graph._graph.aget_state(config_of(CONVERSATION))
        assert snapshot.next == (), "what misleads whoever asks for it"
        thread = await bench.graph.read(CONVERSATION)
        assert (thread.unfinished, thread.must_settle, len(thread.results)) == (True, True, 2)
        await bench.go_on()
        assert len(bench.catalog.called) == 2, "nothing is called again"
        assert not (await bench.graph.read(CONVERSATION)).unfinished
        assert await bench.results() == [("ok", "worked"), ("ok", "worked")]


def test_rule_1_a_thread_is_never_named_with_a_checkpoint() -> None:
    assert config_of("thread") == {"configurable": {"thread_id": "thread"}}


async def test_rule_4_the_run_is_named_in_every_checkpoint_under_a_name_of_our_own(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with graph_bench(path, (spec("work"), work)) as bench:
        await bench.open_calls(CALL)
        await bench.go_on()
    connection = sqlite3.connect(path)
    found = [json.loads(row[0]) for row in connection.execute("SELECT metadata FROM checkpoints")]
    connection.close()
    assert len(found) > 3
    assert {metadata.get("sophos_run_id") for metadata in found} == {RUN}
    assert [metadata for metadata in found if "run_id" in metadata] == [], "LangGraph takes it for a resume"


async def test_rule_6_a_branch_neither_sees_the_attempts_nor_the_decisions_of_another(tmp_path: Path) -> None:
    async with graph_bench(tmp_path / "sophos.db", (spec("work"), work)) as bench:
        (call,) = await bench.open_calls(CALL)
        await bench.journals.decide(CONVERSATION, Decision(call, 0, "approval", "allow"))
        await bench.started(call)
        branch = bench.journals.of(CONVERSATION, "another")
        assert await branch.decision(call, 0) is None
        assert await branch.latest_attempt(call) is None
        attempt = await branch.start_attempt(call, RUN, "here", "work", {})
        assert attempt.attempt == 1
        assert await branch.finish_attempt(attempt, ToolResult("of the branch"))
        mine = await bench.journal.latest_attempt(call)
        assert mine is not None
        assert (mine.state, mine.result) == ("started", None)
        assert await bench.journal.decision(call, 0) is not None


_WANTED = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "busy_timeout": 250,
    "secure_delete": 1,
}


def modes_in(folder: Path) -> set[int]:
    return {file.stat().st_mode & 0o777 for file in folder.glob("sophos.db*")}


async def test_rule_16_both_connections_are_as_careful(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    database = Database(path)
    await database.open(tmp_path)
    saver = await open_checkpoints(path)
    try:
        async with database.write() as connection:
            tables = {name: (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar() for name in _WANTED}
        checkpoints = {}
        for name in _WANTED:
            async with saver.conn.execute(f"PRAGMA {name}") as cursor:
                (row,) = await cursor.fetchall()
                checkpoints[name] = row[0]
        assert tables == _WANTED
        assert checkpoints == _WANTED
        assert await asyncio.to_thread(modes_in, tmp_path) == {0o600}
    finally:
        await saver.close()
        await database.close()


async def test_rule_17_results_of_calls_made_side_by_side_keep_the_order_of_the_calls_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_logs: ExpectedLogs
) -> None:
    expected_logs("a run failed in our own code")
    count = 6
    is_done = [asyncio.Event() for _ in range(count + 1)]
    is_done[count].set()

    async def last_first(args: Mapping[str, Any]) -> ToolResult:
        number = int(args["n"])
        await is_done[number + 1].wait()
        is_done[number].set()
        return ToolResult(f"result {number}")

    async with graph_bench(tmp_path / "sophos.db", (spec("work"), last_first)) as bench:
        await bench.open_calls(*(CallPiece("here__work", {"n": number}, "") for number in range(count)))
        await cut_before_the_checkpoint(bench, monkeypatch)
        await bench.go_on()
        assert len(bench.catalog.called) == count, "nothing is called again"
        assert await bench.results() == [("ok", f"result {number}") for number in range(count)]
        thread = (message for message in await bench.messages() if message.tool_call_id)
        assert [str(message.tool_call_id)[-1] for message in thread] == [str(n) for n in range(count)]
