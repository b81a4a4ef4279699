"""The window in every state, in both themes, at 100 % and 150 %: taken, and made of the look's colours alone.

The pictures lie in build/pictures afterwards, for eyes.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from tests.shell.pictures.scenes import SCENES

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "pictures"
LEAST_SHARE = 0.9  # LOOK.md §2; the rest are the edges of letters
TAKING_SECONDS = 240

pytestmark = [pytest.mark.long, pytest.mark.timeout(TAKING_SECONDS + 60)]


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_every_state_of_the_window_is_painted_in_the_colours_of_the_look(
    theme: str, percent: int
) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QT_SCALE_FACTOR": str(percent / 100),
        "TZ": "UTC",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.shell.pictures",
        theme,
        str(FOLDER),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), TAKING_SECONDS)
    assert (process.returncode, err.decode()) == (0, "")
    taken = [json.loads(line) for line in out.decode().splitlines()]
    assert {entry["name"] for entry in taken} == {f"{scene}-{theme}-{percent}.png" for scene in SCENES}
    assert all((FOLDER / entry["name"]).stat().st_size > 10_000 for entry in taken)
    poor = {entry["name"]: entry["share"] for entry in taken if entry["share"] < LEAST_SHARE}
    assert not poor, f"too many pixels are of no token's colour: {poor}"
