"""The painted transcript: frames while an answer streams, opening, moving, memory; beside QTextBrowser."""

import asyncio
import json
import os
import sys
from pathlib import Path

from tests.benchmarks.rows import Row
from tests.benchmarks.transcript_texts import SHAPES

ROOT = Path(__file__).resolve().parents[2]
FRAME_BUDGET = 16.0
GAP_BUDGET = 50.0
_SIZES = {1_000: "1 kB", 10_000: "10 kB", 100_000: "100 kB", 1_000_000: "1 MB"}
_PEER = "QTextBrowser"


async def transcript(folder: Path) -> list[Row]:
    """Each part in a process of its own, one after the other; the folder is not used."""
    figures = {name: await _measure(name) for name in ("peer", "stream", "opening", "moving", "memory")}
    window = await _measure("", "tests.benchmarks.transcript_window_probe")
    peer = figures["peer"]
    return [
        *_streaming(figures["stream"], peer),
        *_opening(figures["opening"], peer),
        *_in_the_window(window),
        *_moving(figures["moving"]),
        *_memory(figures["memory"]),
    ]


def _streaming(ours: dict[str, float], peer: dict[str, float]) -> list[Row]:
    rows = []
    for shape in SHAPES:
        for size, words in _SIZES.items():
            key = f"{shape} {size}"
            what = f"streaming {shape}, {words}"
            beside = peer.get(f"{key} p50")
            rows.append(Row(f"{what}: frame p50", ours[f"{key} p50"], "ms", None, _PEER, beside))
            rows.append(Row(f"{what}: frame p99", ours[f"{key} p99"], "ms", FRAME_BUDGET))
            # What a busy machine does not change.
            rows.append(Row(f"{what}: frame p99, processor time", ours[f"{key} cpu"], "ms", None))
            rows.append(Row(f"{what}: longest gap", ours[f"{key} gap"], "ms", GAP_BUDGET))
    return rows


def _opening(ours: dict[str, float], peer: dict[str, float]) -> list[Row]:
    beside = f"{_PEER}, 1,000 messages"
    rows = [
        Row("opening 10,000 messages: first screen", ours["open"], "ms", 500, beside, peer["open"]),
        Row("another theme, 10,000 messages", ours["theme"], "ms", 20),
        Row("another width, 10,000 messages", ours["resize"], "ms", None, beside, peer["resize"]),
        Row("another zoom, 10,000 messages", ours["zoom"], "ms", None),
    ]
    for shape in SHAPES:
        what = f"opening 10,000 messages, the last 1 MB of {shape}"
        rows.append(Row(f"{what}: first screen", ours[f"open 1 MB {shape}"], "ms", 500))
        rows.append(Row(f"{what}: longest gap after", ours[f"open 1 MB {shape} gap"], "ms", GAP_BUDGET))
    return rows


def _in_the_window(ours: dict[str, float]) -> list[Row]:
    words = {"resize": "another width", "zoom": "another zoom", "theme": "another theme"}
    rows = [Row("opening 10,000 stored messages in the whole window", ours["open"], "ms", 500)]
    for name, what in words.items():
        rows.append(Row(f"{what} of the whole window, 10,000 messages", ours[name], "ms", GAP_BUDGET))
        rows.append(Row(f"{what} of the whole window, processor time", ours[f"{name} cpu"], "ms", None))
    return [
        *rows,
        Row("tool result of 60 MB: its card", ours["result card"], "ms", GAP_BUDGET),
        Row("tool result of 60 MB: the card opened", ours["result opened"], "ms", None),
        Row("tool result of 60 MB: the first screen of its window", ours["result window"], "ms", 500),
        Row("tool result of 60 MB: longest gap after", ours["result gap"], "ms", GAP_BUDGET),
    ]


def _moving(ours: dict[str, float]) -> list[Row]:
    return [
        Row(f"{name}, 10,000 messages: {part}", ours[f"{name} {part}"], "ms", None)
        for name in ("wheel", "page", "drag")
        for part in ("p50", "p99")
    ]


def _memory(ours: dict[str, float]) -> list[Row]:
    return [
        Row(
            "memory after opening 50 long conversations, one after the other",
            ours["after"],
            "MB",
            None,
            "before",
            ours["before"],
        )
    ]


async def _measure(what: str, module: str = "tests.benchmarks.transcript_probe") -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        what,
        cwd=ROOT,
        env={"QT_QPA_PLATFORM": "offscreen", **os.environ},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"measuring {what} ended with {process.returncode}")
    figures: dict[str, float] = json.loads(said)
    return figures
