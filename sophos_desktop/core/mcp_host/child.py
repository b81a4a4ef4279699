"""Owns the process of one stdio tool server, from before its spawn until nothing of it is left.

Invariant: the process is on record before it exists (DURABILITY.md, rule 13); it leads a group of its own;
`close` always ends it and its descendants, bounded in time, also if the caller is cancelled.
"""

import asyncio
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.ports import ChildRecords
from sophos_desktop.core.mcp_host.child_protocol import ChildProtocol
from sophos_desktop.core.mcp_host.command import TOKEN_VARIABLE, ChildNotStarted, Program, locate
from sophos_desktop.core.mcp_host.program_file import is_batch_file, why_not_started
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.core.mcp_host.windows_command_line import batch_line
from sophos_desktop.foundation import failpoints, windows_job
from sophos_desktop.foundation.child_processes import end_carriers, end_tree, identify
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)
_STRAY_GRACE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class CloseLimits:
    """How long each stage of closing may take, in seconds."""

    stdin_seconds: float = 1.5
    terminate_seconds: float = 1.5
    pipes_seconds: float = 0.5
    record_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class ChildCommand:
    """What to start. `environment` is the whole environment of the child, but for its token; a
    `ChildEnvironment` may know more folders to look in."""

    what: str
    command: str
    args: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str | None = None


class ServerChild:
    """A running process and its pipes. Made by `start`, ended by `close`, on one event loop."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: ChildProtocol,
        record: "_Record",
        limits: CloseLimits,
    ) -> None:
        self._transport = transport
        self._protocol = protocol
        self._record = record
        self._limits = limits
        self._owner = TaskOwner(_report)
        self._closing: asyncio.Task[None] | None = None
        self._job: windows_job.WindowsJob | None = None
        self.pid = transport.get_pid()

    @classmethod
    async def start(
        cls, command: ChildCommand, *, records: ChildRecords, tail: StderrTail, limits: CloseLimits
    ) -> "ServerChild":
        """Spawn the process. Raises ChildNotStarted, or SophosError if it cannot be put on record."""
        program = await locate(command.command, command.environment, command.cwd, records)
        record = _Record(records, await records.announce(command.what))
        failpoints.hit("child.announced")
        # A task of its own, since asyncio ends the process alone, and without a bound, when its spawn is
        # cancelled; by then it may have started others.
        spawning = TaskOwner(_ignore).spawn(
            _spawn(program, command, record.token, tail), "spawn a tool server"
        )
        cancelled: asyncio.CancelledError | None = None
        try:
            await finish(spawning)
        except asyncio.CancelledError as error:
            cancelled = error
        except (OSError, ValueError) as error:
            await record.ended(limits.record_seconds)
            raise _not_started(program, error) from error
        if spawning.cancelled() or spawning.exception() is not None:
            await record.ended(limits.record_seconds)
            raise cancelled or asyncio.CancelledError
        failpoints.hit("child.spawned")
        child = cls(*spawning.result(), record, limits)
        record.identify(child.pid)
        try:
            if cancelled is not None:
                raise cancelled
            child._join_job()
            await record.spawned(child.pid)
        except OSError as error:
            await child.close()
            raise _not_started(program, error) from error
        except BaseException:  # also when cancelled: the process must not be left alone
            await child.close()
            raise
        return child

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs."""
        return self._transport.get_returncode()

    async def next_line(self) -> bytes | None:
        """The next line that it wrote to stdout; None when there will be no more."""
        return await self._protocol.next_line()

    async def write(self, data: bytes) -> None:
        """Write to its stdin and wait while it does not read. Raises BrokenPipeError if it is gone."""
        pipe = cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))
        if pipe is None or pipe.is_closing() or self._protocol.exited.is_set():
            raise BrokenPipeError("the process no longer reads")
        pipe.write(data)
        await self._protocol.writable()

    def end_input(self) -> None:
        """Close its stdin."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()

    async def wait_exited(self, timeout_seconds: float) -> bool:
        """True once the process has ended; False if it has not within the time-out."""
        return await _within(timeout_seconds, self._protocol.exited)

    async def close(self) -> None:
        """End the process and its descendants: stdin, then terminate, then kill. A caller that is
        cancelled meanwhile gets its CancelledError after the end, not before."""
        if self._closing is None:
            self._closing = self._owner.spawn(self._close(), f"close {self._record.token}")
        await finish(self._closing)

    async def _close(self) -> None:
        limits = self._limits
        stdin = cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))
        if stdin is not None:
            stdin.close()
        await self.wait_exited(limits.stdin_seconds)
        await asyncio.to_thread(self._end_processes)
        await self.wait_exited(limits.pipes_seconds)
        if stdin is not None and stdin.get_write_buffer_size():
            stdin.abort()  # what was never read would keep the pipe open
        self._transport.close()
        await _within(limits.pipes_seconds, self._protocol.disconnected)
        if self._protocol.exited.is_set():
            await self._record.ended(limits.record_seconds)
        else:
            _log.error("process %d of a tool server cannot be ended", self.pid)

    def _end_processes(self) -> None:
        """Terminate, then kill, whatever is left: of its group, below it, or started by it and detached
        since (that carries the token). Blocks, bounded."""
        if self._job is not None:
            self._job.close()  # Windows ends everything in it
        # The group of a leader that has ended is ours as long as somebody is in it, and it is only now
        # that the leader's end was seen.
        end_tree(
            self.pid, self._record.start_time, grace_seconds=self._limits.terminate_seconds, leaderless=True
        )
        end_carriers(self._record.token, TOKEN_VARIABLE, grace_seconds=_STRAY_GRACE_SECONDS)

    def _join_job(self) -> None:
        """On Windows: from here on it and all that it starts end with this program. Raises OSError."""
        if sys.platform == "win32":
            self._job = windows_job.WindowsJob.adopt(self.pid)


async def _spawn(
    program: Program, command: ChildCommand, token: str, tail: StderrTail
) -> tuple[asyncio.SubprocessTransport, ChildProtocol]:
    """Raises OSError or ValueError."""
    loop = asyncio.get_running_loop()
    own: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        own = {"creationflags": windows_job.CREATION_FLAGS}
    own |= {"env": {**program.environment, TOKEN_VARIABLE: token}, "cwd": command.cwd}
    if sys.platform == "win32" and is_batch_file(program.path):
        # Spelled out: with a list of arguments their quotes are written as `cmd.exe` does not read them.
        line = batch_line(program.path, command.args)
        return await loop.subprocess_shell(lambda: ChildProtocol(tail), line, **own)
    return await loop.subprocess_exec(lambda: ChildProtocol(tail), program.path, *command.args, **own)


def _not_started(program: Program, error: OSError | ValueError) -> ChildNotStarted:
    reason = f"its arguments or variables cannot be handed on: {error}"
    if isinstance(error, OSError):
        reason = why_not_started(program.path, error)
    return ChildNotStarted(f"the command {program.path} was found but cannot be started: {reason}")


@dataclass(slots=True)
class _Record:
    """The row of one child. `start_time` in seconds since the epoch, once it is known."""

    records: ChildRecords
    token: str
    start_time: float = 0.0

    def identify(self, pid: int) -> None:
        """Look when the process started; to be done before it can have ended and been forgotten."""
        self.start_time = identify(pid) or 0.0

    async def spawned(self, pid: int) -> None:
        """Add what identifies the process."""
        if not self.start_time:
            return  # over already; the token alone identifies what it may have started
        await self.records.spawned(self.token, pid, self.start_time)

    async def ended(self, timeout_seconds: float) -> None:
        """Take the child off the record. What fails here is made good by the sweep at the next start."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self.records.ended(self.token)
        except (TimeoutError, SophosError) as error:
            _log.info("the end of a tool server could not be recorded: %s", error)


async def finish(task: "asyncio.Task[Any]") -> None:
    """Wait until the task has ended, also while the caller is being cancelled; then pass that on."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    if not task.cancelled():
        task.result()


async def _within(timeout_seconds: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(timeout_seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _ignore(error: BaseException) -> None:
    """Who spawned the task reads its error."""


def _report(error: BaseException) -> None:
    _log.error("closing a tool server failed", exc_info=error)
