"""Starts the program through a fork server and tells what came of it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.durability.jobs import Job

ROOT = Path(__file__).resolve().parents[2]
CLI = "sophos_desktop.cli.main:main"
STDOUT = "stdout.txt"


@dataclass(frozen=True, slots=True)
class Finished:
    """How a start ended: exit code (negative: by that signal) and what it printed."""

    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def killed(self) -> bool:
        """True if SIGKILL ended it."""
        return self.code == -9

    def json(self) -> Any:
        """What it printed, as one JSON value."""
        return json.loads(self.stdout)

    def events(self) -> list[dict[str, Any]]:
        """What it printed, as one event a line; the last line may be cut by a kill."""
        lines = self.stdout.splitlines()
        if lines and self.killed and not self.stdout.endswith("\n"):
            lines.pop()
        return [json.loads(line) for line in lines]


class ForkServer:
    """One fork server; one start at a time."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(
        self,
        argv: Sequence[str],
        *,
        env: dict[str, str],
        cwd: Path,
        call: str = CLI,
        kill_after_seconds: float | None = None,
        interrupt_at: tuple[str, str] | None = None,
        limit_file_bytes: int | None = None,
        out: str = STDOUT,
    ) -> Finished:
        """Start the program and wait for its end. `interrupt_at`: a file's name in `cwd` and the text in it
        that SIGINT is sent for; `out`: the name of the file that is its stdout."""
        stdout, stderr = cwd / out, cwd / f"{out}.err"
        for file in (stdout, stderr):
            file.write_bytes(b"")  # on a slow machine the program is killed before it opens them
        job = Job(
            call=call,
            argv=list(argv),
            env=env,
            cwd=str(cwd),
            stdout=str(stdout),
            stderr=str(stderr),
            kill_after_seconds=kill_after_seconds,
            interrupt_file=None if interrupt_at is None else str(cwd / interrupt_at[0]),
            interrupt_text="" if interrupt_at is None else interrupt_at[1],
            limit_file_bytes=limit_file_bytes,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(job)) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Finished(
            answer["code"],
            stdout.read_text(encoding="utf-8"),
            stderr.read_text(encoding="utf-8"),
            answer["seconds"],
        )


@contextmanager
def fork_server() -> Iterator[ForkServer]:
    """A fork server that has its imports loaded; gone at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.durability.fork_server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield ForkServer(process)
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()
