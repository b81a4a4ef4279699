"""Exports: a long conversation in words, and its checkpoints while a run goes on in the same file."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

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
MESSAGES_PER_STEP = 500
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


async def words_export(folder: Path) -> list[Row]:
    """A conversation of 10,000 messages as Markdown."""
    async with _opened(folder / "words") as core:
        saver = core.runs._stores.saver
        # What is measured is reading: the file need not survive a power cut.
        await saver.conn.execute("PRAGMA synchronous=OFF")
        thread = OurThread(saver)
        await _claim(core, thread.thread_id)
        for _ in range(MESSAGES // MESSAGES_PER_STEP):
            await thread.turn([_earlier() for _ in range(MESSAGES_PER_STEP - 2)])
        target = folder / "words.md"
        began = time.perf_counter()
        await core.exports.write([thread.thread_id], target, ExportFormat.MARKDOWN)
        took = time.perf_counter() - began
    document = await asyncio.to_thread(target.read_bytes)
    assert document.count(b"\n## ") == MESSAGES
    began = time.perf_counter()
    await asyncio.to_thread(target.with_suffix(".copy").write_bytes, document)
    floor = time.perf_counter() - began
    return [Row(f"export of {MESSAGES:,} messages", took, "s", 3, "writing its bytes", floor)]


def _earlier() -> Message:
    return Message(
        new_id(), Role.ASSISTANT, ANSWER, "I look.", state=MessageState.INCOMPLETE, at="2026-10-01"
    )


async def history_export(database: Path, thread_id: str, count: int) -> list[Row]:
    """The checkpoints of a thread as JSON lines, while a run goes on in the same file. Moves the file."""
    folder = database.parent
    data = folder / "history"
    await asyncio.to_thread(data.mkdir)
    await asyncio.to_thread(database.rename, data / "sophos.db")
    async with _opened(data) as core:
        await _claim(core, thread_id)
        saver = core.runs._stores.saver
        turns = 0

        async def go_on() -> None:
            nonlocal turns
            active = OurThread(saver)
            while True:
                await active.turn()
                turns += 1

        tasks = TaskOwner(_raise)
        tasks.spawn(go_on(), "an active run")
        target = folder / "history.jsonl"
        began = time.perf_counter()
        await core.exports.write([thread_id], target, ExportFormat.CHECKPOINTS)
        took = time.perf_counter() - began
        await tasks.close()
        assert turns > 0
        began = time.perf_counter()
        history = build_graph(saver).aget_state_history(config_of(thread_id), limit=RAW_CHECKPOINTS)
        async with aclosing(history) as snapshots:  # type: ignore[type-var]  # it is a generator
            raw = len([snapshot async for snapshot in snapshots])
        scaled = (time.perf_counter() - began) * count / raw
    lines = [json.loads(line) for line in (await asyncio.to_thread(target.read_text)).splitlines()]
    assert len(lines) == count
    began = time.perf_counter()
    "".join(json.dumps(line) + "\n" for line in lines)
    floor = time.perf_counter() - began
    return [
        Row(f"export of {count:,} checkpoints beside a run", took, "s", 3, "json.dumps of its lines", floor),
        Row("the same beside LangGraph's own history", took, "s", None, "a part of it, scaled", scaled),
    ]


@asynccontextmanager
async def _opened(data: Path) -> AsyncIterator[Core]:
    options = CoreOptions(resolve_paths(data, os.environ), dict(os.environ), tool_servers=False)
    async with open_core(options) as core:
        yield core


async def _claim(core: Core, conversation_id: str) -> None:
    claim = Claim(
        run_id=new_id(),
        conversation_id=conversation_id,
        kind=RunKind.MESSAGE,
        owner="benchmark",
        engine=None,
        model=None,
        input_text="",
        input_message_id=new_id(),
        new_conversation=True,
    )
    await core.runs._stores.runs.claim(claim)


def _raise(error: BaseException) -> None:
    raise error
