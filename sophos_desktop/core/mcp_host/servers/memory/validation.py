"""Finds what is wrong with a value, and says it as the reference server does (in Zod's words).

Invariant: all problems are found, in the order of the schema; only the kinds of schema that the tools use are
understood.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sophos_desktop.core.mcp_host.servers.memory.json_text import pretty

MISSING = object()
"""Stands for a field that is not there."""
_KINDS: Mapping[str, type] = {"string": str, "array": list, "object": dict, "record": dict}


class Problem(NamedTuple):
    """A value of the wrong kind, and where it is."""

    expected: str
    message: str
    path: tuple[str | int, ...]

    def sentence(self) -> str:
        """The message and its place, as an answer of a tool says it."""
        place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path)
        return f"{self.message} at {place.removeprefix('.')}" if place else self.message


def problems(schema: Mapping[str, Any], value: object, path: tuple[str | int, ...] = ()) -> Iterator[Problem]:
    """What is wrong with a value."""
    expected = schema["type"]
    if not isinstance(value, _KINDS[expected]):
        yield Problem(expected, f"Invalid input: expected {expected}, received {_kind(value)}", path)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from problems(schema["items"], item, (*path, place))
    elif isinstance(value, dict):
        for name, inner in schema.get("properties", {}).items():
            if name in value or name in schema.get("required", ()):
                yield from problems(inner, value.get(name, MISSING), (*path, name))


def as_json(found: list[Problem]) -> str:
    """All problems as the message of a protocol error."""
    return pretty(
        [
            {
                "expected": problem.expected,
                "code": "invalid_type",
                "path": list(problem.path),
                "message": problem.message,
            }
            for problem in found
        ]
    )


def _kind(value: object) -> str:
    """What JavaScript calls it."""
    if value is None:
        return "null"
    if value is MISSING:
        return "undefined"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"
