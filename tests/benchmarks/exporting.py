"""Exports: a long conversation in words, and its checkpoints while a run goes on in the same file."""

import asyncio
import json
import os
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from sophos_desktop.core.agent.graph import build_graph
from sophos_desktop.core.agent.graph_runner import config_of
from sophos_desktop.core.assembly import Core, CoreOptions, open_core
from sophos_desktop.core.domain.conversation import Message, MessageState, Role
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.domain.run import RunKind
from sophos_desktop.core.store.runs import Claim
from sophos_desktop.foundation.ids import new_id
from sophos_desktop.foundation.paths import resolve_paths
from sophos_desktop.foundation.tasks import TaskOwner
from tests.benchmarks.graphs import OurThread
from tests.benchmarks.rows import Row

MESSAGES = 10_000
MESSAGES_PER_STEP = 50
CHECKPOINTS = 3_000
CHECKPOINTS_PER_TURN = 3
RAW_CHECKPOINTS = 30

ANSWER = """It holds the **orders** of October, one a line:

| order | sum |
|---|---|
| 4711 | 12.50 |

```python
def total(lines: list[str]) -> float:
    return sum(float(line.split(",")[1]) for line in lines)
```

So `total(lines)` gives what you asked for.
"""


async def exporting(folder: Path) -> list[Row]:
    """Seconds for 10,000 messages and for 3,000 checkpoints."""
    data = folder / "exports"
    options = CoreOptions(resolve_paths(data, os.environ), dict(os.environ), tool_servers=False)
    async with open_core(options) as core:
        saver = core.runs._stores.saver
        # What is measured is reading: the files need not survive a power cut.
        await saver.conn.execute("PRAGMA synchronous=OFF")
        words = await _in_words(core, saver, folder / "words.md")
        history, by_hand, raw = await _checkpoints(core, saver, folder / "history.jsonl")
    return [
        Row(f"export of {MESSAGES:,} messages", words[0], "s", 3, "writing its bytes", words[1]),
        Row(f"export of {CHECKPOINTS:,} checkpoints", history, "s", 3, "json.dumps of its lines", by_hand),
        Row("the same beside LangGraph's own history", history, "s", None, "some of it, scaled", raw),
    ]


async def _conversation(core: Core) -> str:
    claim = Claim(
        run_id=new_id(),
        conversation_id=new_id(),
        kind=RunKind.MESSAGE,
        owner="benchmark",
        engine=None,
        model=None,
        input_text="",
        input_message_id=new_id(),
        new_conversation=True,
    )
    await core.runs._stores.runs.claim(claim)
    return claim.conversation_id


async def _in_words(core: Core, saver: BaseCheckpointSaver[Any], target: Path) -> tuple[float, float]:
    thread = OurThread(saver)
    thread.thread_id = await _conversation(core)
    for _ in range(MESSAGES // MESSAGES_PER_STEP):
        earlier = [
            Message(
                new_id(), Role.ASSISTANT, ANSWER, "I look.", state=MessageState.INCOMPLETE, at="2026-10-01"
            )
            for _ in range(MESSAGES_PER_STEP - 2)
        ]
        await thread.turn(earlier)
    began = time.perf_counter()
    (written,) = await core.exports.write([thread.thread_id], target, ExportFormat.MARKDOWN)
    took = time.perf_counter() - began
    document = await asyncio.to_thread(written.read_bytes)
    assert document.count(b"\n## ") == MESSAGES
    began = time.perf_counter()
    await asyncio.to_thread(target.with_suffix(".copy").write_bytes, document)
    return took, time.perf_counter() - began


async def _checkpoints(
    core: Core, saver: BaseCheckpointSaver[Any], target: Path
) -> tuple[float, float, float]:
    thread = OurThread(saver)
    thread.thread_id = await _conversation(core)
    for _ in range(CHECKPOINTS // CHECKPOINTS_PER_TURN):
        await thread.turn()
    turns = 0

    async def go_on() -> None:
        nonlocal turns
        active = OurThread(saver)
        while True:
            await active.turn()
            turns += 1

    tasks = TaskOwner(lambda error: None)
    tasks.spawn(go_on(), "an active run")
    began = time.perf_counter()
    (written,) = await core.exports.write([thread.thread_id], target, ExportFormat.CHECKPOINTS)
    took = time.perf_counter() - began
    await tasks.close()
    assert turns > 0
    lines = [json.loads(line) for line in (await asyncio.to_thread(written.read_text)).splitlines()]
    assert len(lines) == CHECKPOINTS
    began = time.perf_counter()
    "".join(json.dumps(line) + "\n" for line in lines)
    by_hand = time.perf_counter() - began
    began = time.perf_counter()
    history = build_graph(saver).aget_state_history(config_of(thread.thread_id), limit=RAW_CHECKPOINTS)
    async with aclosing(history) as snapshots:  # type: ignore[type-var]  # it is a generator
        count = len([snapshot async for snapshot in snapshots])
    return took, by_hand, (time.perf_counter() - began) * CHECKPOINTS / count
