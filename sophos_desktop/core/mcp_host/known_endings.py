"""Tells what the last words of common programs mean, and what to do.

Invariant: pure; looks at a bounded number of lines; says nothing where it knows nothing.
"""

import re
from collections.abc import Sequence

_LOOKED_AT_LINES = 60
_NETWORK = "ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|ENETUNREACH|ERR_SOCKET_TIMEOUT"
_KNOWN: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(rf"npm (?:error|ERR!) code ({_NETWORK})"),
        "npm could not reach its registry ({0}); check the network connection, or install the package first",
    ),
    (
        re.compile(r"npm (?:error|ERR!) code (?:E404|ETARGET)"),
        'npm has no such package or version; check "args" in mcp.json',
    ),
    (
        re.compile(r"npm (?:error|ERR!) could not determine executable to run"),
        'the npm package has no program of its own; check "args" in mcp.json',
    ),
    (re.compile(r"Cannot connect to the Docker daemon"), "Docker is not running; start it first"),
    (
        re.compile(r"No module named '?([\w.]+)'?"),
        "Python has no module {0}; install it for the Python that is named as command",
    ),
    (re.compile(r"Cannot find module '([^']+)'"), "Node.js cannot find {0}; install it or check its path"),
)
# Lines that end an account without telling anything.
_TRAILER = re.compile(
    r"complete log of this run|--help' for more information"
    r"|^\s*at .+:\d+:\d+\)?$|^Node\.js v|^npm (error|ERR!)$"
)


def meaning(lines: Sequence[str]) -> str | None:
    """What the latest known words among the last lines mean, without a full stop; None if none is known."""
    for line in reversed(lines[-_LOOKED_AT_LINES:]):
        for pattern, sentence in _KNOWN:
            if (found := pattern.search(line)) is not None:
                return sentence.format(*found.groups())
    return None


def tells_nothing(line: str) -> bool:
    """True for a line that only says where more is to be read."""
    return _TRAILER.search(line) is not None
