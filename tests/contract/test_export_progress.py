"""How far an export is, for a person at a terminal and for nobody else."""

import asyncio
import io

import pytest

from sophos_desktop.cli import exporting
from sophos_desktop.cli.console import Console


class Stream(io.StringIO):
    """A standard error that says what it is and when it was written to."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal
        self._loop = asyncio.get_running_loop()
        self.written = asyncio.Event()

    def isatty(self) -> bool:
        return self._terminal

    def flush(self) -> None:
        self._loop.call_soon_threadsafe(self.written.set)


async def test_a_terminal_is_told_how_many_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PROGRESS_SECONDS", 0.001)
    stream = Stream(terminal=True)
    console = Console(None, None, stream, {})
    async with exporting._progress(console) as progress, asyncio.timeout(10):
        for done in (1, 2):
            stream.written.clear()
            progress.moved(done, 3)
            await stream.written.wait()
        progress.moved(3, 3)
    console.close()
    assert stream.getvalue() == "exported 1 of 3\nexported 2 of 3\n"


async def test_a_file_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PROGRESS_SECONDS", 0)
    stream = Stream(terminal=False)
    async with exporting._progress(Console(None, None, stream, {})) as progress:
        progress.moved(1, 3)
        await asyncio.sleep(0)
    assert stream.getvalue() == ""
