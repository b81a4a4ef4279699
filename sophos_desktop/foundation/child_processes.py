"""Knows child processes again after their parent was killed, and ends them.

Invariant: a process is only touched if its pid and its start time are both those on record, or if it carries
the token that was put into its environment; this process and its ancestors never are. Everything here
blocks, bounded: call it in a thread.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable

import psutil

# A start time is computed from the boot time, which follows the clock when that is set.
_START_TIME_TOLERANCE_SECONDS = 1.0
_KILL_SECONDS = 3.0
_POLL_SECONDS = 0.02

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied)


def identify(pid: int) -> float | None:
    """When the process started, in seconds since the epoch; None if there is none, or only its remains."""
    try:
        process = psutil.Process(pid)
        return process.create_time() if _is_running(process) else None
    except _GONE:
        return None


def end_tree(pid: int, start_time: float, *, grace_seconds: float, leaderless: bool = False) -> bool:
    """End a process, its descendants, and its process group or session if it leads one.

    First politely; after `grace_seconds` by force. True if nothing of it is left. A process with another
    start time is left alone, and so is its group; this process and its ancestors are refused (False).
    `leaderless`: also end the group of a leader that has ended already; only for a child of this very
    process, whose pid cannot have gone to somebody else meanwhile.
    """
    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    if pid in spared:
        return False
    try:
        leader = psutil.Process(pid)
        started = leader.create_time()  # the remains of an ended process still tell
    except psutil.NoSuchProcess:
        if not leaderless:
            return True
        leader = None
    except psutil.AccessDenied:
        return True  # another user's by now
    else:
        if abs(started - start_time) > _START_TIME_TOLERANCE_SECONDS:
            return True
    tree = _Tree(pid, leader, spared)
    tree.signal(psutil.Process.terminate)
    tree.wait(grace_seconds)
    tree.signal(psutil.Process.kill)
    return tree.wait(_KILL_SECONDS)


def find_by_token(token: str, variable: str) -> list[int]:
    """The pids of this user's processes whose environment has `variable` set to `token`."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            if _is_mine(process) and process.environ().get(variable) == token:
                found.append(process.pid)
        except (*_GONE, OSError):
            continue
    return found


class _Tree:
    """The processes to end, for the time of one `end_tree`. None is forgotten when its parent goes."""

    def __init__(self, pid: int, leader: psutil.Process | None, spared: set[int]) -> None:
        self._pid = pid
        self._leader = leader
        self._members: dict[int, psutil.Process] = {}
        self._spared = spared

    def signal(self, send: Callable[[psutil.Process], None]) -> None:
        """Send to every member, also to those that were started since the last time."""
        for process in (*self._descendants(), *self._group()):
            if process.pid not in self._spared:
                self._members.setdefault(process.pid, process)
        for process in self._members.values():
            try:
                send(process)  # checks by itself that the pid has not gone to another process
            except _GONE:
                continue

    def wait(self, seconds: float) -> bool:
        """True as soon as all members have ended, False after `seconds`."""
        # Not psutil's own wait: it would take the exit status away from asyncio, whose child it may be.
        deadline = time.monotonic() + seconds
        while any(_is_running(process) for process in self._members.values()):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _descendants(self) -> Iterable[psutil.Process]:
        if self._leader is None:
            return []
        try:
            return [self._leader, *self._leader.children(recursive=True)]
        except _GONE:
            return []

    def _group(self) -> Iterable[psutil.Process]:
        if sys.platform == "win32":
            return []
        if psutil.pid_exists(self._pid) and (self._leader is None or not self._leader.is_running()):
            return []  # the pid has gone to somebody else meanwhile
        members = []
        for process in psutil.process_iter():
            try:
                if self._pid in (os.getpgid(process.pid), os.getsid(process.pid)):
                    members.append(process)
            except (ProcessLookupError, PermissionError):
                continue
        return members


def _is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except _GONE:
        return False


def _is_mine(process: psutil.Process) -> bool:
    if sys.platform == "win32":
        return process.username() == psutil.Process().username()
    return process.uids().real == os.getuid()
