"""The turns that are killed: what the user writes, what the model asks for, what must come of it.

Each turn asks for one to four parallel calls, twice, before it answers; every call appends a line of its own
to a file, so that the file tells how often each call really ran.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.durability.program import ROOT

CALLS_FILE = "calls.log"
PARALLEL = (1, 2, 3, 4)
ANSWER = ("All ", "lines ", "are ", "written", ".")


def question(parallel: int) -> str:
    """What the user writes for a turn with so many parallel calls."""
    return f"write-{parallel} please"


SECOND_QUESTION = "chat only"


def script() -> dict[str, Any]:
    """The model's side, as a function of the request."""
    by_text: dict[str, list[Any]] = {SECOND_QUESTION: [{"pieces": ["Gladly", "."]}]}
    for parallel in PARALLEL:
        by_text[question(parallel)] = [
            {"pieces": ["Working"], "calls": [_call(parallel, 1, index) for index in range(parallel)]},
            {"calls": [_call(parallel, 2, index) for index in range(parallel)]},
            {"pieces": list(ANSWER)},
        ]
    return {
        "models": [{"name": "scripted:latest", "capabilities": ["completion", "tools"]}],
        "by_text": by_text,
        "turns": [{"pieces": ["Yes", "."]}],
    }


def _call(parallel: int, round_: int, index: int) -> dict[str, Any]:
    return {
        "name": "lines__append_line",
        "arguments": {"file": CALLS_FILE, "text": f"turn-{parallel} round-{round_} call-{index}"},
    }


def expected_lines(parallel: int) -> set[str]:
    """The lines that a whole turn writes, each once."""
    return {f"turn-{parallel} round-{r} call-{i}" for r in (1, 2) for i in range(parallel)}


@dataclass(frozen=True, slots=True)
class Home:
    """One user's folder: `root` is where the program and its servers run."""

    root: Path
    engine: str

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.root / "data"

    def env(self, **more: str) -> dict[str, str]:
        """The environment of a start."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **kept,
            "SOPHOS_DATA_DIR": str(self.data),
            "OLLAMA_HOST": self.engine,
            "PYTHONPATH": str(ROOT),
            **more,
        }

    def lines(self) -> list[str]:
        """What the calls have written."""
        file = self.root / CALLS_FILE
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def copy(self, target: Path) -> "Home":
        """A second home in the same state; nothing may run in this one."""
        shutil.copytree(self.root, target)
        return Home(target, self.engine)


@contextmanager
def new_home(root: Path, engine: str) -> Iterator[Home]:
    """A home with one tool server; removed at the end of the block unless it failed."""
    home = Home(root, engine)
    config = home.data / "config"
    config.mkdir(parents=True)
    lines = {
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_servers.append_line"],
        # Relative: the server runs where the program runs, and a copied home has a file of its own.
        "env": {"PYTHONPATH": str(ROOT)},
    }
    (config / "mcp.json").write_text(
        json.dumps(
            {"mcpServers": {"lines": lines, "fetch": {"disabled": True}, "memory": {"disabled": True}}}
        )
    )
    (config / "settings.toml").write_text('[engine]\nkind = "ollama"\nmodel = "scripted:latest"\n')
    yield home
    shutil.rmtree(root)
