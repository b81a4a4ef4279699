"""Talks to a memory server, ours or the reference, in raw lines."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.node_packages import server_command

PROJECT = Path(__file__).parents[4]
OURS = (sys.executable, "-m", "sophos_desktop.core.mcp_host.servers.memory")
Json = dict[str, Any]


class Wire:
    """A running server. One request at a time; made by `serving`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._number = 0

    @property
    def stdin(self) -> Any:
        """The pipe to it."""
        return self.process.stdin

    def send(self, line: bytes) -> None:
        """Write one line."""
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def ask(self, method: str, params: object = None) -> None:
        """Send a request and do not wait."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method}
        # Halves of surrogate pairs can only be sent escaped.
        self.send(json.dumps(message if params is None else message | {"params": params}).encode())

    def answer(self) -> Json:
        """The next message. Fails if the server has ended."""
        line = self.process.stdout.readline() if self.process.stdout else b""
        assert line.endswith(b"\n"), "the server ended without an answer"
        message: Json = json.loads(line)
        return message

    def request(self, method: str, params: object = None) -> Json:
        """Send a request and give the answer."""
        self.ask(method, params)
        return self.answer()

    def call(self, tool: str, **arguments: Any) -> Json:
        """Call a tool; the result."""
        result: Json = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def close(self) -> str:
        """End it by closing stdin; what it said on stderr."""
        _, said = self.process.communicate(timeout=20)
        assert self.process.returncode == 0
        return said.decode()


@contextmanager
def serving(command: tuple[str, ...], file: Path) -> Iterator[Wire]:
    """A server on a file; ended with the block, whatever happens."""
    environ = {**os.environ, "MEMORY_FILE_PATH": str(file)}
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        cwd=PROJECT,
    )
    with process:
        try:
            yield Wire(process)
        finally:
            process.kill()


def reference_command() -> tuple[str, ...]:
    """The pinned reference server."""
    return server_command("server-memory")


def entity(name: str, *observations: str, kind: str = "thing") -> Mapping[str, Any]:
    """An entity as `create_entities` takes it."""
    return {"name": name, "entityType": kind, "observations": list(observations)}


def names(result: Json) -> list[str]:
    """The names of the entities in a result."""
    return [item["name"] for item in result["structuredContent"]["entities"]]
