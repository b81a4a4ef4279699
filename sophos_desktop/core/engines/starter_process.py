"""Owns the starter's child process: started at the first use, ended with the app, one at a time.

Invariant: the child is on record before it is spawned and until it has been reaped; it leaves by itself
when its stdin ends, so that none outlives this process however that ends. Its key goes through the pipe,
never into arguments or the environment.
"""

import asyncio
import json
import os
import secrets
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sophos_desktop
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.ports import ChildRecords
from sophos_desktop.foundation import failpoints, resources
from sophos_desktop.foundation.child_processes import end_tree, identify
from sophos_desktop.foundation.tasks import TaskOwner

STARTER_MODEL = "smollm2:135m"
STARTER_CONTEXT = 8192
FETCH = "Run `make setup`, which fetches it"
CHILD_TOKEN_VARIABLE = "SOPHOS_CHILD_TOKEN"

_START_SECONDS = 60.0
_LEAVE_SECONDS = 1.0
_TERMINATE_SECONDS = 1.0
_REAP_SECONDS = 1.0
_STDERR_LINES = 40

_ENVIRONMENT = frozenset(
    {
        *("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TEMP", "TMP"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "OMP_NUM_THREADS"),
        *("SYSTEMROOT", "WINDIR", "USERPROFILE", "LOCALAPPDATA"),
    }
)

SERVER_COMMAND = (sys.executable, "-m", "sophos_desktop.core.engines.starter_server")


@dataclass(frozen=True, slots=True)
class StarterAddress:
    """Where the starter answers now. The key has no repr, so that it gets into no log."""

    base_url: str
    api_key: str = field(repr=False)


@dataclass(slots=True)
class _Running:
    """A child that serves."""

    process: asyncio.subprocess.Process
    start_time: float | None
    token: str
    address: StarterAddress
    stderr: deque[str]
    reading: "asyncio.Task[None]"


class StarterProcess:
    """Lives as long as the core; its child from the first `ensure` to `close`, or until it dies."""

    def __init__(
        self,
        records: ChildRecords,
        tasks: TaskOwner,
        *,
        find_model: Callable[[], Path | None] = resources.starter_model,
        command: Sequence[str] = SERVER_COMMAND,
        context_length: int = STARTER_CONTEXT,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`find_model` gives the model file if it is there; `context_length` in tokens; `command` runs
        `starter_server.main`."""
        self.find_model = find_model
        self.context_length = context_length
        self._records = records
        self._tasks = tasks
        self._command = tuple(command)
        self._environ = os.environ if environ is None else environ
        self._lock = asyncio.Lock()
        self._running: _Running | None = None
        self._closed = False

    @property
    def alive(self) -> bool:
        """True while a child serves."""
        return self._running is not None and self._running.process.returncode is None

    @property
    def pid(self) -> int | None:
        """The child's process id while it serves."""
        return self._running.process.pid if self._running is not None and self.alive else None

    async def wait_dead(self) -> None:
        """Wait until no child serves."""
        if self._running is not None:
            await self._running.process.wait()

    async def ensure(self) -> StarterAddress:
        """Where the starter answers; starts it if it does not run (any more).

        Raises SophosError: MODEL_UNAVAILABLE without the model file, ENGINE_ERROR if it cannot serve.
        """
        async with self._lock:
            if self._closed:
                raise SophosError(ErrorCode.ENGINE_ERROR, "Sophos is closing", "Start it again, then resume")
            if self._running is not None and not self.alive:
                await self._forget(self._running)
            if self._running is None:
                self._running = await self._start()
            return self._running.address

    async def close(self) -> None:
        """End the child, gently first; bounded. Nothing starts afterwards."""
        async with self._lock:
            self._closed = True
            if self._running is not None:
                await _end(self._running.process, self._running.start_time)
                await self._forget(self._running)

    async def _start(self) -> _Running:
        model = await asyncio.to_thread(self.find_model)
        if model is None or not await asyncio.to_thread(model.is_file):
            raise SophosError(ErrorCode.MODEL_UNAVAILABLE, "The built-in starter model is not there", FETCH)
        token = await self._records.announce("starter")
        failpoints.hit("starter.announced")
        process: asyncio.subprocess.Process | None = None
        start_time: float | None = None
        reading: asyncio.Task[None] | None = None
        try:
            process = await self._spawn(token)
            stderr: deque[str] = deque(maxlen=_STDERR_LINES)
            assert process.stderr is not None
            reading = self._tasks.spawn(_read_tail(process.stderr, stderr), "starter stderr")
            start_time = identify(process.pid)
            if start_time is not None:  # else it is gone already, which is reported below
                failpoints.hit("starter.spawned")
                await self._records.spawned(token, process.pid, start_time)
            address = await self._introduce(process, model, stderr, reading)
        except BaseException:
            # Cancelled or failed: the child must not stay behind, and neither its record.
            if process is not None:
                await _end(process, start_time)
            if reading is not None:
                await asyncio.wait({reading})
            await self._records.ended(token)
            raise
        return _Running(process, start_time, token, address, stderr, reading)

    async def _spawn(self, token: str) -> asyncio.subprocess.Process:
        own_group: dict[str, Any] = (
            {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
            if sys.platform == "win32"
            else {"start_new_session": True}
        )
        try:
            return await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._child_environment(token),
                **own_group,
            )
        except OSError as error:
            raise SophosError(
                ErrorCode.ENGINE_ERROR,
                "The built-in starter model cannot be started",
                f"See whether {self._command[0]} is there and may be run, then resume",
                details=str(error),
            ) from error

    def _child_environment(self, token: str) -> dict[str, str]:
        allowed = {name: value for name, value in self._environ.items() if name.upper() in _ENVIRONMENT}
        package_folder = Path(sophos_desktop.__file__).parent.parent
        return {**allowed, "PYTHONPATH": str(package_folder), CHILD_TOKEN_VARIABLE: token}

    async def _introduce(
        self,
        process: asyncio.subprocess.Process,
        model: Path,
        stderr: deque[str],
        reading: "asyncio.Task[None]",
    ) -> StarterAddress:
        """Give the child its orders and wait until it says where it serves."""
        assert process.stdin is not None
        assert process.stdout is not None
        key = secrets.token_urlsafe(32)
        orders = {
            "model": str(model),
            "name": STARTER_MODEL,
            "key": key,
            "context": self.context_length,
        }
        line = b""
        try:
            async with asyncio.timeout(_START_SECONDS):
                with suppress(ConnectionError):  # it died before reading: said below
                    process.stdin.write(json.dumps(orders).encode() + b"\n")
                    await process.stdin.drain()
                line = await process.stdout.readline()
                if not line:
                    await process.wait()
                    await asyncio.wait({reading})
        except TimeoutError:
            raise self._failed(f"it said nothing for {_START_SECONDS:.0f} seconds", stderr) from None
        try:
            return StarterAddress(str(json.loads(line)["address"]), key)
        except (ValueError, KeyError, TypeError):
            raise self._failed(f"it ended with code {process.returncode}", stderr) from None

    def _failed(self, what: str, stderr: deque[str]) -> SophosError:
        # llama.cpp marks its errors, and the first is the cause of the others.
        lines = [line.partition(" E ")[2] for line in stderr if " E " in line] or list(stderr)[-1:]
        return SophosError(
            ErrorCode.ENGINE_ERROR,
            f"The built-in starter model did not start: {what}",
            f"Resume to try again; if it fails again, the model's file may be damaged. {FETCH}",
            details=lines[0] if lines else "",
        )

    async def _forget(self, running: _Running) -> None:
        """Take a child that has ended off the record."""
        self._running = None
        await running.process.wait()
        await asyncio.wait({running.reading})
        await self._records.ended(running.token)


async def _read_tail(stream: asyncio.StreamReader, tail: deque[str]) -> None:
    """Keep the last lines of the stream until it ends."""
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # a line longer than the reader's limit: its beginning is dropped
            continue
        if not line:
            return
        if text := line.decode("utf-8", errors="replace").strip():
            tail.append(text)


async def _end(process: asyncio.subprocess.Process, start_time: float | None) -> None:
    """Close stdin, then terminate the group, then kill it; each step waits, and each wait is bounded."""
    if process.stdin is not None:
        process.stdin.close()
    if await _left(process, _LEAVE_SECONDS) or start_time is None:
        return
    await asyncio.to_thread(end_tree, process.pid, start_time, grace_seconds=_TERMINATE_SECONDS)
    await _left(process, _REAP_SECONDS)


async def _left(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Wait until the process has ended. False: it has not, in this time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.wait()
    return process.returncode is not None
