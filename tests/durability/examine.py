"""Looks at a data folder after a kill or a continuation: the rules of DURABILITY.md as facts.

Runs inside a forked program (`tests.durability.examine:main DATA_DIR`) and prints one JSON object. It opens
the parts it needs by itself and recovers nothing, so it sees what is there.
"""

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from sophos_desktop.core.agent.graph_runner import GraphRunner, Thread
from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.runs.journal_check import JournalCheck
from sophos_desktop.core.store.checkpoints import open_checkpoints
from sophos_desktop.core.store.consistency import ConsistencyStore
from sophos_desktop.core.store.database import Database
from sophos_desktop.foundation import owner_lock

_TABLES = {
    "runs": "SELECT * FROM runs ORDER BY started_at, id",
    "attempts": "SELECT * FROM tool_attempts ORDER BY tool_call_id, attempt",
    "decisions": "SELECT * FROM decisions ORDER BY decided_at, tool_call_id",
    "permissions": "SELECT * FROM tool_permissions",
    "partials": "SELECT * FROM run_partials",
    "queued": "SELECT * FROM queued_messages",
}


def main(argv: list[str]) -> int:
    """Print what is there."""
    json.dump(asyncio.run(_examine(Path(argv[0]) / "sophos.db")), sys.stdout)
    return 0


async def _examine(path: Path) -> dict[str, Any]:
    if not path.exists() or path.stat().st_size == 0:  # noqa: ASYNC240 - nothing else runs on this loop
        return {"problems": [], "conversations": []}
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        problems = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        problems += [f"a foreign key: {tuple(row)}" for row in connection.execute("PRAGMA foreign_key_check")]
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            return {"problems": problems, "conversations": []}
        rows = [dict(row) for row in connection.execute("SELECT id, draft FROM conversations")]
        tables = {
            name: [dict(row) for row in connection.execute(statement)] for name, statement in _TABLES.items()
        }
    saver = await open_checkpoints(path)
    try:
        graph = GraphRunner(saver)
        conversations = [
            _described(row, await graph.read(row["id"]), tables["decisions"], tables["attempts"])
            for row in rows
        ]
        disagreements = await _disagreements(path, graph)
    finally:
        await saver.close()
    return {
        "problems": problems,
        "conversations": conversations,
        "disagreements": disagreements,
        **tables,
    }


async def _disagreements(path: Path, graph: GraphRunner) -> list[str]:
    """What doctor's check of the journal finds."""

    async def is_alive(owner: str) -> bool:
        return owner_lock.is_alive(path.parent / "owners", owner)

    database = Database(path)
    try:
        check = JournalCheck(ConsistencyStore(database), graph, is_alive)
        return [finding.sentence() async for finding in check.findings()]
    finally:
        await database.close()


def _described(
    row: dict[str, Any], thread: Thread, decided: list[dict[str, Any]], attempts: list[dict[str, Any]]
) -> dict[str, Any]:
    messages = thread.to_domain()
    answered = {(decision["tool_call_id"], decision["attempt"]) for decision in decided}
    # A question is answered, too, by a call that was made since.
    answered |= {(attempt["tool_call_id"], attempt["attempt"] - 1) for attempt in attempts}
    return {
        "id": row["id"],
        "draft": row["draft"],
        "messages": [message.to_json() for message in messages],
        "unfinished": thread.unfinished,
        "asked": [
            {"call": asked.tool_call_id, "attempt": asked.attempt, "why": asked.why, "args": asked.args}
            for asked in thread.questions
            if (asked.tool_call_id, asked.attempt) not in answered
        ],
        "history_problems": history_problems(messages),
    }


def history_problems(messages: list[Message]) -> list[str]:
    """Why a model would refuse this history; empty if it would not."""
    problems = []
    ids = [message.id for message in messages]
    if len(ids) != len(set(ids)):
        problems.append("a message id occurs twice")
    open_calls: list[str] = []
    for message in messages:
        if message.role is Role.TOOL:
            if message.tool_call_id not in open_calls:
                problems.append(f"a result without a call: {message.tool_call_id}")
            else:
                open_calls.remove(message.tool_call_id)
            continue
        if open_calls:
            problems.append(f"calls without a result: {open_calls}")
        open_calls = [call.id for call in message.tool_calls]
    if open_calls:
        problems.append(f"calls without a result at the end: {open_calls}")
    return problems
