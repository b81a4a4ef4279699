"""Keeps what tool servers wrote to stderr where other processes of ours find it: a file a server and owner.

Invariant: a file is at most 64 kB, whole whenever it is read, for this user alone, and gone once its owner
is: what a server wrote about a conversation must not outlive it there.
"""

import asyncio
import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sophos_desktop.core.domain.ports import ServerDirectory
from sophos_desktop.core.domain.specs import ServerState, ServerStatus
from sophos_desktop.foundation import owner_lock
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

MAXIMUM_BYTES = 64 * 1024
WRITE_SECONDS = 1.0
_ID_CHARACTERS = 36
_NAME_CHARACTERS = 40
_FILE = re.compile(rf"(?P<stem>.+)-(?P<owner>[0-9a-f-]{{{_ID_CHARACTERS}}})\.log")


@dataclass(frozen=True, slots=True)
class ServerLog:
    """How a server of a living process stands, and what it wrote last. `restart`: the id of the newest
    request to start it anew that was carried out."""

    server: str
    owner: str
    process: int
    state: ServerState
    reason: str
    since: str
    restart: str | None
    lines: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "process": self.process,
            "state": self.state.value,
            "reason": self.reason,
            "since": self.since,
            "lines": list(self.lines),
        }


class ServerLogs:
    """Lives as long as the core, on its loop, between `start` and `close`."""

    def __init__(self, folder: Path, owners_dir: Path, owner_id: str, servers: ServerDirectory) -> None:
        """`folder` is made when it is needed; `owner_id`: the lock file's id of this process."""
        self._folder = folder
        self._owners_dir = owners_dir
        self._owner_id = owner_id
        self._servers = servers
        self._written: dict[str, object] = {}
        self._restarts: dict[str, str] = {}
        self._work: asyncio.Future[None] | None = None
        self._tasks = TaskOwner(lambda error: _log.error("keeping server logs failed", exc_info=error))

    def start(self) -> None:
        """Remove what dead owners left; keep the files of this process's servers."""
        self._tasks.spawn(self._keep(), "server logs")

    def restarted(self, server: str, request: str) -> None:
        """A request to start a server anew was carried out."""
        self._restarts[server] = request

    async def of_others(self, server: str) -> Sequence[ServerLog]:
        """What other living processes keep of a server."""
        return await asyncio.to_thread(self._read_others, server)

    async def close(self) -> None:
        """Write no more, and remove this process's files."""
        await self._tasks.close()
        if self._work is not None:
            await asyncio.wait([self._work])
        for name in self._written:
            self._path(name).unlink(missing_ok=True)

    async def _keep(self) -> None:
        try:
            await self._in_thread(self._sweep)
            while self._servers.statuses():
                for status in self._servers.statuses():
                    request = self._restarts.get(status.name)
                    what = (status.state, status.reason, status.since, status.stderr_tail, request)
                    if self._written.get(status.name) != what:
                        self._written[status.name] = what
                        data = _encoded(status, self._owner_id, request)
                        await self._in_thread(partial(self._write, status.name, data))
                await asyncio.sleep(WRITE_SECONDS)
        except OSError as error:
            _log.info("what tool servers write is not kept for other processes: %s", error)

    async def _in_thread(self, work: Callable[[], None]) -> None:
        # Shielded: `close` must know when the thread is done, or it would write after the removal.
        self._work = asyncio.get_running_loop().run_in_executor(None, work)
        await asyncio.shield(self._work)

    def _write(self, name: str, data: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(name)
        # No fsync as for the user's own files: after a power cut nobody wants this.
        scratch = path.with_suffix(".part")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        scratch.replace(path)

    def _path(self, name: str) -> Path:
        return self._folder / f"{_stem(name)}-{self._owner_id}.log"

    def _sweep(self) -> None:
        for path in [*self._folder.glob("*.log"), *self._folder.glob("*.part")]:
            found = _FILE.fullmatch(path.with_suffix(".log").name)
            if found is not None and not self._is_alive(found["owner"]):
                path.unlink(missing_ok=True)

    def _is_alive(self, owner: str) -> bool:
        return owner == self._owner_id or owner_lock.is_alive(self._owners_dir, owner)

    def _read_others(self, server: str) -> list[ServerLog]:
        found = []
        for path in sorted(self._folder.glob(f"{_stem(server)}-*.log")):
            match = _FILE.fullmatch(path.name)
            if match is None or match["stem"] != _stem(server) or match["owner"] == self._owner_id:
                continue
            if not self._is_alive(match["owner"]):
                continue
            try:
                found.append(_decoded(path.read_bytes()))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # removed meanwhile, or written by another version
        return found


def _stem(server: str) -> str:
    """A server's name as a file name, the same for no other server."""
    if re.fullmatch(rf"[a-z0-9_.]{{1,{_NAME_CHARACTERS}}}", server):
        return server
    cleaned = re.sub(r"[^A-Za-z0-9_]+", "_", server)[:_NAME_CHARACTERS]
    return f"{cleaned}~{hashlib.sha256(server.encode('utf-8', 'replace')).hexdigest()[:10]}"


def _encoded(status: ServerStatus, owner: str, request: str | None) -> bytes:
    """One line of JSON about the server, then the newest lines that it wrote."""
    head = {
        "server": status.name,
        "owner": owner,
        "process": os.getpid(),
        "state": status.state.value,
        "reason": status.reason[:2000],
        "since": status.since,
        "restart": request,
    }
    first = json.dumps(head).encode() + b"\n"
    left, lines = MAXIMUM_BYTES - len(first), list[bytes]()
    for line in reversed(status.stderr_tail):
        encoded = line.encode("utf-8", "replace").replace(b"\n", b" ") + b"\n"
        left -= len(encoded)
        if left < 0:
            break
        lines.append(encoded)
    return first + b"".join(reversed(lines))


def _decoded(data: bytes) -> ServerLog:
    """Raises ValueError, KeyError or TypeError for what is no such file."""
    first, *lines = data.decode("utf-8", "replace").split("\n")
    head: Mapping[str, Any] = json.loads(first)
    return ServerLog(
        server=head["server"],
        owner=head["owner"],
        process=head["process"],
        state=ServerState(head["state"]),
        reason=head["reason"],
        since=head["since"],
        restart=head["restart"],
        lines=tuple(lines[:-1]),
    )
