"""Looks at a data folder after a kill or a continuation: the rules of DURABILITY.md as facts.

Runs inside a forked program (`tests.durability.examine:main DATA_DIR`) and prints one JSON object. It opens
the parts it needs by itself and recovers nothing, so it sees what is there.
"""

import asyncio
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from sophos_desktop.core.agent.graph_runner import GraphRunner
from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.store.checkpoints import open_checkpoints


def main(argv: list[str]) -> int:
    """Print what is there."""
    json.dump(asyncio.run(_examine(Path(argv[0]) / "sophos.db")), sys.stdout)
    return 0


async def _examine(path: Path) -> dict[str, Any]:
    if not path.exists() or path.stat().st_size == 0:  # noqa: ASYNC240 - nothing else runs on this loop
        return {"sound": True, "conversations": []}
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        sound = [row[0] for row in connection.execute("PRAGMA integrity_check")] == ["ok"]
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            return {"sound": sound, "conversations": []}
        rows = [dict(row) for row in connection.execute("SELECT id, draft FROM conversations")]
        runs = [dict(row) for row in connection.execute("SELECT * FROM runs ORDER BY started_at, id")]
        attempts = [dict(row) for row in connection.execute("SELECT * FROM tool_attempts")]
        partials = [dict(row) for row in connection.execute("SELECT * FROM run_partials")]
    connection.close()
    saver = await open_checkpoints(path)
    try:
        graph = GraphRunner(saver)
        conversations = []
        for row in rows:
            thread = await graph.read(row["id"])
            messages = thread.to_domain()
            conversations.append(
                {
                    "id": row["id"],
                    "draft": row["draft"],
                    "messages": [message.to_json() for message in messages],
                    "unfinished": thread.unfinished,
                    "questions": [question.tool_call_id for question in thread.questions],
                    "history_problems": history_problems(messages),
                }
            )
    finally:
        await saver.close()
    return {
        "sound": sound,
        "conversations": conversations,
        "runs": runs,
        "attempts": attempts,
        "partials": partials,
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
