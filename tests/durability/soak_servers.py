"""The five servers of the soak: how each is configured, which calls it gets, and what it kept of them.

Invariant: a call that writes leaves a mark of its own, made of the call's number, on the disk: a witness
that neither the host nor the server's answers can sway.
"""

import asyncio
import json
import random
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sophos_desktop.core.mcp_host.config import ServerConfig
from tests.core.mcp_host.harness import PATIENCE_SECONDS, PROJECT, scripted
from tests.support.node_packages import node_is_here, server_command

CANCELLED_SHARE = 0.08
CALL_SECONDS = 15.0
SLOW_CALL_SECONDS = 2.0
"""The time-out of the slow server: above its slow answers, below those that are to time out."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call to make; `mark` is what it leaves on the disk, if it leaves anything."""

    tool: str
    arguments: Mapping[str, Any]
    mark: str | None = None


class SoakServer(ABC):
    """A server and its part in the soak. `killed`: it is one of those that are killed at random."""

    name: str
    killed: bool = False
    goes_by_itself: bool = False
    """True where the server may go away without having been killed, and has to come back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / self.name
        self.folder.mkdir()

    @property
    @abstractmethod
    def config(self) -> ServerConfig:
        """Its entry."""

    @abstractmethod
    def request(self, chance: random.Random, number: int) -> Request:
        """The call with this number."""

    @abstractmethod
    def marks(self) -> Counter[str]:
        """What is on the disk."""


class Lines(SoakServer):
    """Appends lines to a file; killed."""

    name = "lines"
    killed = True

    @property
    def config(self) -> ServerConfig:
        return scripted(self.name, "append_line", timeout_seconds=CALL_SECONDS)

    @property
    def file(self) -> str:
        """Where the lines go."""
        return str(self.folder / "lines.txt")

    def request(self, chance: random.Random, number: int) -> Request:
        if chance.random() < 0.05:
            return Request("append_line", {"file": self.file, "text": number})  # does not fit the schema
        mark = f"call {number}"
        arguments = {"file": self.file, "text": mark}
        if self.killed and chance.random() < 0.3:  # so that kills find calls under way
            return Request("slow_append", {**arguments, "seconds": chance.uniform(0.05, 0.3)}, mark)
        return Request("append_line", arguments, mark)

    def marks(self) -> Counter[str]:
        file = Path(self.file)
        return Counter(file.read_text(encoding="utf-8").splitlines() if file.exists() else [])


class SecondLines(Lines):
    """The same once more, for what is not there to be talked to; never killed."""

    killed = False

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        super().__init__(folder)


class Remote(Lines):
    """The same over HTTP; the host has no process of it that could be killed.

    It forgets its session now and then when a caller hangs up, which the server of mcp 1.30 does not bear."""

    name = "remote"
    killed = False
    goes_by_itself = True

    def __init__(self, folder: Path, url: str) -> None:
        self._url = url
        super().__init__(folder)

    @property
    def config(self) -> ServerConfig:
        return ServerConfig(self.name, url=self._url, timeout_seconds=CALL_SECONDS)


@asynccontextmanager
async def remote_url() -> AsyncIterator[str]:
    """The address of a server over HTTP, which is ended with the block."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.mcp_servers.lines_over_http",
        cwd=PROJECT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        said = await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS)
        yield said.decode().strip()
    finally:
        process.terminate()
        await process.communicate()


class SlowLines(Lines):
    """Takes its time, and for some calls more than the time-out allows."""

    name = "slow"
    killed = False

    @property
    def config(self) -> ServerConfig:
        return scripted(self.name, "append_line", timeout_seconds=SLOW_CALL_SECONDS)

    def request(self, chance: random.Random, number: int) -> Request:
        mark = f"call {number}"
        seconds = SLOW_CALL_SECONDS * 2 if chance.random() < 0.1 else chance.uniform(0.05, 0.6)
        return Request("slow_append", {"file": self.file, "text": mark, "seconds": seconds}, mark)


class Memory(SoakServer):
    """The built-in memory server; killed, in the middle of writing its file if chance has it so."""

    name = "memory"
    killed = True

    @property
    def config(self) -> ServerConfig:
        return ServerConfig(
            self.name,
            command=sys.executable,
            args=("-m", "sophos_desktop.core.mcp_host.servers.memory"),
            env={"MEMORY_FILE_PATH": str(self._file)},
            cwd=str(PROJECT),
            timeout_seconds=CALL_SECONDS,
        )

    @property
    def _file(self) -> Path:
        return self.folder / "memory.jsonl"

    def request(self, chance: random.Random, number: int) -> Request:
        drawn = chance.random()
        if drawn < 0.2:
            return Request("search_nodes", {"query": f"call {number // 2}"})
        if drawn < 0.3:
            missing = {"entityName": "nobody", "contents": ["nothing"]}
            return Request("add_observations", {"observations": [missing]})
        mark = f"call {number}"
        entity = {"name": mark, "entityType": "call", "observations": ["made", "in the soak"]}
        return Request("create_entities", {"entities": [entity]}, mark)

    def marks(self) -> Counter[str]:
        if not self._file.exists():
            return Counter()
        lines = map(json.loads, self._file.read_text(encoding="utf-8").splitlines())
        return Counter(line["name"] for line in lines)


class Files(SoakServer):
    """The filesystem server from npm."""

    name = "files"

    @property
    def config(self) -> ServerConfig:
        command, *arguments = server_command("server-filesystem", str(self.folder))
        return ServerConfig(self.name, command=command, args=tuple(arguments), timeout_seconds=CALL_SECONDS)

    def request(self, chance: random.Random, number: int) -> Request:
        drawn = chance.random()
        if drawn < 0.1:
            return Request("read_text_file", {"path": str(self.folder.parent / "outside.txt")})
        if drawn < 0.3:
            return Request("list_directory", {"path": str(self.folder)})
        mark = f"call {number}"
        path = str(self.folder / f"{mark}.txt")
        return Request("write_file", {"path": path, "content": f"{mark}\n" * 20}, mark)

    def marks(self) -> Counter[str]:
        return Counter(file.stem for file in self.folder.glob("*.txt"))


@dataclass(frozen=True, slots=True)
class Planned:
    """A call with its place in the soak. `cancel_after_seconds`: who asked stops waiting then."""

    number: int
    server: SoakServer
    request: Request
    cancel_after_seconds: float | None


def draw(servers: Sequence[SoakServer], calls: int, chance: random.Random) -> list[Planned]:
    """All calls, by chance alone."""
    planned = []
    for number in range(calls):
        server = chance.choice(servers)
        request = server.request(chance, number)
        cancelled = chance.random() < CANCELLED_SHARE
        planned.append(Planned(number, server, request, chance.uniform(0, 0.03) if cancelled else None))
    return planned


def five_servers(folder: Path, url: str) -> list[SoakServer]:
    """The servers, on their own folders below `folder`; `url` is that of the one over HTTP."""
    files = Files(folder) if node_is_here() else SecondLines(folder, "files")
    return [Memory(folder), Lines(folder), files, SlowLines(folder), Remote(folder, url)]
