"""Makes single HTTP exchanges with a tool server, and reads messages out of what comes back.

Invariant: a request goes to the configured scheme, host and port, or nowhere; redirects beyond them are
refused before anything is sent there. No body and no event grows over its bound. `on_send` is called right
before the first byte of a request is written, and not at all if that point is never reached.
"""

import re
import ssl
from asyncio import to_thread
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx
from mcp.types import RequestId

from sophos_desktop import __version__
from sophos_desktop.core.mcp_host.child_protocol import MAXIMUM_LINE_BYTES
from sophos_desktop.core.mcp_host.http_errors import (
    SESSION_LOST,
    HttpEnd,
    Refused,
    header_problem,
    server_words,
    shown_url,
    status_problem,
    url_problem,
    without_secrets,
)
from sophos_desktop.core.mcp_host.http_messages import MessageTooLarge, is_header_text
from sophos_desktop.foundation.loopback import is_loopback

JSON = "application/json"
EVENTS = "text/event-stream"
MAXIMUM_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_KEEPING_METHOD = (307, 308)
# Below the five seconds after which common servers close an idle connection: a message that is written just
# as the server closes would count as sent and lost.
_KEEP_ALIVE_SECONDS = 3.0
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OWN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "last-event-id"}
    | {"mcp-protocol-version", "mcp-session-id", "transfer-encoding"}
)
_ERROR_BODY_BYTES = 8192
_VERSION_CHARACTERS = 32


class NotPossible(Exception):
    """The configuration cannot be used, or a redirect must not be followed. `end` says why."""

    def __init__(self, end: HttpEnd) -> None:
        super().__init__(end.sentence)
        self.end = end


class HttpClient:
    """The connections to one server. Entered and left around their use, on one loop."""

    def __init__(self, url: str, headers: Mapping[str, str], connect_seconds: float) -> None:
        self._address = url
        self._headers = headers
        self._connect_seconds = connect_seconds
        self._url = httpx.URL("")
        self._client: httpx.AsyncClient | None = None

    def __repr__(self) -> str:
        return f"HttpClient({shown_url(self._address)})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be shown to nobody: values of headers, password, values of the query."""
        if url_problem(self._address) is not None:
            return tuple(self._headers.values())
        url = httpx.URL(self._address)
        in_url = (url.password, *(value for _, value in url.params.multi_items()))
        return (*self._headers.values(), *(value for value in in_url if value))

    async def start(self) -> None:
        """Make ready. Raises NotPossible for an address, a header or a proxy that cannot be used."""
        if (problem := url_problem(self._address)) is not None:
            raise NotPossible(problem)
        url = httpx.URL(self._address)
        # Not left in the URL: the library logs the URL of each request.
        self._url = url.copy_with(userinfo=b"", fragment=None)
        auth = httpx.BasicAuth(url.username, url.password) if url.userinfo else None
        is_local = is_loopback(str(url))
        try:
            self._client = httpx.AsyncClient(
                headers=self._sendable_headers(),
                auth=auth,
                verify=await _tls_context(url),
                trust_env=not is_local,
                # What a message may take is the caller's to say.
                timeout=httpx.Timeout(None, connect=self._connect_seconds),
                limits=httpx.Limits(max_connections=None, keepalive_expiry=_KEEP_ALIVE_SECONDS),
            )
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            remedy = "Check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY."
            raise NotPossible(HttpEnd("The environment's proxy cannot be used", remedy)) from error
        except OSError as error:
            remedy = "Check SSL_CERT_FILE and SSL_CERT_DIR."
            raise NotPossible(HttpEnd("The environment's certificates cannot be read", remedy)) from error

    async def close(self) -> None:
        """Close what is open."""
        if self._client is not None:
            await self._client.aclose()

    @asynccontextmanager
    async def exchange(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        on_send: Callable[[], None] | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """One request and the head of its response; the body is read, or not, inside the block.

        Follows redirects within the server's origin. Raises NotPossible for others, httpx.HTTPError, and
        what `on_send` raises.
        """
        assert self._client is not None

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            # With a proxy, CONNECT comes first, and carries nothing of the message.
            if event == "http11.send_request_headers.started" and info["request"].method != b"CONNECT":
                assert on_send is not None
                on_send()

        extensions = {} if on_send is None else {"trace": trace}
        url = self._url
        for _ in range(MAXIMUM_REDIRECTS + 1):
            request = self._client.build_request(
                method, url, headers=dict(headers), content=body, extensions=extensions
            )
            response = await self._client.send(request, stream=True, follow_redirects=False)
            try:
                if (target := _redirect_target(response)) is None:
                    yield response
                    return
            finally:
                await response.aclose()
            url = target
        raise NotPossible(HttpEnd(f"It redirects more than {MAXIMUM_REDIRECTS} times"))

    def _sendable_headers(self) -> list[tuple[bytes, bytes]]:
        sendable = {"user-agent": f"sophos-desktop/{__version__}", "accept-encoding": "identity"}
        for name, value in self._headers.items():
            # Variables are often filled from files that end with a line break.
            stripped = value.strip()
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(stripped):
                raise NotPossible(header_problem(name))
            if name.lower() not in _OWN_HEADERS:
                sendable[name.lower()] = stripped
        return [(name.encode("ascii"), value.encode("latin-1")) for name, value in sendable.items()]


async def _tls_context(url: httpx.URL) -> ssl.SSLContext:
    if url.scheme != "https":
        # Never used, and much quicker than loading the authorities.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return await to_thread(httpx.create_ssl_context, trust_env=True)


def _redirect_target(response: httpx.Response) -> httpx.URL | None:
    """Where to ask next; None if the response is no redirect. Raises NotPossible."""
    if response.status_code not in _REDIRECTS or "location" not in response.headers:
        return None
    asked = response.request.url
    try:
        target = asked.join(response.headers["location"]).copy_with(userinfo=b"", fragment=None)
    except (httpx.InvalidURL, ValueError):
        raise NotPossible(HttpEnd("It redirects to something that is no address")) from None
    if (target.scheme, target.host, target.port) != (asked.scheme, asked.host, asked.port):
        remedy = f'If you trust that address, write it into "url" in mcp.json: {shown_url(str(target))}.'
        raise NotPossible(HttpEnd("It redirects to another server, which is not followed", remedy))
    if response.request.method != "GET" and response.status_code not in _KEEPING_METHOD:
        said = f"HTTP {response.status_code} to {shown_url(str(target))}"
        remedy = f'Check "url" in mcp.json: perhaps it must be {shown_url(str(target))}.'
        raise NotPossible(HttpEnd(f"It redirects so that the message would be lost ({said})", remedy))
    return target


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """The transport's patience. All times in seconds. `attempts`: tries in a row to take up a stream again
    that brought nothing; a stream that stayed open for `lasting_seconds` brought something."""

    notify_seconds: float = 10.0
    leave_seconds: float = 2.0
    rest_seconds: float = 1.0
    first_pause_seconds: float = 0.5
    least_pause_seconds: float = 0.1
    longest_pause_seconds: float = 30.0
    lasting_seconds: float = 30.0
    attempts: int = 5
    maximum_message_bytes: int = MAXIMUM_LINE_BYTES


@dataclass(slots=True, eq=False)
class Asked:
    """One exchange on its way, or the stream of what the server says by itself (`request_id` None)."""

    request_id: RequestId | None = None
    initializes: bool = False
    is_sent: bool = False
    is_answered: bool = False
    event_id: str | None = None
    retry_seconds: float | None = None
    events: int = 0

    def pause_seconds(self, limits: HttpLimits, failures: int) -> float:
        """How long to wait before the stream is taken up again, after so many failures in a row."""
        first = limits.first_pause_seconds if self.retry_seconds is None else self.retry_seconds
        wanted = max(first, limits.least_pause_seconds) * 2**failures
        return float(min(wanted, limits.longest_pause_seconds))


@dataclass(slots=True)
class SessionHeaders:
    """What the server gave at `initialize` and wants back with every message. Lives as long as a session."""

    session_id: str | None = None
    protocol_version: str | None = None

    def learn_id(self, response: httpx.Response) -> bool:
        """Keep the id that came with the answer to `initialize`, if any; False if it is none."""
        session_id = response.headers.get("mcp-session-id") or None
        if session_id is not None and not is_header_text(session_id):
            return False
        self.session_id = session_id
        return True

    def learn_version(self, result: Mapping[str, Any]) -> None:
        """Keep the version of the protocol that the server chose."""
        version = result.get("protocolVersion")
        if isinstance(version, str) and is_header_text(version) and len(version) <= _VERSION_CHARACTERS:
            self.protocol_version = version

    def for_post(self) -> dict[str, str]:
        """The headers of a message."""
        return {"accept": f"{JSON}, {EVENTS}", "content-type": JSON, **self.for_delete()}

    def for_stream(self, event_id: str | None) -> dict[str, str]:
        """The headers that ask for a stream, from after the event on."""
        resumed = {"last-event-id": event_id} if event_id else {}
        return {"accept": EVENTS, "cache-control": "no-store", **self.for_delete(), **resumed}

    def for_delete(self) -> dict[str, str]:
        """The session's own headers."""
        headers = {"mcp-session-id": self.session_id, "mcp-protocol-version": self.protocol_version}
        return {name: value for name, value in headers.items() if value}


# What comes back.


async def check(response: httpx.Response, secrets: Sequence[str]) -> None:
    """Raises Refused for anything but success, in words without the secrets; httpx.HTTPError."""
    status = response.status_code
    if response.is_success:
        return
    request = response.request
    said = server_words(media_type(response), await head_of(response, _ERROR_BODY_BYTES))
    words = without_secrets(said, secrets)
    # 404 is the protocol's word; some servers say 400 and name the session in their text.
    if "mcp-session-id" in request.headers and (
        status == 404 or (status == 400 and "session" in words.lower())
    ):
        raise Refused(SESSION_LOST, lost=True, ends=True)
    problem = status_problem(status, str(request.url), words, token_sent=bool(secrets))
    raise Refused(problem, lost=status >= 500, ends=status in (401, 403))


def media_type(response: httpx.Response) -> str:
    """The content type without its parameters, in lower case; empty if there is none."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def body_of(response: httpx.Response, maximum_bytes: int) -> bytes:
    """The whole body. Raises MessageTooLarge, httpx.HTTPError."""
    body = bytearray()
    async with aclosing(chunks_of(response)) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > maximum_bytes:
                raise MessageTooLarge
    return bytes(body)


async def head_of(response: httpx.Response, maximum_bytes: int) -> bytes:
    """The body's beginning, for showing. Raises httpx.HTTPError."""
    head = bytearray()
    async with aclosing(chunks_of(response)) as chunks:
        async for chunk in chunks:
            head += chunk
            if len(head) >= maximum_bytes:
                break
    return bytes(head[:maximum_bytes])


def chunks_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it comes, to be closed by who leaves it early."""
    return cast(AsyncGenerator[bytes, None], response.aiter_bytes())
