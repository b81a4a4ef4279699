"""The fingerprints of servers and tools: what was in force when the user decided something about them.

Invariant: equal definitions have equal fingerprints on every machine and in every version; what a decision
depends on is in it: the command and its arguments or the address, the tool's name, description, schema and
hints. Values of `env` and `headers` are not: keys change without the program being another.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any


def server_fingerprint(command: str | None, args: Sequence[str], url: str | None) -> str:
    """Of a server as it is configured, variables not filled in."""
    return _digest([command, list(args), url])


def tool_fingerprint(
    server: str, tool: str, description: str, schema: Mapping[str, Any], annotations: Mapping[str, Any]
) -> str:
    """Of a tool as its server defines it; `server` is that server's own fingerprint."""
    return _digest([server, tool, description, schema, annotations])


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
