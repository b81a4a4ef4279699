"""The only way out of the fetch server: an httpx transport that asks the guard before each connection.

Invariant: no connection without addresses that the guard has just given, to those addresses and no others,
redirects included; a response is bounded in time and, unpacked, in size.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextvars import ContextVar
from urllib.request import (  # type: ignore[attr-defined]  # the second one is not in the stubs
    getproxies_environment,
    proxy_bypass_environment,
)

import httpx

from sophos_desktop.core.mcp_host.servers.fetch_addresses import (
    FetchGuard,
    FetchLimits,
    FetchRefused,
    IPAddress,
)

REMARKS: ContextVar[list[str] | None] = ContextVar("REMARKS", default=None)
"""What the model is to be told about the page that is being read, if somebody listens."""

_UNPACKED_BY_US = frozenset({"content-encoding", "content-length"})


class GuardedTransport(httpx.AsyncBaseTransport):
    """Makes the requests of one client, which is one page with its redirects. One event loop."""

    def __init__(self, guard: FetchGuard, proxy: str | None) -> None:
        """`proxy` is the URL the user gave; without one, the usual variables of the environment count: the
        tool host passes on none but those that the server's own entry names."""
        self._guard = guard
        self._proxy = proxy
        self._ways: dict[str | None, httpx.AsyncHTTPTransport] = {}
        self._asked: httpx.URL | None = None
        self._deadline: float | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises FetchRefused, or an error of httpx's if the other side is at fault."""
        self._asked = self._asked or request.url
        self._deadline = self._deadline or (
            asyncio.get_running_loop().time() + self._guard.limits.request_seconds
        )
        try:
            async with asyncio.timeout_at(self._deadline):
                addresses = await self._allowed_addresses(request.url)
                response = await self._send(request, addresses)
        except TimeoutError as error:
            raise _too_slow(request.url, self._guard.limits) from error
        try:
            stream = _BoundedStream(response, request.url, self._guard.limits, self._deadline)
        except FetchRefused:
            await response.aclose()
            raise
        headers = [(name, value) for name, value in response.headers.raw if not _describes_packing(name)]
        return httpx.Response(
            response.status_code, headers=headers, stream=stream, extensions=response.extensions
        )

    async def aclose(self) -> None:
        """Close what is open."""
        for way in self._ways.values():
            await way.aclose()

    async def _allowed_addresses(self, url: httpx.URL) -> list[IPAddress]:
        try:
            return list(await self._guard.addresses_of(url))
        except FetchRefused as refusal:
            if url == self._asked:
                raise
            raise FetchRefused(f"{refusal} ({self._asked} redirects to {url})") from None

    async def _send(self, request: httpx.Request, addresses: list[IPAddress]) -> httpx.Response:
        proxy = self._proxy or proxy_of_the_user(request.url)
        if proxy is not None:
            return await self._way(proxy).handle_async_request(request)  # the proxy resolves the name
        last_error: httpx.HTTPError | None = None
        for address in addresses:
            try:
                return await self._way(None).handle_async_request(
                    _to_address(request, address, self._guard.limits.connect_seconds / len(addresses))
                )
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                last_error = error
        assert last_error is not None, "the guard gives one address at least"
        raise last_error

    def _way(self, proxy: str | None) -> httpx.AsyncHTTPTransport:
        if proxy not in self._ways:
            # No connection is kept: two names may share an address, and the second one's certificate
            # would not be looked at.
            limits = httpx.Limits(max_keepalive_connections=0)
            self._ways[proxy] = httpx.AsyncHTTPTransport(proxy=proxy, limits=limits)
        return self._ways[proxy]


def proxy_of_the_user(url: httpx.URL) -> str | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names, unless NO_PROXY has the host."""
    proxies = getproxies_environment()
    if proxy_bypass_environment(url.host, proxies):
        return None
    return proxies.get(url.scheme) or proxies.get("all") or None


def _to_address(request: httpx.Request, address: IPAddress, connect_seconds: float) -> httpx.Request:
    """The same request to one address: the Host header, the name in TLS and the certificate's name stay."""
    timeout: Mapping[str, float | None] = request.extensions.get("timeout", {})
    extensions = {
        **request.extensions,
        "sni_hostname": request.url.raw_host.decode("ascii").rstrip("."),
        "timeout": {**timeout, "connect": connect_seconds},
    }
    url = request.url.copy_with(host=str(address))
    return httpx.Request(
        request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
    )


class _BoundedStream(httpx.AsyncByteStream):
    """A body, unpacked here: httpx would unpack one piece without bound. Ends at the limit, with a remark."""

    def __init__(
        self, response: httpx.Response, url: httpx.URL, limits: FetchLimits, deadline: float
    ) -> None:
        """Raises FetchRefused if the body is packed in a way that was not asked for."""
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("", "identity", "gzip", "x-gzip"):
            raise FetchRefused(f'{url} came packed as "{packing}", which fetch cannot read')
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing.endswith("gzip") else None
        self._stream = response.stream
        self._url = url
        self._limits = limits
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._stream, httpx.AsyncByteStream)
        pieces = aiter(self._stream)
        room = packed_room = self._limits.body_bytes
        try:
            while (packed := await self._next(pieces)) is not None:
                piece = self._unpacked(packed, room)
                packed_room -= len(packed)
                yield piece[:room]
                if len(piece) > room or packed_room < 0:
                    self._remark_cut()
                    return
                room -= len(piece)
        finally:
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()

    async def aclose(self) -> None:
        assert isinstance(self._stream, httpx.AsyncByteStream)
        await self._stream.aclose()

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        try:
            async with asyncio.timeout_at(self._deadline):
                return await anext(pieces, None)
        except TimeoutError as error:
            raise _too_slow(self._url, self._limits) from error

    def _unpacked(self, packed: bytes, room: int) -> bytes:
        """At most one byte more than there is room for."""
        if self._unpacker is None:
            return packed
        try:
            return self._unpacker.decompress(packed, room + 1)
        except zlib.error as error:
            raise httpx.DecodingError(f"the body is not what its header says: {error}") from error

    def _remark_cut(self) -> None:
        remarks = REMARKS.get()
        if remarks is not None:
            size = f"{self._limits.body_bytes / 1_000_000:g} MB"
            remarks.append(f"This page is larger than {size}; only its first {size} were read.")


def _describes_packing(name: bytes) -> bool:
    return name.decode("latin-1").lower() in _UNPACKED_BY_US


def _too_slow(url: httpx.URL, limits: FetchLimits) -> FetchRefused:
    return FetchRefused(f"{url} did not answer completely within {limits.request_seconds:g} seconds")
