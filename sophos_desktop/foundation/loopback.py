"""Tells addresses of this machine from others.

Invariant: a request to this machine never goes through a proxy; whoever makes an HTTP client asks here.
"""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(url: str) -> bool:
    """True if the URL's host is this machine: a loopback address, `localhost` or a name below it."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
