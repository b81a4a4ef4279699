"""Starts single commands as the tool host starts its servers."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from sophos_desktop.core.mcp_host.child import ChildCommand, CloseLimits, ServerChild
from sophos_desktop.core.mcp_host.command import ChildNotStarted
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from tests.core.mcp_host.harness import MemoryRecords

LIMITS = CloseLimits(stdin_seconds=5.0, terminate_seconds=0.3, pipes_seconds=0.3)
SYSTEM_PATH = "/usr/bin:/bin"
ENOUGH_SECONDS = 30.0


def program(path: Path, text: str | bytes, mode: int = 0o700) -> Path:
    """A file that can be executed, or not."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


async def sentence_of(
    command: str, environment: Mapping[str, str], cwd: str | None = None, args: Sequence[str] = ()
) -> str:
    """Why a command cannot be started; nothing of the attempt is left on record."""
    records = MemoryRecords()
    with pytest.raises(ChildNotStarted) as caught:
        await ServerChild.start(
            ChildCommand("mcp:x", command, tuple(args), environment, cwd),
            records=records,
            tail=StderrTail(),
            limits=LIMITS,
        )
    assert records.alive == {}
    return str(caught.value)


async def output_of(command: str, environment: Mapping[str, str], cwd: str | None = None) -> list[str]:
    """What a command writes to stdout."""
    child = await ServerChild.start(
        ChildCommand("mcp:x", command, (), environment, cwd),
        records=MemoryRecords(),
        tail=StderrTail(),
        limits=LIMITS,
    )
    lines = []
    try:
        async with asyncio.timeout(ENOUGH_SECONDS):
            while (line := await child.next_line()) is not None:
                lines.append(line.decode())
    finally:
        await child.close()
    return lines
