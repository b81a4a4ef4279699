"""The real program as a child process, with a data folder of its own.

Invariant: nothing waits without a bound; a program that outlives its test is killed.
"""

import asyncio
import io
import json
import os
import pty
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sophos_desktop.cli.main import run
from tests.support.ollama_server import OllamaServer
from tests.support.sources import ROOT

SECONDS = 60.0
PROGRAM = (sys.executable, "-m", "sophos_desktop")
NOBODY = "127.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Finished:
    """What the program left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        """The document on stdout."""
        return json.loads(self.out)


class Running:
    """A program that runs, until it has ended."""

    def __init__(self, process: Process) -> None:
        self.process = process

    async def line(self, *, of_stderr: bool = False) -> str:
        """The next line; empty at the end."""
        stream = self.process.stderr if of_stderr else self.process.stdout
        assert stream is not None
        return (await asyncio.wait_for(stream.readline(), SECONDS)).decode()

    async def text(self, wanted: str) -> str:
        """What comes on stdout until it ends in `wanted`."""
        assert self.process.stdout is not None
        read = await asyncio.wait_for(self.process.stdout.readuntil(wanted.encode()), SECONDS)
        return read.decode()

    async def end(self) -> Finished:
        """Wait for it; gives what was not read yet."""
        out, err = await asyncio.wait_for(self.process.communicate(), SECONDS)
        assert self.process.returncode is not None
        return Finished(self.process.returncode, (out or b"").decode(), (err or b"").decode())


class Program:
    """Starts the program; lives for one test."""

    def __init__(self, data_dir: Path, environ: Mapping[str, str]) -> None:
        """Writes an mcp.json with the server `lines`, and nothing that takes time to start."""
        self.data_dir = data_dir
        self.lines_file = data_dir / "lines.txt"
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

    @property
    def mcp_file(self) -> Path:
        """The user's mcp.json."""
        return self.data_dir / "config" / "mcp.json"

    def entries(self) -> dict[str, Any]:
        """What the user's mcp.json holds."""
        entries: dict[str, Any] = json.loads(self.mcp_file.read_text(encoding="utf-8"))
        return entries

    def write_entries(self, entries: Mapping[str, Any]) -> None:
        """Write the user's mcp.json."""
        self.mcp_file.write_text(json.dumps(entries, indent=2), encoding="utf-8")

    def ask_about_lines(self) -> None:
        """From now on nobody has said anything about the server `lines`: its tools are asked about."""
        entries = self.entries()
        del entries["lines"]["approval"]
        self.write_entries(entries)

    def append(self, text: str) -> dict[str, Any]:
        """A call that appends a line to the lines file."""
        return {"name": "lines__append_line", "arguments": {"file": str(self.lines_file), "text": text}}

    def appended(self) -> list[str]:
        """What the calls really appended."""
        return self.lines_file.read_text().splitlines() if self.lines_file.exists() else []

    @asynccontextmanager
    async def started(
        self,
        *argv: str,
        stdin: int = DEVNULL,
        stdout: int = PIPE,
        stderr: int = PIPE,
        environ: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Running]:
        """The program while the block runs; streams as asyncio's subprocesses take them."""
        process = await asyncio.create_subprocess_exec(
            *PROGRAM,
            *argv,
            cwd=ROOT,
            env={**self.environ, **(environ or {})},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            limit=2**22,
        )
        try:
            yield Running(process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    async def __call__(self, *argv: str, environ: Mapping[str, str] | None = None) -> Finished:
        """Run one command line to its end."""
        async with self.started(*argv, environ=environ) as running:
            return await running.end()


async def typed(program: Program, *argv: str, stdin: str = "") -> Finished:
    """Run one command line in this process, which costs a tenth of a new one."""
    out, err = io.StringIO(), io.StringIO()
    code = await asyncio.to_thread(run, list(argv), program.environ, io.StringIO(stdin), out, err)
    return Finished(code, out.getvalue(), err.getvalue())


async def typed_at(program: Program, tty: int, *argv: str) -> Finished:
    """`typed`, with a terminal for its input and its errors."""
    out = io.StringIO()
    with (
        open(os.dup(tty), encoding="utf-8") as stdin,  # noqa: ASYNC230, PTH123 - a descriptor, not a path
        open(os.dup(tty), "w", encoding="utf-8") as stderr,  # noqa: ASYNC230, PTH123 - as above
    ):
        code = await asyncio.to_thread(run, list(argv), program.environ, stdin, out, stderr)
    return Finished(code, out.getvalue(), "")


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal: the person's and the program's."""
    person, program = pty.openpty()
    try:
        yield person, program
    finally:
        os.close(person)
        os.close(program)


async def read_until(descriptor: int, wanted: str) -> str:
    """What comes from a pipe or a terminal, up to `wanted`."""
    loop = asyncio.get_running_loop()
    seen = bytearray()
    arrived = asyncio.Event()

    def read() -> None:
        seen.extend(os.read(descriptor, 4096))
        arrived.set()

    loop.add_reader(descriptor, read)
    try:
        async with asyncio.timeout(SECONDS):
            while wanted.encode() not in seen:
                await arrived.wait()
                arrived.clear()
    finally:
        loop.remove_reader(descriptor)
    return seen.decode()
