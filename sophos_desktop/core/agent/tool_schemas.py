"""Makes a tool's schema one that engines take and models understand, and bounds how many tools a model gets.

Invariant: what is offered is an object schema without references: engines that read only part of JSON Schema
(Ollama passes on types, descriptions, enums, alternatives and nested properties) lose as little of it as can
be, and nothing a server writes makes an engine refuse the whole request. The server's own schema, as it is,
is what arguments are checked against.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from sophos_desktop.core.domain.specs import ToolSpec

DEEPEST_LEVEL = 12
MOST_PARTS = 2_000
_SMALLEST_TOOL_CHARACTERS = 40

_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_PARTS = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames")
_NOT_FOR_MODELS = frozenset(
    {"$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "$ref", "$dynamicRef"}
)
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


def offered_tools(tools: Sequence[ToolSpec], most_characters: int) -> tuple[ToolSpec, ...]:
    """Those that fit, in the order given, with usable schemas. The same tools give the same choice.

    Each server's first comes before any server's second: one with thousands leaves room for the others."""
    ranks: dict[str, int] = {}
    order = []
    for place, tool in enumerate(tools):
        rank = ranks[tool.server] = ranks.get(tool.server, -1) + 1
        order.append((rank, place))
    chosen: dict[int, ToolSpec] = {}
    left = most_characters
    for _, place in sorted(order):
        if left < _SMALLEST_TOOL_CHARACTERS:
            break
        tool = tools[place]
        if len(tool.name) + len(tool.description) > left:
            continue
        usable = replace(tool, input_schema=usable_schema(tool.input_schema))
        size = tool_size(usable, most=left)
        if size <= left:
            chosen[place] = usable
            left -= size
    return tuple(chosen[place] for place in sorted(chosen))


def tool_size(tool: ToolSpec, most: int | None = None) -> int:
    """In characters, as an engine gets it; beyond `most` only that it is more."""
    size = len(tool.name) + len(tool.description)
    # The library's encoder, piece by piece: a schema of 10 MB is given up on early.
    for piece in json.JSONEncoder().iterencode(dict(tool.input_schema)):
        size += len(piece)
        if most is not None and size > most:
            break
    return size


def usable_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object schema without references. What refers to itself is written out once, then named."""
    usable = _Rewriting(schema).part(dict(schema), (), DEEPEST_LEVEL)
    wanted = usable.get("type", "object")
    kept = dict(usable) if wanted == "object" or (isinstance(wanted, list) and "object" in wanted) else {}
    for branch, is_needed in _branches(kept):
        for name, part in branch.get("properties", {}).items():
            kept.setdefault("properties", {}).setdefault(name, part)
        if is_needed:
            needed = [*kept.get("required", []), *branch.get("required", [])]
            kept["required"] = list(dict.fromkeys(needed))
    rest = {name: value for name, value in kept.items() if name not in ("type", "properties")}
    return {"type": "object", "properties": kept.get("properties", {}), **rest}


def _branches(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The alternatives of a whole schema, whose properties some engines see only at the top."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            yield branch, keyword == "allOf"


class _Rewriting:
    """Lives for one schema; `MOST_PARTS` bounds what references may blow it up to."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._parts = 0

    def part(self, schema: Any, inside: tuple[str, ...], levels: int) -> dict[str, Any]:
        """A subschema. `inside`: the references that led here."""
        self._parts += 1
        if schema is False:
            return {"not": {}}
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._resolved(schema, reference, inside, levels)
        if levels == 0 or self._parts > MOST_PARTS:
            return _outline(schema)
        made = {name: value for name, value in schema.items() if name not in _NOT_FOR_MODELS}
        for keyword in _MAPS:
            if keyword in made:
                parts = made[keyword] if isinstance(made[keyword], Mapping) else {}
                made[keyword] = {
                    str(name): self.part(part, inside, levels - 1) for name, part in parts.items()
                }
        for keyword in _LISTS:
            if keyword in made:
                given = made[keyword] if isinstance(made[keyword], list) else []
                made[keyword] = [self.part(part, inside, levels - 1) for part in given]
        for keyword in _PARTS:
            if isinstance(made.get(keyword), Mapping):
                made[keyword] = self.part(made[keyword], inside, levels - 1)
        if isinstance(made.get("items"), list):
            made["items"] = [self.part(part, inside, levels - 1) for part in made["items"]]
        return _tidied(made)

    def _resolved(
        self, schema: Mapping[str, Any], reference: str, inside: tuple[str, ...], levels: int
    ) -> dict[str, Any]:
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        target = _found(self._root, reference)
        if not isinstance(target, Mapping):
            return self.part(beside, inside, levels)
        if inside.count(reference) > 1 or levels == 0 or self._parts > MOST_PARTS:
            named = _outline(target)
            named.setdefault("description", f"As {reference.rpartition('/')[2] or 'the whole'} above")
            return named
        return self.part({**target, **beside}, (*inside, reference), levels - 1)


def _found(root: Mapping[str, Any], reference: str) -> Any:
    """What a local JSON pointer points to; None for anything else, which is never fetched."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    found: Any = root
    for step in reference.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(found, list) and name.isdecimal() and len(name) < 6 and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def _outline(schema: Mapping[str, Any]) -> dict[str, Any]:
    return _tidied({name: schema[name] for name in ("type", "description", "enum") if name in schema})


def _tidied(schema: dict[str, Any]) -> dict[str, Any]:
    """Without what an engine that reads the keyword would refuse."""
    wanted = schema.get("type")
    types = wanted if isinstance(wanted, list) else [wanted]
    if "type" in schema and not (types and all(isinstance(t, str) and t in _TYPES for t in types)):
        del schema["type"]
    if not isinstance(schema.get("description", ""), str):
        schema["description"] = str(schema["description"])
    if "required" in schema:
        needed = schema["required"] if isinstance(schema["required"], list) else []
        schema["required"] = [name for name in needed if isinstance(name, str)]
    if "enum" in schema and not isinstance(schema["enum"], list):
        del schema["enum"]
    if "const" in schema and "enum" not in schema:
        schema["enum"] = [schema["const"]]
    return schema
