"""The real window as a process that reports on itself: `… -m tests.benchmarks.window_probe DATA_DIR STARTED`.

STARTED is when it was started, in seconds since the epoch (what the system says of that is rounded). Prints
JSON lines: `painted` and `open` in seconds since then, `rss` in bytes when idle; then asks itself to quit.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import psutil

from sophos_desktop.bootstrap import DesktopOptions, Options, load_core, run_desktop
from sophos_desktop.foundation.paths import resolve_paths
from sophos_desktop.shell.facade import Core

IDLE_SECONDS = 3.0


def _say(name: str, value: float) -> None:
    print(json.dumps({name: value}), flush=True)


def _since_start() -> float:
    return time.time() - float(sys.argv[2])


def _load(options: Options) -> AbstractAsyncContextManager[Core]:
    _say("painted", _since_start())  # the core is loaded right after the first paint
    return _watched(load_core(options))


@asynccontextmanager
async def _watched(opening: AbstractAsyncContextManager[Core]) -> AsyncIterator[Core]:
    async with opening as core:
        _say("open", _since_start())
        asyncio.get_running_loop().call_later(IDLE_SECONDS, _leave)
        yield core


def _leave() -> None:
    _say("rss", psutil.Process().memory_info().rss)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    paths = resolve_paths(Path(sys.argv[1]), os.environ)
    sys.exit(run_desktop(DesktopOptions(paths, dict(os.environ)), load=_load))
