"""The homes that programs are killed in, and the model's side: what it asks for, what must come of it.

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
SECOND_QUESTION = "chat only"
THIRD_QUESTION = "what else"
SLOW_QUESTION = "write slowly please"
TALK_QUESTION = "talk please"
DYING_QUESTION = "write and die please"
LOOKING_QUESTION = "look and die please"
TALK = ("Half", " and", " half", ".")
SLOW_LINE = "slow round-1 call-1"
_SLOW_SECONDS = 1.0


def question(parallel: int) -> str:
    """What the user writes for a turn with so many parallel calls."""
    return f"write-{parallel} please"


def script(*, holding: bool = False) -> dict[str, Any]:
    """The model's side, as a function of the request. `holding`: it stops in the middle of its talk."""
    by_text: dict[str, list[Any]] = {
        SECOND_QUESTION: [{"pieces": ["Gladly", "."]}],
        TALK_QUESTION: [{"pieces": list(TALK), "hold_after": 2 if holding else None}],
        SLOW_QUESTION: [
            {
                "pieces": ["Working"],
                "calls": [
                    _call("slow round-1 call-0"),
                    _call(SLOW_LINE, "slow_append", seconds=_SLOW_SECONDS),
                ],
            },
            {"pieces": list(ANSWER)},
        ],
    }
    by_text[DYING_QUESTION] = [
        {
            "calls": [
                _call("dying round-1 call-0"),
                _call("dying round-1 call-1", "append_and_die", times=1),
                _call("dying round-1 call-2", "look_and_die", times=1),
            ]
        },
        {"pieces": list(ANSWER)},
    ]
    by_text[LOOKING_QUESTION] = [
        {"calls": [_call("looking round-1 call-0", "look_and_die", times=2)]},
        {"calls": [_call("looking round-2 call-0", "look_and_die", times=9)]},
        {"pieces": list(ANSWER)},
    ]
    for parallel in PARALLEL:
        by_text[question(parallel)] = [
            {"pieces": ["Working"], "calls": [_call(_line(parallel, 1, i)) for i in range(parallel)]},
            {"calls": [_call(_line(parallel, 2, i)) for i in range(parallel)]},
            {"pieces": list(ANSWER)},
        ]
    return {
        "models": [{"name": "scripted:latest", "capabilities": ["completion", "tools"]}],
        "by_text": by_text,
        "turns": [{"pieces": ["Yes", "."]}],
    }


def answer_to(text: str) -> str:
    """What the model says in the end."""
    if text == TALK_QUESTION:
        return "".join(TALK)
    if SECOND_QUESTION in text:
        return "Gladly."
    return "Yes." if text == THIRD_QUESTION else "".join(ANSWER)


def _line(parallel: int, round_: int, index: int) -> str:
    return f"turn-{parallel} round-{round_} call-{index}"


def _call(line: str, tool: str = "append_line", **more: Any) -> dict[str, Any]:
    return {"name": f"lines__{tool}", "arguments": {"file": CALLS_FILE, "text": line, **more}}


def expected_lines(parallel: int) -> set[str]:
    """The lines that a whole turn writes, each once."""
    return {_line(parallel, round_, index) for round_ in (1, 2) for index in range(parallel)}


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
def new_home(root: Path, engine: str, *, approval: str | None = "allow") -> Iterator[Home]:
    """A home with one tool server; removed at the end of the block unless it failed. `approval`: what
    mcp.json says of the server; None: nothing, so that its writes are asked about."""
    home = Home(root, engine)
    config = home.data / "config"
    config.mkdir(parents=True)
    lines: dict[str, Any] = {
        "command": sys.executable,
        "args": ["-m", "tests.durability.lines_server"],
        # What it says of its tools counts: those that only look may be called again.
        "trusted": True,
        # Relative: the server runs where the program runs, and a copied home has a file of its own.
        "env": {"PYTHONPATH": str(ROOT)},
    }
    if approval is not None:
        lines["approval"] = approval
    (config / "mcp.json").write_text(
        json.dumps(
            {"mcpServers": {"lines": lines, "fetch": {"disabled": True}, "memory": {"disabled": True}}}
        )
    )
    (config / "settings.toml").write_text('[engine]\nkind = "ollama"\nmodel = "scripted:latest"\n')
    yield home
    shutil.rmtree(root)
