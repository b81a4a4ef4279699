"""Growth of the file, time of a step, reading and exporting a long conversation."""

import time
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from sophos_desktop.core.agent.graph_runner import GraphRunner
from sophos_desktop.core.store.checkpoints import open_checkpoints
from tests.benchmarks.exporting import history_export
from tests.benchmarks.graphs import ANSWER, QUESTION, OurThread, RawThread, raw_saver, size_of
from tests.benchmarks.rows import Row, median_ms

OUR_TURNS = 1000
RAW_TURNS = 200
STEPS_PER_TURN = 2
CHECKPOINTS_PER_TURN = 3


async def growth(folder: Path) -> list[Row]:
    """Bytes per turn beside its text, early and late, and against the default channel; then the export of the
    history that came of it."""
    text = len(QUESTION) + len(ANSWER)
    path = folder / "ours.db"
    saver = await open_checkpoints(path)
    thread = OurThread(saver)
    sizes: dict[int, int] = {}
    for turn in range(1, OUR_TURNS + 1):
        await thread.turn()
        if turn in (50, 150, RAW_TURNS, OUR_TURNS - 100, OUR_TURNS):
            await saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            sizes[turn] = size_of(path)
    began = time.perf_counter()
    read = await GraphRunner(saver).read(thread.thread_id)
    reading = (time.perf_counter() - began) * 1000
    assert read.message_count == 2 * OUR_TURNS
    await saver.close()
    raw_path = folder / "raw.db"
    raw = await raw_saver(raw_path)
    raw_thread = RawThread(raw)
    for _ in range(RAW_TURNS):
        await raw_thread.turn()
    await raw.conn.close()
    early = (sizes[150] - sizes[50]) / 100 - text
    late = (sizes[OUR_TURNS] - sizes[OUR_TURNS - 100]) / 100 - text
    return [
        Row("growth per turn beside its text, turn 100", early / 1000, "kB", 4),
        Row("growth per turn beside its text, turn 1,000", late / 1000, "kB", 4, "turn 100", early / 1000),
        Row(
            f"file after {RAW_TURNS} turns",
            sizes[RAW_TURNS] / 1e6,
            "MB",
            None,
            "raw LangGraph, default channel",
            size_of(raw_path) / 1e6,
        ),
        Row("reading 2,000 messages of a thread", reading, "ms", 100),
        *await history_export(path, thread.thread_id, CHECKPOINTS_PER_TURN * OUR_TURNS),
    ]


async def step_time(folder: Path) -> list[Row]:
    """What storing adds to a step."""
    saver = await open_checkpoints(folder / "steps.db")
    stored, in_memory = OurThread(saver), OurThread(InMemorySaver())
    times: dict[str, list[float]] = {"stored": [], "memory": []}
    for _ in range(60):
        for name, thread in (("stored", stored), ("memory", in_memory)):
            began = time.perf_counter()
            await thread.turn()
            times[name].append((time.perf_counter() - began) / STEPS_PER_TURN)
    await saver.close()
    ours, floor = median_ms(times["stored"]), median_ms(times["memory"])
    return [
        Row("time of a step, stored", ours, "ms", None, "the same graph in memory", floor),
        Row("added to a step by storing it", ours - floor, "ms", 10),
    ]
