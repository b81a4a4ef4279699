"""Knows child processes again after their parent was killed, and ends them.

Invariant: a process is only touched if its pid and its start time are both those on record, if it descends
from or shares a session with such a one, or if it carries the token that was put into its environment; this
process and its ancestors never are. Everything here blocks, bounded: call it in a thread.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import psutil

# A start time is computed from the boot time, which follows the clock when that is set.
_START_TIME_TOLERANCE_SECONDS = 1.0
_KILL_SECONDS = 3.0
_POLL_SECONDS = 0.02
# A look can miss a process that hands over to a child while it goes on.
_FIRST_LOOKS = 2
_LOOKS_WITHOUT_ANY = 4

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied)


def identify(pid: int) -> float | None:
    """When the process started, in seconds since the epoch; None if there is none, or only its remains."""
    try:
        process = psutil.Process(pid)
        return process.create_time() if _is_running(process) else None
    except _GONE:
        return None


def end_recorded(
    pid: int | None,
    start_time: float | None,
    token: str,
    variable: str,
    *,
    grace_seconds: float,
    leaderless: bool = False,
) -> bool:
    """End what is left of a child on record: by pid and start time (see `end_tree`), then whoever carries
    its token. True if nothing of it is left."""
    ended = True
    if pid is not None and start_time is not None:
        ended = end_tree(pid, start_time, grace_seconds=grace_seconds, leaderless=leaderless)
    return end_carriers(token, variable, grace_seconds=grace_seconds) and ended


def end_tree(pid: int, start_time: float, *, grace_seconds: float, leaderless: bool = False) -> bool:
    """End a process, its descendants, and its process group or session if it leads one.

    First politely; after `grace_seconds` by force. True if nothing of it is left. A process with another
    start time is left alone, and so is its group; this process and its ancestors are refused (False).
    `leaderless`: also end the group of a leader that has ended already; only for a child of this very
    process, whose pid cannot have gone to somebody else meanwhile.
    """
    spared = _spared()
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
    tree = _Tree(pid, leader)
    return _Hunt(tree.find, spared, tree.kill_group).end(grace_seconds)


def find_by_token(token: str, variable: str) -> list[int]:
    """The pids of this user's processes whose environment has `variable` set to `token`."""
    return [process.pid for process in _carriers(token, variable)]


def end_carriers(token: str, variable: str, *, grace_seconds: float) -> bool:
    """End this user's processes whose environment has `variable` set to `token`, what descends from them
    and what shares a session with one; also while they start others.

    First politely; after `grace_seconds` by force. True if none is left.
    """

    spared = _spared()

    def find() -> Iterator[psutil.Process]:
        carriers = []
        for process in _carriers(token, variable):
            carriers.append(process)
            yield process
        yield from _descendants(carriers)
        yield from _session_mates(carriers, spared)

    return _Hunt(find, spared).end(grace_seconds)


class _Tree:
    """A leader's descendants, group and session, as they are at each `find`."""

    def __init__(self, pid: int, leader: psutil.Process | None) -> None:
        self._pid = pid
        self._leader = leader

    def find(self) -> Iterator[psutil.Process]:
        leaders = [] if self._leader is None else [self._leader]
        yield from leaders
        yield from _descendants(leaders)
        if self.has_group():
            yield from _existing(pid for pid in _pids_newest_first() if self._pid in _group_and_session(pid))

    def has_group(self) -> bool:
        """False if the pid has gone to somebody else meanwhile: then the group is not ours either."""
        leads = self._leader is not None and self._leader.is_running()
        return sys.platform != "win32" and (leads or not psutil.pid_exists(self._pid))

    def kill_group(self) -> None:
        """In one go: a group that forks all the time would escape one by one."""
        if sys.platform != "win32" and self._pid != os.getpgrp() and self.has_group():
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return


class _Hunt:
    """The processes to end, for the time of one `end`. None is forgotten when its parent goes."""

    def __init__(
        self,
        find: Callable[[], Iterable[psutil.Process]],
        spared: set[int],
        kill_together: Callable[[], None] | None = None,
    ) -> None:
        """`find` looks anew each time, and is told of each process before it looks for the next."""
        self._find = find
        self._spared = spared
        self._kill_together = kill_together or (lambda: None)
        self._members: set[psutil.Process] = set()

    def end(self, grace_seconds: float) -> bool:
        """True if nothing is left."""
        for _ in range(_FIRST_LOOKS):
            if self._send_to_all(psutil.Process.terminate):
                self._wait(grace_seconds)
                return self._kill()
        return True

    def _kill(self) -> bool:
        """By force, again and again: what is found may have started another meanwhile."""
        deadline = time.monotonic() + _KILL_SECONDS
        looks_without_any = 0
        while looks_without_any < _LOOKS_WITHOUT_ANY:
            if time.monotonic() >= deadline:
                return False
            self._kill_together()
            if self._send_to_all(psutil.Process.kill):
                looks_without_any = 0
                self._wait(_POLL_SECONDS)
            else:
                looks_without_any += 1
        return True

    def _send_to_all(self, send: Callable[[psutil.Process], None]) -> bool:
        """Send at sight, and to those of earlier looks that still run. False if there are none."""
        seen = set()
        for process in self._members:
            seen |= _sent(process, send)
        for process in self._find():
            if process.pid not in self._spared and process not in seen:
                seen |= _sent(process, send)
        self._members |= seen
        return bool(seen)

    def _wait(self, seconds: float) -> None:
        """Wait until all members have ended, at most so long."""
        # Not psutil's own wait: it would take the exit status away from asyncio, whose child it may be.
        deadline = time.monotonic() + seconds
        while any(_is_running(process) for process in self._members) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def _spared() -> set[int]:
    return {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}


def _carriers(token: str, variable: str) -> Iterator[psutil.Process]:
    for pid in _pids_newest_first():
        if pid == os.getpid() or not _may_carry(pid, token):
            continue
        try:
            process = psutil.Process(pid)
            if _is_mine(process) and process.environ().get(variable) == token:
                yield process
        except (*_GONE, OSError):
            continue


def _may_carry(pid: int, token: str) -> bool:
    """Ten times quicker than asking each process properly: this is done at each close of a server."""
    if sys.platform != "linux":
        return True
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - as above
            return os.fsencode(token) in file.read()
    except OSError:
        return False


def _descendants(processes: Iterable[psutil.Process]) -> Iterator[psutil.Process]:
    for process in processes:
        try:
            yield from process.children(recursive=True)
        except _GONE:
            continue


def _session_mates(carriers: Iterable[psutil.Process], spared: set[int]) -> Iterable[psutil.Process]:
    """Who may have emptied its environment, and lost its parent, but is in a session of theirs."""
    if sys.platform == "win32":
        return []
    # Children are always spawned into a session of their own; ours is never theirs.
    ours = {0, *(_group_and_session(pid)[1] for pid in spared)}
    sessions = {_group_and_session(process.pid)[1] for process in carriers} - ours
    if not sessions:
        return []
    return _existing(pid for pid in _pids_newest_first() if _group_and_session(pid)[1] in sessions)


def _pids_newest_first() -> Sequence[int]:
    """First those that may be gone soonest, since they only live to start the next."""
    return sorted(psutil.pids(), reverse=True)


def _existing(pids: Iterable[int]) -> Iterator[psutil.Process]:
    for pid in pids:
        try:
            yield psutil.Process(pid)
        except _GONE:
            continue


def _group_and_session(pid: int) -> tuple[int, int]:
    """Zeros if there is no such process, or it is nobody's business."""
    if sys.platform == "win32":
        return 0, 0
    try:
        return os.getpgid(pid), os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return 0, 0


def _sent(process: psutil.Process, send: Callable[[psutil.Process], None]) -> set[psutil.Process]:
    """The process, if it ran and could be sent to."""
    if not _is_running(process):
        return set()
    try:
        send(process)  # checks by itself that the pid has not gone to another process
    except psutil.NoSuchProcess:
        return set()
    except psutil.AccessDenied:
        pass
    return {process}


def _is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except _GONE:
        return False


def _is_mine(process: psutil.Process) -> bool:
    if sys.platform == "win32":
        return process.username() == psutil.Process().username()
    return process.uids().real == os.getuid()
