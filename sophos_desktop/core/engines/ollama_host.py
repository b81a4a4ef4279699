"""Reads an address of Ollama in every form that Ollama itself takes for `OLLAMA_HOST`.

Invariant: never fails; what Ollama would replace by a default is replaced here by the same default.
The rules are those of `envconfig.Host` in Ollama's source, seen from a client: a wildcard is this machine.
"""

import ipaddress

DEFAULT_PORT = "11434"
_SCHEME_PORTS = {"http": "80", "https": "443"}
_LARGEST_PORT = 65535


def parse_host(text: str) -> str:
    """The base URL for `text`: scheme, host and port always, a path if given, no slash at the end."""
    text = text.strip().strip("\"'").strip()
    scheme, separator, rest = text.partition("://")
    default_port = DEFAULT_PORT
    if separator:
        scheme = scheme.strip().lower()
        default_port = _SCHEME_PORTS.get(scheme, DEFAULT_PORT)
    elif text == "ollama.com":
        scheme, rest = "https", "ollama.com:443"
    else:
        scheme, rest = "http", text
    authority, _, path = rest.partition("/")
    user, at, address = authority.rpartition("@")
    host, port = _split(address, default_port)
    path = path.strip("/")
    return f"{scheme}://{user}{at}{_for_client(host)}:{port}" + (f"/{path}" if path else "")


def _split(address: str, default_port: str) -> tuple[str, str]:
    """Host without brackets, and port."""
    whole = _ip(address.strip("[]"))
    if whole is not None:
        return str(whole), default_port
    if address.startswith("["):
        host, _, port = address[1:].partition("]")
        port = port.removeprefix(":") if port.startswith(":") else default_port
    else:
        host, colon, port = address.partition(":")
        if not colon:
            port = default_port
    return host, _port(port, default_port)


def _port(text: str, default: str) -> str:
    """The port, or the default if Ollama would call it invalid."""
    if text.isascii() and text.isdigit() and int(text) <= _LARGEST_PORT:
        return str(int(text))
    return default


def _for_client(host: str) -> str:
    """The host as one dials it: an empty one and a wildcard are this machine; IPv6 in brackets."""
    address = _ip(host)
    if host == "" or (address is not None and address.is_unspecified):
        return "[::1]" if address is not None and address.version == 6 else "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
