"""What a blind person hears: the real program, Orca, and the keyboard alone.

Needs Xvfb, openbox, xdotool, dbus-run-session and Orca; it is left out without them, and where Orca runs: a
user has one at most, and ours would not start.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.e2e.cli_program import Program
from tests.support.sources import ROOT

_NEEDED = ("Xvfb", "xvfb-run", "xauth", "openbox", "xdotool", "dbus-run-session", "orca")
_SECONDS = 600


def _runs_already() -> bool:
    return any(process.info["name"] == "orca" for process in psutil.process_iter(["name"]))


needs_orca = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, _NEEDED)), reason=f"needs {', '.join(_NEEDED)}"
)


def listen(program: Program, tmp_path: Path, name: str) -> list[str]:
    """Go through the steps of a session; gives what was announced, in its order."""
    if _runs_already():
        pytest.skip("Orca runs already")
    program.ask_about_lines()
    folder, runtime = tmp_path / "session", tmp_path / "runtime"
    folder.mkdir()
    runtime.mkdir(mode=0o700)
    environ = {
        **os.environ,
        **{name: program.environ[name] for name in ("SOPHOS_ENGINE__KIND",)},
        "SOPHOS_DATA_DIR": str(program.data_dir),
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(runtime),
        "XDG_DATA_HOME": str(folder / "share"),
        "LANG": "C.UTF-8",
        "QT_QPA_PLATFORM": "xcb",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "PYTHONPATH": str(ROOT),
    }
    session = [sys.executable, "-m", "tests.e2e.orca.session", str(folder), name]
    command = ["xvfb-run", "-a", "-s", "-screen 0 1400x900x24", "dbus-run-session", "--", *session]
    ran = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stderr
    heard = json.loads(ran.stdout.strip().splitlines()[-1])
    assert "Traceback" not in (folder / "program.log").read_text(encoding="utf-8")
    return [words.removeprefix("announced: ") for words in heard if words.startswith("announced: ")]


@pytest.mark.long
@pytest.mark.timeout(_SECONDS + 60)
@needs_orca
def test_a_message_a_question_and_an_answer_are_heard_and_walked_by_keyboard(
    program: Program, tmp_path: Path
) -> None:
    announced = listen(program, tmp_path, "talk")
    assert announced.count("Message sent") == 2
    assert announced.count("Answer finished") == 1, "and not before the tool call"
    assert [words for words in announced if words.startswith("lines · append_line wants to run")] != []
    assert announced.index("Answer finished") > next(
        at for at, words in enumerate(announced) if "wants to run" in words
    )


@pytest.mark.long
@pytest.mark.timeout(_SECONDS + 60)
@needs_orca
def test_files_models_an_uncertain_call_dialogs_and_lists_are_heard_and_each_change_once(
    program: Program, tmp_path: Path
) -> None:
    announced = listen(program, tmp_path, "window")
    for once in (
        "Attached notes.txt",
        "Attached dot.png",
        "smol:latest cannot see images",
        "Deleted “renamed”",
    ):
        assert sum(words.startswith(once) for words in announced) == 1, once
    assert sum(words.startswith("This run was interrupted") for words in announced) == 1
    assert sum("nobody knows whether it ran" in words for words in announced) == 1
