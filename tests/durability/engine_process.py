"""The scripted engine as a process of its own, so that killed programs leave it alone."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.durability.program import ROOT
from tests.durability.scenario import script


@contextmanager
def engine_process(folder: Path) -> Iterator[str]:
    """Its address; gone at the end of the block."""
    file = folder / "script.json"
    file.write_text(json.dumps(script()), encoding="utf-8")
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
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()
