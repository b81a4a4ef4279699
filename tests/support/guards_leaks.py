"""The leak guards: what a test left behind.

Invariant: a test that leaves a pending task, a thread, a running child process or an open descriptor fails,
after a bounded wait for what is just ending. Fixtures of a wider scope than the test are not its own.
"""

import asyncio
import gc
import os
import threading
import time
from asyncio import runners
from collections.abc import Callable
from pathlib import Path

import psutil

_WAIT_SECONDS = 3.0
_DESCRIPTORS = Path("/proc/self/fd")
_TASKS = Path("/proc/self/task")

# Opened once by a library and kept for good: devices, fonts, caches, code.
_KEPT = (
    "/dev/",
    "/usr/",
    "/lib",
    "/etc/",
    "/sys/",
    "/proc/",
    "/memfd:",
    str(Path.home() / ".cache"),
    str(Path(os.__file__).parent),
    str(Path(psutil.__file__).parents[1]),
)

_abandoned: list[str] = []
_cancel_all_tasks: Callable[[asyncio.AbstractEventLoop], None] = runners._cancel_all_tasks  # type: ignore[attr-defined]


def watch_loops() -> None:
    """Note, from now on, the tasks that are pending when `asyncio.Runner` closes a loop.

    Afterwards nobody can tell: the runner cancels them without a word.
    """

    def note_and_cancel(loop: asyncio.AbstractEventLoop) -> None:
        _abandoned.extend(f"left a pending task: {task!r}" for task in asyncio.all_tasks(loop))
        _cancel_all_tasks(loop)

    runners._cancel_all_tasks = note_and_cancel  # type: ignore[attr-defined]


class LeakGuard:
    """What there was before a test. Made before the test's own fixtures, asked after their end."""

    def __init__(self) -> None:
        _abandoned.clear()
        self._threads = set(threading.enumerate())
        self._children = _children()
        self._descriptors = _descriptors()

    def problems(self) -> list[str]:
        """What is there now and was not then."""
        gc.collect(1)  # a task that failed unheard speaks up when it is collected: here, not in a later test
        deadline = time.monotonic() + _WAIT_SECONDS
        found = [*_abandoned, *self._new_threads(deadline), *self._new_children(deadline)]
        _abandoned.clear()
        return [*found, *self._new_descriptors()]

    def _new_threads(self, deadline: float) -> list[str]:
        fresh = [
            thread
            for thread in threading.enumerate()
            # Threads that Qt made and that ran Python once are listed for good.
            if thread not in self._threads and not isinstance(thread, threading._DummyThread)
        ]
        for thread in fresh:
            thread.join(max(0.0, deadline - time.monotonic()))
        return [f"left a thread: {thread.name}" for thread in fresh if thread.is_alive()]

    def _new_children(self, deadline: float) -> list[str]:
        fresh = [child for child in _children() - self._children if _is_worth_telling(child)]
        if not fresh:
            return []
        _, alive = psutil.wait_procs(fresh, timeout=max(0.0, deadline - time.monotonic()))
        found = []
        for child in alive:
            found.append(f"left a child process: {child.pid} {_command(child)}")
            child.kill()
        psutil.wait_procs(alive, timeout=_WAIT_SECONDS)
        return found

    def _new_descriptors(self) -> list[str]:
        if self._grown():
            gc.collect()
        return [f"left a descriptor: {number} {target}" for number, target in self._grown()]

    def _grown(self) -> list[tuple[int, str]]:
        return [
            (number, target)
            for number, target in sorted(_descriptors().items())
            if self._descriptors.get(number) != target and not target.startswith(_KEPT)
        ]


def _children() -> set[psutil.Process]:
    """Processes below this one."""
    if not _has_children():
        return set()
    return set(psutil.Process().children(recursive=True))


def _has_children() -> bool:
    # Asked twice a test: this is a hundred times quicker than psutil's walk over all processes.
    try:
        return any((task / "children").read_text() for task in _TASKS.iterdir())
    except OSError:
        return True


def _is_worth_telling(child: psutil.Process) -> bool:
    try:
        # Python's own helper of multiprocessing, one for the whole process.
        return child.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in _command(child)
    except psutil.NoSuchProcess:
        return False


def _command(child: psutil.Process) -> str:
    try:
        return " ".join(child.cmdline())[:200]
    except psutil.Error:
        return "?"


def _descriptors() -> dict[int, str]:
    """Open descriptors and what they are; empty where the system does not tell."""
    found: dict[int, str] = {}
    try:
        numbers = os.listdir(_DESCRIPTORS)  # noqa: PTH208 - names are all that is asked for
    except OSError:
        return found
    for number in numbers:
        try:
            found[int(number)] = os.readlink(_DESCRIPTORS / number)  # noqa: PTH115 - may be no path at all
        except OSError:
            continue
    return found
