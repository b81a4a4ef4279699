"""The network guard: no test reaches beyond this machine.

Invariant: while it is on, connecting or sending to anything but loopback and looking up anything but this
machine's names fails like a network that is down, and the test fails for having tried. Names below `.invalid`
may be looked up: they are not found. Child processes are out of its reach.
"""

import errno
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_REAL_CONNECT = socket.socket.connect
_REAL_CONNECT_EX = socket.socket.connect_ex
_REAL_SENDTO = socket.socket.sendto
_REAL_GETADDRINFO = socket.getaddrinfo
_OWN_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})


def is_loopback(host: str | bytes | None) -> bool:
    """True for this machine's names, loopback addresses and the wildcard addresses."""
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name.lower() in _OWN_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or address.is_unspecified or bool(mapped and mapped.is_loopback)


@contextmanager
def network_forbidden(tried: list[str]) -> Iterator[None]:
    """Refuse the network beyond loopback; each try is added to `tried`."""

    def refuse(what: str) -> OSError:
        tried.append(f"tried to reach the network: {what}")
        return OSError(errno.ENETUNREACH, f"the tests' network guard refuses {what}")

    def check(connection: socket.socket, address: Any, what: str) -> None:
        if connection.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
            raise refuse(f"{what} {address[0]}:{address[1]}")

    def connect(self: socket.socket, address: Any) -> None:
        check(self, address, "connect to")
        _REAL_CONNECT(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        check(self, address, "connect to")
        return _REAL_CONNECT_EX(self, address)

    def sendto(self: socket.socket, *args: Any) -> int:
        check(self, args[-1], "send to")
        return _REAL_SENDTO(self, *args)

    def getaddrinfo(host: str | bytes | None, *args: Any, **kwargs: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        if name is not None and name.rstrip(".").lower().endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if not is_loopback(host):
            raise refuse(f"look up {name}")
        return _REAL_GETADDRINFO(host, *args, **kwargs)

    socket.socket.connect = connect  # type: ignore[assignment, method-assign]
    socket.socket.connect_ex = connect_ex  # type: ignore[assignment, method-assign]
    socket.socket.sendto = sendto  # type: ignore[assignment, method-assign]
    socket.getaddrinfo = getaddrinfo
    try:
        yield
    finally:
        socket.socket.connect = _REAL_CONNECT  # type: ignore[method-assign]
        socket.socket.connect_ex = _REAL_CONNECT_EX  # type: ignore[method-assign]
        socket.socket.sendto = _REAL_SENDTO  # type: ignore[method-assign]
        socket.getaddrinfo = _REAL_GETADDRINFO
