"""Owns `memory.jsonl`: reads it, changes it, and shares it with other processes.

Invariant: whoever reads sees a whole file, also after a kill or a power cut; a change is read, made and
written under one lock, so that of two processes neither undoes the other's; what another program wrote is
seen at the next call.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sophos_desktop.core.mcp_host.servers.memory.graph import Graph
from sophos_desktop.core.mcp_host.servers.memory.lines import Known, read_lines, write_lines

_ON_WINDOWS = os.name == "nt"
_PLATFORM_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.005
Result = TypeVar("Result")


class FileIsBusy(Exception):
    """Another process keeps the file locked. The message is a sentence."""


class GraphFile:
    """One file. Lives as long as its server, and is used by one thread."""

    def __init__(self, path: str) -> None:
        """Neither the file nor its folder must exist."""
        self.path = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - pathlib costs start-up time
        self._data: bytes | None = None
        self._graph = Graph()
        self._known: Known = {}

    def read(self) -> Graph:
        """The graph as it is in the file now. Raises OSError, and FileIsBusy on Windows."""
        if not _ON_WINDOWS:
            return self._read()
        with self._locked():  # there, a file that is being read cannot be replaced
            return self._read()

    def change(self, change: Callable[[Graph], tuple[Graph, Result]]) -> tuple[Graph, Result]:
        """Put the graph that `change` makes of the current one into the file; both it and the result come
        back. What `change` raises leaves the file as it is. Raises OSError and FileIsBusy."""
        with self._locked():
            graph, result = change(self._read())
            data, graph, known = write_lines(graph)
            if data != self._data:
                self._replace(data)
            self._data, self._graph, self._known = data, graph, known
            return graph, result

    def _read(self) -> Graph:
        # The bytes are compared, not times and sizes: an edit within the clock's grain counts too, and
        # reading costs next to nothing beside parsing.
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123 - as above
                data = file.read()
        except FileNotFoundError:
            self._data, self._graph, self._known = None, Graph(), {}
            return self._graph
        if data != self._data:
            self._graph, self._known = read_lines(data, self._known)
            self._data = data
        return self._graph

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # here, because it takes longer to load than all the rest

        path = os.path.realpath(self.path)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - as above
        lock = FileLock(
            f"{path}.lock",
            mode=0o600,
            thread_local=False,
            fallback_to_soft=False,
            preserve_lock_file=True,
        )
        try:
            lock.acquire(timeout=_LOCK_SECONDS, poll_interval=_POLL_SECONDS)
        except Timeout:
            raise FileIsBusy("Another program keeps the memory file locked. Nothing was changed.") from None
        try:
            yield
        finally:
            lock.release()

    def _replace(self, data: bytes) -> None:
        """Write beside the file, sync, take its place. A link stays one, and a file keeps its permissions.

        Not `foundation.atomic_file`: under the lock there is one writer, so the name beside the file can be
        always the same, and what a kill left there goes with the next write.
        """
        target = os.path.realpath(self.path)
        temporary = f"{target}.tmp"
        try:
            mode = os.stat(target).st_mode & 0o777  # noqa: PTH116 - as above
        except FileNotFoundError:
            mode = 0o600
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _PLATFORM_FLAGS
        try:
            with open(os.open(temporary, flags, 0o600), "wb") as file:  # noqa: PTH123 - as above
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, mode)  # noqa: PTH101 - as above
            os.replace(temporary, target)  # noqa: PTH105 - as above
        except BaseException:
            try:
                os.unlink(temporary)  # noqa: PTH108 - as above
            except OSError:
                pass  # the first error is the one to tell
            raise
        if not _ON_WINDOWS:  # a folder cannot be opened there, and a replace needs no more
            folder = os.open(os.path.dirname(target), os.O_RDONLY)  # noqa: PTH120 - as above
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
