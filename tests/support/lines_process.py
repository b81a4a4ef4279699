"""A child process that takes and tells JSON, one value a line.

Invariant: each wait has a bound; a process that outlives its block is killed.
"""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.support.sources import ROOT

SECONDS = 60.0


class LinesProcess:
    """A process while it runs; `last` is what it told last."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.last: dict[str, Any] = {}

    def say(self, **what: Any) -> None:
        """Send it a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what).encode() + b"\n")

    async def until(self, wanted: Callable[[dict[str, Any]], object], what: str = "") -> dict[str, Any]:
        """Read on until what it told last is as wanted; looks at the last line first."""
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(SECONDS):
                while not (self.last and wanted(self.last)):
                    line = await self.process.stdout.readline()
                    assert line, f"it ended before: {what}; last: {self.last}"
                    self.last = json.loads(line)
        except TimeoutError:
            raise AssertionError(f"did not come true: {what}; last: {self.last}") from None
        return self.last

    async def next(self, name: str) -> Any:
        """Read on until a line has this name; gives its value."""
        self.last = {}
        return (await self.until(lambda told: name in told, name))[name]

    async def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        os.kill(self.process.pid, signal.SIGKILL)
        await asyncio.wait_for(self.process.wait(), SECONDS)

    async def gone(self) -> int:
        """Wait until it has ended by itself; gives its code."""
        _, _ = await asyncio.wait_for(self.process.communicate(), SECONDS)
        assert self.process.returncode is not None
        return self.process.returncode


@asynccontextmanager
async def lines_process(module: str, environ: Mapping[str, str]) -> AsyncIterator[LinesProcess]:
    """`python -m module` while the block runs; its errors go to the test's."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, cwd=ROOT, env=dict(environ), stdin=PIPE, stdout=PIPE, limit=2**22
    )
    try:
        yield LinesProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
