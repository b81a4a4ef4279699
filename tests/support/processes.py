"""Sees processes as the system lists them, by other means than the program's own.

Invariant: reads `/proc` alone, so that what the program overlooks is not overlooked here.
"""

import asyncio
import os
import time
from pathlib import Path

TOKEN_VARIABLE = "SOPHOS_CHILD_TOKEN"
PATIENCE_SECONDS = 20.0


def living(token: str | None = None) -> dict[int, str]:
    """The command lines, by pid, of all living processes that carry this token (None: any)."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        carried = [value for name, _, value in (v.partition(b"=") for v in variables) if name == _VARIABLE]
        if carried and token in (None, carried[0].decode()):
            found[int(folder.name)] = command  # the remains of an ended process have no environment
    return found


def is_alive(pid: int) -> bool:
    """False for one that has ended, also if nobody has asked for its exit status yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def until_written(file: Path, lines: int = 1) -> list[str]:
    """Wait until another process has written so many whole lines."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (text := file.read_text() if file.exists() else "").count("\n") < lines:  # noqa: ASYNC110, ASYNC240 - another process writes it
            await asyncio.sleep(0.01)
    return text.splitlines()


def wait_gone(*pids: int) -> list[int]:
    """Those of them that still live after a bounded wait."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


_VARIABLE = TOKEN_VARIABLE.encode()
