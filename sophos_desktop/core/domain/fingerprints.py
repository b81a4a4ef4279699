"""The fingerprints of servers and tools: what was in force when the user decided something about them.

Invariant: equal definitions have equal fingerprints on every machine and in every version; what a decision
depends on is in it: the command, its arguments, folder and variables, or the address; the tool's name,
description, schema and hints. `headers` are not: who answers is said by the address, and keys change.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any


def server_fingerprint(
    command: str | None,
    args: Sequence[str],
    url: str | None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Of a server as it is configured, `${NAME}` not filled in, so that a key kept elsewhere may change.

    Another folder or variable can make another program of the same words (a relative path, NODE_OPTIONS), or
    lead the same one elsewhere (a database). Of their values nothing is kept but this digest. Where there are
    none it is the digest of the versions that did not look at them."""
    surroundings = {"cwd": cwd, "env": dict(env or {})} if cwd is not None or env else None
    return _digest([command, list(args), url] + ([surroundings] if surroundings is not None else []))


def tool_fingerprint(
    server: str, tool: str, description: str, schema: Mapping[str, Any], annotations: Mapping[str, Any]
) -> str:
    """Of a tool as its server defines it; `server` is that server's own fingerprint."""
    return _digest([server, tool, description, schema, annotations])


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
