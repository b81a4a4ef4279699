"""How long a full window needs to change its theme, and its zoom."""

import asyncio
import json
import os
import sys
from pathlib import Path

from tests.benchmarks.rows import Row

ROOT = Path(__file__).resolve().parents[2]


async def theme_switch(_folder: Path) -> list[Row]:
    """Processor time of the change itself, beside Qt's own polishing of the same widgets."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.benchmarks.theme_probe",
        cwd=ROOT,
        env={"QT_QPA_PLATFORM": "offscreen", **os.environ},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    seen: dict[str, float] = json.loads(output)
    bare = seen["bare"] * 1000
    return [
        Row(
            "theme switched, 200 conversations and messages", seen["switch"] * 1000, "ms", 20, "bare Qt", bare
        ),
        Row("zoom changed, the same window", seen["zoom"] * 1000, "ms", None, "bare Qt", bare),
    ]
