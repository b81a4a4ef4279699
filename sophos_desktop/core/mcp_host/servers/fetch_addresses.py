"""Which addresses the fetch server may talk to, and how a host name becomes such addresses.

Invariant: what `FetchGuard.addresses_of` gives was resolved once, every address of the name is public, and
the caller connects to these very addresses; one forbidden address refuses the whole name.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from itertools import zip_longest

import httpx
from mcp.shared.exceptions import McpError
from mcp.types import INVALID_PARAMS, ErrorData

IPAddress = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
AddressPolicy = Callable[[IPAddress], bool]

_TRIED_AT_MOST = 4

# The registries of special-purpose addresses (RFC 6890 and its successors), written out: what Python's own
# `is_global` says changed between patch releases.
_FORBIDDEN_IPV4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # the metadata address of one cloud, public by its number alone
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
# Only this part of IPv6 is given out to the public; within it these are special, or wrap other addresses.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_FORBIDDEN_IPV6 = tuple(
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_NAT64 = IPv6Network("64:ff9b::/96")
_ONE_NETWORK_BITS = 64


class FetchRefused(McpError):
    """The guard will not do it. Not one of httpx's errors, so that upstream passes the sentence on."""

    def __init__(self, sentence: str) -> None:
        super().__init__(ErrorData(code=INVALID_PARAMS, message=sentence))


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """How much one fetch may take. A call makes two requests (robots.txt, the page), so 60 seconds in all."""

    connect_seconds: float = 10.0
    request_seconds: float = 30.0
    body_bytes: int = 10_000_000
    redirects: int = 5
    html_characters: int = 1_000_000
    markdown_seconds: float = 40.0


def is_public(address: IPAddress) -> bool:
    """True for an address of the public internet. An IPv6 form of an IPv4 address counts as the latter."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _FORBIDDEN_IPV4)
    if address.scope_id is not None:
        return False
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in _PUBLIC_IPV6 and not any(address in network for network in _FORBIDDEN_IPV6)


def is_own(address: IPAddress) -> bool:
    """True for an address of this machine, or one in the IPv6 network of its own that needs no router:
    both are reachable from here alone, though their numbers may be public."""
    import psutil  # not needed before the first fetch, and the start is to be quick

    for addresses in psutil.net_if_addrs().values():
        for entry in addresses:
            if entry.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            own = ip_address(entry.address.partition("%")[0])
            if isinstance(own, IPv4Address) or isinstance(address, IPv4Address):
                if own == address:
                    return True
            elif int(own) >> _ONE_NETWORK_BITS == int(address) >> _ONE_NETWORK_BITS:
                return True
    return False


def may_be_read(address: IPAddress) -> bool:
    """The policy of the shipped server."""
    return is_public(address) and not is_own(address)


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """All addresses that this machine knows for a name. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


@dataclass(frozen=True, slots=True)
class FetchGuard:
    """What is allowed, by whose word, and how much. Only Python code can choose another than the default."""

    is_allowed: AddressPolicy = may_be_read
    resolve: Resolver = system_resolver
    limits: FetchLimits = field(default_factory=FetchLimits)

    async def addresses_of(self, url: httpx.URL) -> Sequence[IPAddress]:
        """The addresses to connect to for this URL, in the order to try them, four at most.

        Raises FetchRefused for anything but a public http or https page, httpx.ConnectError if the name
        is not known.
        """
        if url.scheme not in ("http", "https"):
            raise FetchRefused(f'fetch only reads http and https pages, and "{url}" is none')
        host = url.raw_host.decode("ascii")
        name = host.rstrip(".").lower()
        if not name:
            raise FetchRefused(f'fetch needs the name of a host, and "{url}" has none')
        if name == "localhost" or name.endswith(".localhost"):
            raise _not_public(name, name)
        try:
            texts = await self.resolve(host, url.port or (443 if url.scheme == "https" else 80))
        except (OSError, UnicodeError) as error:  # UnicodeError: a label that is empty or too long
            raise httpx.ConnectError(f"the name {host} cannot be resolved: {error}") from error
        addresses = [ip_address(text) for text in dict.fromkeys(texts)]
        for address in addresses:
            if not self.is_allowed(address):
                raise _not_public(str(address), name)
        if not addresses:
            raise httpx.ConnectError(f"the name {host} has no address")
        return _alternating(addresses)[:_TRIED_AT_MOST]


def _not_public(address: str, name: str) -> FetchRefused:
    whose = "" if address == name else f" of {name}"
    return FetchRefused(
        f"The address {address}{whose} is on this machine or its network; fetch only reads public pages"
    )


def _alternating(addresses: Sequence[IPAddress]) -> list[IPAddress]:
    """The resolver's order, but the two families in turn: one that is cut off costs one attempt."""
    first = [address for address in addresses if address.version == addresses[0].version]
    other = [address for address in addresses if address.version != addresses[0].version]
    pairs = zip_longest(first, other)
    return [address for pair in pairs for address in pair if address is not None]
