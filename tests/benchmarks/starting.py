"""How soon the window is there, how much it needs when idle, how soon it is gone."""

import asyncio
import json
import os
import statistics
import sys
import time
from pathlib import Path

from tests.benchmarks.rows import Row

STARTS = 5
ROOT = Path(__file__).resolve().parents[2]


async def start_and_memory(folder: Path) -> list[Row]:
    """Medians of five starts after a warm-up, beside a process that only imports Qt's widgets.

    Bytecode is kept between the starts, as it is for who installed the program, whatever this shell says."""
    await _start(folder)
    starts = [await _start(folder) for _ in range(STARTS)]
    floor = [await _seconds("-c", "import PySide6.QtWidgets") for _ in range(STARTS)]

    def median(name: str) -> float:
        return statistics.median(start[name] for start in starts)

    return [
        Row(
            "window on the screen, from process start",
            median("painted"),
            "s",
            0.6,
            "importing Qt",
            statistics.median(floor),
        ),
        Row("conversations there, from process start", median("open"), "s", None),
        Row("memory of the idle window", median("rss") / 1e6, "MB", 300),
        Row("quit, with the fetch server alive", median("quit"), "s", 3),
    ]


async def _start(folder: Path) -> dict[str, float]:
    environment = {
        "QT_QPA_PLATFORM": "offscreen",
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.benchmarks.window_probe",
        str(folder / "window"),
        str(time.time()),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    seen: dict[str, float] = {}
    async for line in process.stdout:
        seen |= json.loads(line)
        if "rss" in seen:
            break
    asked = time.perf_counter()
    await process.wait()
    seen["quit"] = time.perf_counter() - asked
    return seen


async def _seconds(*arguments: str) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments)
    await process.wait()
    return time.perf_counter() - began
