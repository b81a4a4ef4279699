"""Says in plain words why a tool server at a URL cannot be used, and what to do about it.

Invariant: nothing made here holds a header's value, a password or the query of a URL. Each text says whether
trying again by itself makes sense, so that nobody knocks for ever where only a person can help.
"""

import json
import re
import socket
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
from mcp.types import ErrorData

_SHOWN_CHARACTERS = 200
_SECRET_CHARACTERS = 8
_TOKEN = (
    'Put a token into "headers" of its entry in mcp.json, such as "Authorization": "Bearer ${NAME}",'
    " and set NAME in the environment."
)
_ADDRESS = (
    'Check "url" in mcp.json: it must be the address of the tool server itself, which often ends in /mcp.'
)
_TAKES_NO_MESSAGES = (405, 406, 410, 415)
_TRANSIENT = (408, 425, 429)
# Raised before anything of a message was written.
_UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)


@dataclass(frozen=True, slots=True)
class HttpEnd:
    """Why a connection, or one exchange of it, ended. `sentence` has no full stop, `remedy` may be empty;
    `again`: trying again by itself makes sense."""

    sentence: str
    remedy: str = ""
    again: bool = False

    @property
    def words(self) -> str:
        """Sentence and remedy in one, without a full stop at the end."""
        return f"{self.sentence}. {self.remedy.removesuffix('.')}" if self.remedy else self.sentence


SESSION_LOST = HttpEnd("It no longer knows the session", again=True)
BROKEN = HttpEnd("The connection to it broke before it had answered", again=True)
TOO_LARGE = HttpEnd("It sent a message that is too large")
UNREADABLE = HttpEnd("It answered with something that is no message of the protocol", _ADDRESS)
NO_ANSWER = HttpEnd("It ended its response without an answer")


class Refused(Exception):
    """The server will not do what it was asked. `lost`: it may have done it all the same; `ends`: nothing
    more can come of the session."""

    def __init__(self, end: HttpEnd, *, lost: bool = False, ends: bool = False) -> None:
        super().__init__(end.sentence)
        self.end = end
        self.lost = lost
        self.ends = ends


@dataclass(frozen=True, slots=True)
class ExchangeLost:
    """Stands in the `data` of an error that the transport made: the request was sent, and what became of it
    is unknown. No server can send one: what comes over the wire is JSON."""

    words: str


def lost_words(error: ErrorData) -> str | None:
    """Why the answer will not come, if this is the transport's word for that; None for a server's error."""
    return error.data.words if isinstance(error.data, ExchangeLost) else None


def shown_url(url: str) -> str:
    """The URL as it may be shown: without user name, password, query and fragment."""
    try:
        return str(httpx.URL(url).copy_with(userinfo=b"", query=None, fragment=None))
    except (httpx.InvalidURL, ValueError):
        return "its address"


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text with each secret blotted out: a server may repeat what it was sent."""
    for secret in sorted(secrets, key=len, reverse=True):
        for part in {secret, secret.rpartition(" ")[2]}:
            if len(part) >= _SECRET_CHARACTERS:
                text = text.replace(part, "[hidden]")
    return text


def server_words(content_type: str, body: bytes) -> str:
    """What the server itself says in the body of an error, in one line; empty if nothing usable."""
    text = body.decode("utf-8", "replace")
    if "json" in content_type:
        try:
            text = _message_in(json.loads(text))
        except (ValueError, RecursionError):
            return ""
    elif content_type != "text/plain":
        return ""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return re.sub(r" +", " ", printable).strip().rstrip(".")[:_SHOWN_CHARACTERS]


def status_problem(status: int, url: str, words: str, *, token_sent: bool) -> HttpEnd:
    """An HTTP status that is no success and no redirect; `words` are the server's own."""
    said = f"HTTP {status}: {words}" if words else f"HTTP {status}"
    if status == 401:
        sentence = "It does not accept the token that it got" if token_sent else "It wants a token"
        return HttpEnd(f"{sentence} ({said})", _TOKEN)
    if status == 403:
        remedy = (
            'See whether the token in "headers" of its entry in mcp.json may do this' if token_sent else ""
        )
        return HttpEnd(f"It forbids the access ({said})", f"{remedy}." if remedy else _TOKEN)
    if status == 404:
        return HttpEnd(f"There is no tool server at {shown_url(url)} ({said})", _ADDRESS)
    if status in _TAKES_NO_MESSAGES:
        remedy = f"{_ADDRESS} Servers that only speak the older HTTP+SSE transport cannot be used."
        return HttpEnd(f"It takes no messages at {shown_url(url)} ({said})", remedy)
    if status == 407:
        return HttpEnd(f"The proxy wants a sign-in ({said})", "Check the proxy settings of the environment.")
    if status == 429:
        return HttpEnd(f"It has been asked too often ({said})", again=True)
    if status >= 500:
        return HttpEnd(f"It failed ({said})", again=True)
    return HttpEnd(f"It refused the message ({said})", again=status in _TRANSIENT)


def content_problem(content_type: str) -> HttpEnd:
    """A success whose body is no message."""
    if "html" in content_type:
        return HttpEnd("It answered with a web page, not with a message of the protocol", _ADDRESS)
    what = f"({content_type[:_SHOWN_CHARACTERS]})" if content_type else "without a content type"
    return HttpEnd(f"It answered with something that is no message of the protocol {what}", _ADDRESS)


def is_unreached(error: httpx.HTTPError | httpx.InvalidURL) -> bool:
    """True if the error came before a connection stood, so that nothing was written."""
    return isinstance(error, (*_UNREACHED, httpx.InvalidURL))


def connection_problem(
    error: httpx.HTTPError | httpx.InvalidURL, url: str, connect_seconds: float
) -> HttpEnd:
    """A connection that could not be made, or that broke."""
    if not is_unreached(error):
        return BROKEN
    place = _place(url)
    if isinstance(error, httpx.ConnectTimeout):
        return HttpEnd(f"{place} did not take a connection within {connect_seconds:g} seconds", again=True)
    if isinstance(error, httpx.ProxyError):
        remedy = "Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY in the environment."
        return HttpEnd(f"The proxy did not connect to {place}", remedy, again=True)
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return _tls_problem(cause, place)
        if isinstance(cause, socket.gaierror):
            remedy = 'Check "url" in mcp.json, and whether this computer is online.'
            return HttpEnd(f"The name of {place} cannot be found", remedy, again=True)
    remedy = 'See whether the server is running, and check "url" in mcp.json.'
    return HttpEnd(f"Nobody answers at {place}", remedy, again=True)


def url_problem(url: str) -> HttpEnd | None:
    """What is wrong with a URL before anybody is asked; None if it can be used."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = httpx.URL("")
    if parsed.scheme in ("http", "https") and parsed.host:
        return None
    return HttpEnd(
        'Its "url" is no address that begins with http:// or https://', 'Correct "url" in mcp.json.'
    )


def header_problem(name: str) -> HttpEnd:
    """A header that cannot be sent. Its value is not said."""
    shown = name.encode("ascii", "replace").decode()[:_SHOWN_CHARACTERS]
    remedy = 'Correct it in "headers" of its entry in mcp.json, or in the variable that it is filled from.'
    return HttpEnd(f'The header "{shown}" has characters that cannot be sent', remedy)


def _tls_problem(error: ssl.SSLError, place: str) -> HttpEnd:
    if isinstance(error, ssl.SSLCertVerificationError):
        remedy = (
            "If the certificate is your own authority's, name the authority's file in SSL_CERT_FILE."
            " Do not trust it otherwise."
        )
        return HttpEnd(f"The certificate of {place} is not accepted: {error.verify_message}", remedy)
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        remedy = 'If it is a plain HTTP server, write http:// in "url" of its entry in mcp.json.'
        return HttpEnd(f"{place} does not speak TLS", remedy)
    return HttpEnd(
        f"No secure connection to {place} could be made ({error.reason or 'TLS failed'})", again=True
    )


def _place(url: str) -> str:
    parsed = httpx.URL(url)
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    return f"{host}:{parsed.port}" if parsed.port is not None else host


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        current = left.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        left += [current.__context__, current.__cause__]
        if isinstance(current, BaseExceptionGroup):
            left += current.exceptions


def _message_in(value: Any) -> str:
    """The text of an error: JSON-RPC's, or one of the usual places."""
    for _ in range(3):
        if not isinstance(value, dict):
            break
        value = next((value[key] for key in ("error", "message", "detail", "title") if value.get(key)), "")
    return value if isinstance(value, str) else ""
