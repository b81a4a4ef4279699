"""The scripted engine as a process of its own, so that killed programs leave it alone."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.durability.program import ROOT
from tests.durability.scenario import script


@dataclass(frozen=True, slots=True)
class Engine:
    """Where it listens, and its process."""

    url: str
    process: "subprocess.Popen[str]"


@contextmanager
def engine_process(folder: Path, *, holding: bool = False) -> Iterator[str]:
    """Its address; gone at the end of the block. `holding`: it stops in the middle of its talk."""
    with running_engine(folder, holding=holding) as engine:
        yield engine.url


@contextmanager
def running_engine(folder: Path, *, holding: bool = False) -> Iterator[Engine]:
    """The same, with the process, for whoever wants to stop it for a while."""
    file = folder / f"script-{holding}.json"
    file.write_text(json.dumps(script(holding=holding)), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.ollama_server", str(file)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = json.loads(process.stdout.readline())["port"]
        yield Engine(f"http://127.0.0.1:{port}", process)
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()
