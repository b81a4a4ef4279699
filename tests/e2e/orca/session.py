"""Orca and the program on an X server and a session bus of their own: keys go in, what is spoken comes out.

`python -m tests.e2e.orca.session FOLDER NAME` within both, NAME one of `STEPS`; prints a JSON list of what
was heard, in the order of the steps. Ends everything that it started; nothing waits without a bound.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from PySide6.QtGui import QImage

from tests.e2e.orca.steps import AGAIN, CALL, KILL, SLOW_CALL, STEPS, WRITTEN
from tests.support.sources import ROOT

SECONDS = 90.0
_LOOK_AGAIN_SECONDS = 0.05
_PATIENCE_SECONDS = 8.0
ORCA = shutil.which("orca") or "orca"
ANSWER = "# Result\n\nIt is *done*.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe sum is $a^2$. The end."


class Heard:
    """What Orca wrote so far."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read = 0

    @property
    def all(self) -> list[str]:
        """Everything, from the beginning."""
        if not self._file.exists():
            return []
        lines = self._file.read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def wait_for(self, parts: Sequence[str]) -> None:
        """Until each of `parts` was spoken after the one before, and all after what was waited for last."""
        end = time.monotonic() + SECONDS
        for part in parts:
            while True:
                spoken = self.all
                found = next((at for at in range(self._read, len(spoken)) if part in spoken[at]), None)
                if found is not None:
                    self._read = found + 1
                    break
                if time.monotonic() > end:
                    raise SystemExit(f"not heard: {part!r} in {spoken[self._read :]}; before: {spoken[-30:]}")
                time.sleep(_LOOK_AGAIN_SECONDS)

    def press_until(self, keys: Sequence[str], part: str) -> None:
        """Press `keys` again and again until `part` is spoken: nothing tells when a list is filled."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for one in keys:
                press(one)
            soon = time.monotonic() + _PATIENCE_SECONDS
            while time.monotonic() < soon:
                if any(part in words for words in self.all[self._read :]):
                    return
                time.sleep(_LOOK_AGAIN_SECONDS)


@contextmanager
def running(*command: str, environ: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A child that is ended with the block."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def press(keys: str) -> None:
    """Type a text, or press one key."""
    typed = keys.removeprefix("type ")
    command = ("type", "--delay", "20", typed) if typed != keys else ("key", keys)
    subprocess.run(["xdotool", *command], check=True, timeout=SECONDS)


def port_of(log: Path) -> int:
    """Where the scripted engine listens."""
    end = time.monotonic() + SECONDS
    while not (text := log.read_text(encoding="utf-8")).endswith("\n"):
        if time.monotonic() > end:
            raise SystemExit("the engine did not start")
        time.sleep(_LOOK_AGAIN_SECONDS)
    return int(json.loads(text)["port"])


class Desktop:
    """The program, which can be killed and started again."""

    def __init__(self, environ: dict[str, str], log: Path, stack: ExitStack) -> None:
        self._environ, self._log, self._stack = environ, log, stack
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        program = (sys.executable, "-m", "sophos_desktop", "desktop")
        return self._stack.enter_context(running(*program, environ=self._environ, log=self._log))

    def kill_once_written(self, file: Path) -> None:
        """Kill it once a tool has written `file`, and start it again."""
        end = time.monotonic() + SECONDS
        while not file.exists():
            if time.monotonic() > end:
                raise SystemExit("the tool wrote nothing")
            time.sleep(_LOOK_AGAIN_SECONDS)
        self._process.kill()
        self._process.wait(SECONDS)
        self._process = self._start()


def main(folder: Path, name: str) -> None:
    """Go through all steps of a session."""
    preferences, spoken = folder / "orca", folder / "spoken"
    preferences.mkdir()
    shutil.copy(Path(__file__).with_name("customizations.py"), preferences / "orca-customizations.py")
    call = {**CALL, "arguments": {"file": str(folder / "lines.txt"), "text": "one"}}
    written = folder / WRITTEN
    slow = {**SLOW_CALL, "arguments": {"file": str(written), "text": "one", "seconds": SECONDS}}
    turns = [{"pieces": ["I append."], "calls": [call]}, ANSWER]
    by_text = {
        "broken": [{"status": 500, "error": "the model fell over"}],
        "slowly": [{"pieces": ["I append."], "calls": [slow]}, "So it was."],
    }
    (folder / "notes.txt").write_text("some notes", encoding="utf-8")
    picture = QImage(4, 4, QImage.Format.Format_RGB32)
    picture.fill(0)
    picture.save(str(folder / "dot.png"))
    script = folder / "script.json"
    script.write_text(json.dumps({"turns": turns, "by_text": by_text}), encoding="utf-8")
    own = {**os.environ, "ORCA_SPOKEN": str(spoken)}
    heard = Heard(spoken)
    with ExitStack() as stack:
        server = (sys.executable, "-m", "tests.support.ollama_server", str(script))
        stack.enter_context(running(*server, environ=own, log=folder / "engine.log"))
        own["OLLAMA_HOST"] = f"127.0.0.1:{port_of(folder / 'engine.log')}"
        stack.enter_context(running("openbox", environ=own, log=folder / "openbox.log"))
        orca = (ORCA, "-u", str(preferences))
        stack.enter_context(running(*orca, environ=own, log=folder / "orca.log"))
        heard.wait_for(["Screen reader on"])
        desktop = Desktop(own, folder / "program.log", stack)
        for keys, parts in STEPS[name]:
            for one in keys:
                if one == KILL:
                    desktop.kill_once_written(written)
                elif one == AGAIN:
                    heard.press_until(keys[1:], parts[0])
                    break
                else:
                    press(one.format(folder=folder))
            heard.wait_for(parts)
    print(json.dumps(heard.all))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
