"""What a server task holds on to: a child process or an address, behind one shape.

Invariant: a connection that was made is closed by `close`, which is bounded and leaves nothing; why it
ended is a sentence, with whether another try by itself makes sense.
"""

import asyncio
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.mcp_host.child import ChildCommand, ServerChild
from sophos_desktop.core.mcp_host.command import ChildNotStarted, child_environment
from sophos_desktop.core.mcp_host.config import ServerConfig
from sophos_desktop.core.mcp_host.known_endings import meaning
from sophos_desktop.core.mcp_host.limits import Surroundings
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage

_LAST_STATUS_SECONDS = 0.5


class Transport(Protocol):
    """The two streams of a session; entered and left around it, in one task."""

    read_stream: "MemoryObjectReceiveStream[SessionMessage | Exception]"
    write_stream: "MemoryObjectSendStream[SessionMessage]"
    ended: asyncio.Event

    async def __aenter__(self) -> Self:
        """Begin to carry messages."""

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Carry none any more; nothing of it is left."""

    def post(self, message: "JSONRPCMessage") -> None:
        """Send a message that needs no answer, without waiting."""


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """Whose session it is. `fingerprint` is that of the server as it is configured."""

    name: str
    trusted: bool = False
    fingerprint: str = ""

    @classmethod
    def of(cls, config: ServerConfig) -> "ServerIdentity":
        """The identity of a configured server."""
        return cls(config.name, trusted=config.trusted or config.built_in, fingerprint=config.fingerprint)


@dataclass(frozen=True, slots=True)
class ConnectionEnd:
    """Why a connection ended, or was not made: a sentence without its full stop. `again`: another try by
    itself makes sense."""

    reason: str
    again: bool


class NotConnected(Exception):
    """The connection could not be made."""

    def __init__(self, end: ConnectionEnd) -> None:
        super().__init__(end.reason)
        self.end = end


class Connection(Protocol):
    """One child process or one address, from `connect` to `close`."""

    @property
    def pid(self) -> int | None:
        """The process, if it is one."""

    def transport(self) -> Transport:
        """What carries the messages of the one session over it."""

    async def end(self, *, served: bool) -> ConnectionEnd:
        """Why the session ended. `served`: it had been ready."""

    async def close(self) -> None:
        """End it; bounded, and finished also if the caller is cancelled."""


async def connect(config: ServerConfig, surroundings: Surroundings, tail: StderrTail) -> Connection:
    """Start the process, or prepare to talk to the address. Raises NotConnected."""
    if config.command is None:
        return _HttpConnection(config, tail)
    environment = child_environment(surroundings.environ, config.env)
    command = ChildCommand(f"mcp:{config.name}", config.command, config.args, environment, config.cwd)
    try:
        child = await ServerChild.start(
            command, records=surroundings.records, tail=tail, limits=surroundings.limits.close
        )
    except ChildNotStarted as error:
        raise NotConnected(ConnectionEnd(f"It cannot be started: {error}", again=False)) from error
    except SophosError as error:
        end = ConnectionEnd(f"It cannot be put on record: {error.title}", again=True)
        raise NotConnected(end) from error
    return _ChildConnection(child, tail)


class _ChildConnection:
    """A child process and its pipes."""

    def __init__(self, child: ServerChild, tail: StderrTail) -> None:
        self._child = child
        self._tail = tail

    @property
    def pid(self) -> int | None:
        return self._child.pid

    def transport(self) -> Transport:
        from sophos_desktop.core.mcp_host.stdio_transport import StdioTransport

        return StdioTransport(self._child, self._tail)

    async def end(self, *, served: bool) -> ConnectionEnd:
        await self._child.wait_exited(_LAST_STATUS_SECONDS)
        status = self._child.returncode
        if status is None:
            how = "It closed its output"
        elif status < 0:
            how = f"It was ended by signal {-status}"
        else:
            how = f"It ended with exit status {status}"
        words = meaning(self._tail.lines()) or self._tail.last_words()
        when = "" if served else " before it was ready"
        return ConnectionEnd(f"{how}{when} ({words})" if words else how + when, again=True)

    async def close(self) -> None:
        await self._child.close()
        self._tail.end()


class _HttpConnection:
    """An address. What it holds open is the transport's alone."""

    pid: int | None = None

    def __init__(self, config: ServerConfig, tail: StderrTail) -> None:
        from sophos_desktop.core.mcp_host.http_transport import HttpTransport

        assert config.url is not None
        self._transport = HttpTransport(config.url, config.headers, note=tail.note)

    def transport(self) -> Transport:
        return self._transport

    async def end(self, *, served: bool) -> ConnectionEnd:
        end = self._transport.end_words()
        if end is None:
            return ConnectionEnd("The connection to it ended", again=True)
        return ConnectionEnd(end.words, again=end.again)

    async def close(self) -> None:
        """Left with the transport already."""
