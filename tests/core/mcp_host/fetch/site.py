"""A small web site on loopback, and a guard in whose eyes 127.0.0.2 is the public internet.

Invariant: only Python code can choose this guard; every request that reaches a site is written down.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

from sophos_desktop.core.mcp_host.servers.fetch_addresses import FetchGuard, FetchLimits, IPAddress

PUBLIC = "127.0.0.2"
FORBIDDEN = "127.0.0.1"


def is_pretended_public(address: IPAddress) -> bool:
    """The tests' policy."""
    return str(address) == PUBLIC


def answer(body: str | bytes = "", status: int = 200, **headers: str) -> bytes:
    """A whole response; `content_type="text/html"` becomes the header Content-Type."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def redirect(target: str) -> bytes:
    """A response that leads elsewhere."""
    return answer(status=302, location=target)


@dataclass(slots=True)
class Site:
    """A running site. `pages` maps a path to the whole response; None: its head is sent, then nothing."""

    host: str
    port: int = 0
    pages: dict[str, bytes | None] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    connections: int = 0

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [path for path, _ in self.requests]

    def url(self, path: str, host: str | None = None) -> str:
        """The address of a page, by the site's own host or by another name."""
        return f"http://{host or self.host}:{self.port}{path}"


@asynccontextmanager
async def running_site(host: str = PUBLIC, tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    """A site that answers 404 for what is not in its pages."""
    site = Site(host)
    over, idle = asyncio.Event(), asyncio.Event()
    open_writers: set[asyncio.StreamWriter] = set()
    idle.set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site.connections += 1
        open_writers.add(writer)
        idle.clear()
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ")[1]
            named = next(line for line in head.splitlines() if line.lower().startswith("host:"))
            site.requests.append((path, named.partition(":")[2].strip()))
            page = site.pages.get(path, answer(status=404))
            writer.write(b"HTTP/1.1 200 X\r\nContent-Type: text/plain\r\n\r\nbegun" if page is None else page)
            await writer.drain()
            if page is None:
                await over.wait()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # a client that has read enough
        finally:
            writer.close()
            open_writers.discard(writer)
            if not open_writers:
                idle.set()

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        over.set()
        server.close()
        await asyncio.wait_for(idle.wait(), 10)
        await server.wait_closed()


@dataclass(slots=True)
class Names:
    """A resolver that knows literals and `known`; a name with several answers gives them one by one, and
    the last one for ever."""

    known: dict[str, list[list[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The port `Resolver`."""
        self.asked.append(host)
        if host in self.known:
            answers = self.known[host]
            return answers.pop(0) if len(answers) > 1 else answers[0]
        try:
            return [str(ip_address(host))]
        except ValueError:
            raise OSError("Name or service not known") from None


def guard_for(
    names: Names, is_allowed: Callable[[IPAddress], bool] = is_pretended_public, **limits: float
) -> FetchGuard:
    """The guard of a test."""
    return FetchGuard(is_allowed, names.resolve, FetchLimits(**limits))  # type: ignore[arg-type]
