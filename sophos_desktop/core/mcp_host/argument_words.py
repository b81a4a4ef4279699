"""What is wrong with arguments, in words for the model.

Invariant: a sentence says where and what, says no more of a value than a few words, and never makes a value
into another: text that holds a number is told to be text.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jsonschema.exceptions import ValidationError

PATH_CHARACTERS = 120
MESSAGE_CHARACTERS = 300
_VALUE_CHARACTERS = 60
_SHOWN_NAMES = 20
_READ_CHARACTERS = 100_000
_ALTERNATIVE_LEVELS = 5

_KINDS: Mapping[str, str] = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def sentences(error: ValidationError, levels: int = _ALTERNATIVE_LEVELS) -> list[str]:
    """`path.to.field: must be a number, got text`; several where one alternative of many nearly fits."""
    if error.validator in ("anyOf", "oneOf"):
        return _of_alternatives(error, levels)
    message = "is not allowed here" if error.validator is None else error.message
    return [f"{_path(error)}: {cut(message)}"]


def cut(text: str, length: int = MESSAGE_CHARACTERS) -> str:
    """At most `length` characters of a text."""
    return text if len(text) <= length else text[: length - 1] + "…"


def names_in_words(names: Iterable[str]) -> str:
    """`; known are: a, b`; nothing for no names."""
    known = list(names)
    shown = ", ".join(cut(str(name), _VALUE_CHARACTERS) for name in known[:_SHOWN_NAMES])
    return f"; known are: {shown}{', …' if len(known) > _SHOWN_NAMES else ''}" if known else ""


def _of_alternatives(error: ValidationError, levels: int) -> list[str]:
    branches: dict[Any, list[ValidationError]] = {}
    for nested in error.context or ():
        branches.setdefault(nested.relative_schema_path[0], []).append(nested)
    if not branches:
        return [f"{_path(error)}: fits more than one of the alternatives, must fit exactly one"]
    kinds = [_wanted_kinds(branch) for branch in branches.values()]
    if all(kinds):
        wanted = list(dict.fromkeys(kind for of_branch in kinds for kind in of_branch))
        return [f"{_path(error)}: {cut(_type(wanted, error.instance))}"]
    nearest = min(branches.values(), key=_distance)
    if levels == 0:
        return [f"{_path(error)}: fits none of the {len(branches)} alternatives"]
    return [sentence for nested in nearest for sentence in sentences(nested, levels - 1)]


def _wanted_kinds(branch: Sequence[ValidationError]) -> Sequence[str]:
    """The types that a branch wants, if nothing else of it was tried in vain."""
    types = [_listed(nested.validator_value) for nested in branch if _is_own(nested, "type")]
    return types[0] if len(types) == 1 else ()


def _distance(branch: Sequence[ValidationError]) -> tuple[int, int]:
    """How far the value is from a branch: one of another type, or that says by a constant that it is meant
    for another branch, is farthest."""
    foreign = sum(
        nested.validator in ("const", "enum") or _is_own(nested, "type") or nested.validator is None
        for nested in branch
    )
    return foreign, len(branch)


def _is_own(nested: ValidationError, keyword: str) -> bool:
    return nested.validator == keyword and not nested.relative_path


def _path(error: ValidationError) -> str:
    steps = list(error.absolute_path)
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps[:50])
    return cut(where.lstrip("."), PATH_CHARACTERS) or "arguments"


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _type(wanted: Any, instance: Any) -> str:
    names = [name for name in _listed(wanted) if not (name == "integer" and "number" in _listed(wanted))]
    kinds = " or ".join(_KINDS.get(name, name) for name in names)
    return f"must be {kinds}, got {_kind_of(instance)}{_hint(names, instance)}"


def _kind_of(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return f"the number {_shown(value)}"
    return "a list" if isinstance(value, list) else "an object"


def _hint(wanted: Sequence[str], instance: Any) -> str:
    """What a model that puts everything into quotes should do."""
    if not isinstance(instance, str) or len(instance) > _READ_CHARACTERS:
        return ""
    try:
        held = json.loads(instance)
    except (ValueError, RecursionError):
        return ""
    if isinstance(held, bool):
        return f": write {instance.strip()} without quotes" if "boolean" in wanted else ""
    if isinstance(held, int | float):
        fits = "number" in wanted or ("integer" in wanted and float(held).is_integer())
        return f": write {cut(instance.strip(), _VALUE_CHARACTERS)} without quotes" if fits else ""
    if held is None:
        return ": write null without quotes" if "null" in wanted else ""
    kind = "array" if isinstance(held, list) else "object"
    return f": give {_KINDS[kind]}, not text that holds one" if kind in wanted else ""


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(cut(value, _VALUE_CHARACTERS), ensure_ascii=False)
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return cut(json.dumps(value, default=str), _VALUE_CHARACTERS)


def _options(values: Any) -> str:
    shown = [_shown(value) for value in values[:_SHOWN_NAMES]] if isinstance(values, list) else []
    return ", ".join(shown) + (", …" if len(values) > _SHOWN_NAMES else "")


def _counted(words: str, unit: str) -> Callable[[Any, Any], str]:
    return lambda limit, instance: f"must have {words} {limit} {unit}, has {len(instance)}"


def _compared(words: str) -> Callable[[Any, Any], str]:
    return lambda limit, instance: f"must be {words} {_shown(limit)}, got {_shown(instance)}"


MESSAGES: Mapping[str, Callable[[Any, Any], str]] = {
    "type": _type,
    "enum": lambda options, instance: f"must be one of {_options(options)}, got {_shown(instance)}",
    "const": _compared("exactly"),
    "minimum": _compared("at least"),
    "maximum": _compared("at most"),
    "exclusiveMinimum": _compared("more than"),
    "exclusiveMaximum": _compared("less than"),
    "multipleOf": _compared("a multiple of"),
    "minLength": _counted("at least", "characters"),
    "maxLength": _counted("at most", "characters"),
    "minItems": _counted("at least", "entries"),
    "maxItems": _counted("at most", "entries"),
    "minProperties": _counted("at least", "fields"),
    "maxProperties": _counted("at most", "fields"),
    "uniqueItems": lambda _, instance: "must not have the same entry twice",
    "contains": lambda _, instance: "has too few, or too many, entries of the wanted form",
    "not": lambda _, instance: "has a form that is not allowed",
}
"""By keyword: the words for a value of the schema and the value that does not fit it."""
