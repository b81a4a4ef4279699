"""The conversation as a real accessibility client sees it, over the real bus.

Needs Xvfb, dbus-run-session, at-spi2-core and the system's Python with its D-Bus module; it is left out
without them.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

_SYSTEM_PYTHON = "/usr/bin/python3"
_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
_SECONDS = 100


@cache
def _is_there() -> bool:
    if sys.platform != "linux" or not all(map(shutil.which, ("xvfb-run", "dbus-run-session"))):
        return False
    if not any(map(os.path.exists, ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core"))):
        return False
    asked = subprocess.run([_SYSTEM_PYTHON, "-c", "import dbus, gi"], capture_output=True, check=False)
    return asked.returncode == 0


@pytest.mark.skipif(not _is_there(), reason="needs Xvfb, at-spi2-core and python3-dbus")
def test_a_screen_reader_sees_every_message_its_text_and_the_end_of_an_answer(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.shell.transcript.atspi_program"]
    client = [_SYSTEM_PYTHON, str(_HERE / "atspi_client.py"), *program]
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "xcb",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "XDG_RUNTIME_DIR": str(tmp_path),
        "PYTHONPATH": str(_ROOT),
    }
    ran = subprocess.run(
        ["xvfb-run", "-a", "dbus-run-session", "--", *client],
        cwd=_ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout.strip().splitlines()[-1])
    assert (seen["role"], seen["count"]) == ("list", 10_000)
    first, middle, last = seen["items"]
    assert first["name"] == "You: Message number 0"
    assert middle["description"] == "5,001 of 10,000"
    assert middle["text"] == "Message number 5000"
    assert [item["index"] for item in seen["items"]] == [0, 5_000, 9_999]
    assert last["name"] == "Answer: First line. And more."
    assert last["text"] == "First line.\nAnd more."
    assert last["role"] == "list item"
    assert "copy as Markdown" in last["actions"]
    assert seen["word"] == "line"
    assert seen["extents"][2] > 0
    assert seen["caret"] == 6
    assert seen["announced"] == ["Answer finished"]
    assert seen["exit"] == 0
