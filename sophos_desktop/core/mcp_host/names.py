"""Gives each tool the name that the model sees.

Invariant: the name is a function of (server, tool) alone, so it is the same after a restart and whatever
other servers come and go; it has only [A-Za-z0-9_-], at most 64 characters; two tools never share one.
"""

import hashlib
import json
import re

MAXIMUM_LENGTH = 64
_SEPARATOR = "__"
_HASH_LENGTH = 10
_SERVER_LENGTH = 20
_TOOL_LENGTH = MAXIMUM_LENGTH - _SERVER_LENGTH - len(_SEPARATOR) - _HASH_LENGTH - 1

_SAFE = re.compile(r"[A-Za-z0-9_-]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LOOKS_HASHED = re.compile(rf"_[0-9a-f]{{{_HASH_LENGTH}}}\Z")


def model_name(server: str, tool: str) -> str:
    """`server__tool`, or, where that would be unsafe, too long or ambiguous, its safe characters and a
    hash of (server, tool)."""
    name = f"{server}{_SEPARATOR}{tool}"
    if _splits_one_way(server, tool) and len(name) <= MAXIMUM_LENGTH and not _LOOKS_HASHED.search(name):
        return name
    identity = json.dumps([server, tool]).encode()
    digest = hashlib.sha256(identity).hexdigest()[:_HASH_LENGTH]
    return f"{_cleaned(server, _SERVER_LENGTH)}{_SEPARATOR}{_cleaned(tool, _TOOL_LENGTH)}_{digest}"


def _splits_one_way(server: str, tool: str) -> bool:
    """True if the first separator in the joined name is the one that joins it: then no other pair of
    plain names gives the same one."""
    return (
        _SAFE.fullmatch(server) is not None
        and _SAFE.fullmatch(tool) is not None
        and _SEPARATOR not in server
        and not server.endswith("_")
    )


def _cleaned(text: str, length: int) -> str:
    return _UNSAFE.sub("_", text)[:length].strip("_") or "tool"
