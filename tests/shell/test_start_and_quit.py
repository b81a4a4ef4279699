"""Start and quit, fifty times in one process: nothing is left behind."""

import asyncio
import gc
import threading
from pathlib import Path

import psutil
from PySide6.QtWidgets import QApplication

from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.foundation.paths import resolve_paths
from tests.shell.test_bootstrap import desktop, ended, started
from tests.support.window import turns, until

TIMES = 50


def what_there_is() -> dict[str, int]:
    """Of this process: descriptors, threads, children, windows, tasks."""
    process = psutil.Process()
    threads = [thread for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)]
    return {
        "descriptors": process.num_fds(),
        "threads": len(threads),
        "children": len(process.children(recursive=True)),
        "windows": len(QApplication.topLevelWidgets()),
        "tasks": len(asyncio.all_tasks()),
    }


async def test_fifty_times_with_a_window_on_a_real_core(tmp_path: Path) -> None:
    def load(_options: object) -> object:
        return open_core(CoreOptions(resolve_paths(tmp_path, {}), {}, tool_servers=False))

    first: dict[str, int] = {}
    for number in range(TIMES):
        made = desktop(tmp_path, load)  # type: ignore[arg-type]
        task = await started(made)
        await until(lambda made=made: made.window.actions_.new_chat.isEnabled())  # type: ignore[misc]
        made.window.close()
        assert await ended(task, made) == 0
        if number == 1:  # caches of libraries are filled
            await turns(5)
            gc.collect()
            first = what_there_is()
    await turns(5)
    gc.collect()
    last = what_there_is()
    assert {name: count for name, count in last.items() if count > first[name]} == {}
