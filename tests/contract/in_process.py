"""Runs command lines in this process, so that many of them cost little.

Invariant: what is run is the program's own entry with streams of its own; it runs in a thread, since it makes
a loop of its own while the test's loop serves the scripted engine.
"""

import asyncio
import io
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sophos_desktop.cli.main import run
from tests.support.ollama_server import OllamaServer
from tests.support.sources import ROOT

NOBODY = "127.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command line left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on stdout."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Program:
    """The program with a data folder of its own; lives for one test."""

    def __init__(self, data_dir: Path, environ: Mapping[str, str]) -> None:
        """Writes an mcp.json with the server `lines`, and nothing that takes time to start."""
        self.data_dir = data_dir
        self.environ = {**environ, "OLLAMA_HOST": NOBODY, "SOPHOS_ENGINE__KIND": "ollama"}
        lines = {
            "command": sys.executable,
            "args": ["-m", "tests.support.mcp_servers.append_line"],
            "approval": "allow",
            "env": {"PYTHONPATH": os.pathsep.join([str(ROOT), environ.get("PYTHONPATH", "")])},
        }
        config = data_dir / "config"
        config.mkdir(parents=True, mode=0o700)
        shipped = {"fetch": {"disabled": True}, "memory": {"disabled": True}}
        (config / "mcp.json").write_text(json.dumps({**shipped, "lines": lines}))

    def use(self, server: OllamaServer) -> None:
        """Answer with this engine from now on."""
        self.environ["OLLAMA_HOST"] = f"127.0.0.1:{server.port}"

    async def __call__(self, *argv: str, stdin: str | bytes = "") -> Finished:
        """Run one command line to its end."""
        out, err = io.StringIO(), io.StringIO()
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        with io.TextIOWrapper(io.BytesIO(given), encoding="utf-8") as read:
            code = await asyncio.to_thread(run, list(argv), self.environ, read, out, err)
        return Finished(code, out.getvalue(), err.getvalue())
