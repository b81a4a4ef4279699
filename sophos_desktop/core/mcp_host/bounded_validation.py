"""JSON Schema validators that foreign schemas cannot hold up.

Invariant: checking ends soon whatever the schema and its patterns are (`OutOfTime`), nothing is fetched, and
no message holds more of a value than a few words. Drafts 4 to 2020-12; what only other drafts say is not
checked, nor are formats and the `unevaluated…` keywords, which the library checks with unbounded patterns.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import regex
from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    FormatChecker,
)
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend, validator_for
from referencing import Registry

from sophos_desktop.core.mcp_host.argument_words import MESSAGES, names_in_words

LONGEST_PATTERN = 2_000
PATTERN_SECONDS = 0.1
# regex 2026.11 looks for a literal text, which it does in the square of the sizes, without its time-out.
MOST_COMPARISONS = 10_000_000

_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class OutOfTime(Exception):
    """Checking took too long."""


class Limits(FormatChecker):
    """How long a check may take. Lives for one check, in one thread, whose own time is counted.

    It knows no formats: a validator hands its format checker, and nothing else of ours, to its parts."""

    def __init__(self, seconds: float) -> None:
        super().__init__(formats=())
        self._ends_at = time.thread_time() + seconds

    def spend(self) -> None:
        """Raises OutOfTime."""
        if time.thread_time() > self._ends_at:
            raise OutOfTime

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern is found in the text; None if it is none, or would take too long."""
        self.spend()
        if len(pattern) > LONGEST_PATTERN or len(pattern) * len(text) > MOST_COMPARISONS:
            return None
        try:
            return regex.search(pattern, text, timeout=PATTERN_SECONDS, concurrent=True) is not None
        except (regex.error, TimeoutError, ValueError, OverflowError):
            return None


def problems(schema: Mapping[str, Any], value: object, limits: Limits) -> Iterator[ValidationError]:
    """What of a value does not fit. Raises OutOfTime, and whatever the library does for a broken schema."""
    base = validator_for(schema, default=Draft202012Validator)
    bounded = _BOUNDED.get(base, _BOUNDED[Draft202012Validator])
    registry: Registry[Any] = Registry()
    found: Iterator[ValidationError] = bounded(schema, registry=registry, format_checker=limits).iter_errors(
        value
    )
    return found


def is_sound(schema: Mapping[str, Any], limits: Limits) -> bool:
    """Whether a schema is one by its own draft. Raises OutOfTime."""
    base = validator_for(schema, default=Draft202012Validator)
    if base not in _BOUNDED:
        return False
    return next(problems(base.META_SCHEMA, schema, limits), None) is None


def _properties(validator: Any, parts: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for name, part in parts.items():
        if name not in instance:
            continue
        if part is False:  # the library would not say which field it was
            yield ValidationError("is not allowed here", path=[name])
        else:
            yield from validator.descend(instance[name], part, path=name, schema_path=name)


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and validator.format_checker.matches(pattern, instance) is False:
        yield ValidationError(f"must match the pattern {pattern}")


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if not validator.format_checker.matches(pattern, name):
                continue
            if subschema is False:
                yield ValidationError("is not allowed here", path=[name])
            else:
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict) or allowed is True:
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        # None, for a pattern that says nothing, counts as a match: the server judges.
        if name in known or any(validator.format_checker.matches(p, name) is not False for p in patterns):
            continue
        if allowed is False:
            yield ValidationError(f"is not known here{names_in_words(known)}", path=[name])
        else:
            yield from validator.descend(value, allowed, path=name)


def _required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        yield from (ValidationError("is missing", path=[name]) for name in names if name not in instance)


def _nothing(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    yield from ()


_OWN: Mapping[str, _Keyword] = {
    "properties": _properties,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "unevaluatedProperties": _nothing,
    "unevaluatedItems": _nothing,
}


def _bounded(keyword: str, check: _Keyword) -> _Keyword:
    words = MESSAGES.get(keyword)

    def bounded(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        validator.format_checker.spend()
        for error in check(validator, value, instance, schema) or ():
            if words is not None and not isinstance(error.validator, str):  # the library has not named it yet
                error.message = words(value, instance)
            yield error

    return bounded


def _same_kind(validator: Any, **changes: Any) -> Any:
    """In place of the library's `evolve`, which takes another class, without bounds, where a part of a schema
    names its draft."""
    return attrs.evolve(validator, **changes)


def _make(base: Any) -> Any:
    keywords = {name: _OWN.get(name, check) for name, check in base.VALIDATORS.items()}
    made: Any = extend(  # type: ignore[no-untyped-call]
        base, {name: _bounded(name, check) for name, check in keywords.items()}
    )
    made.evolve = _same_kind
    return made


_BOUNDED: Mapping[Any, Any] = {
    base: _make(base)
    for base in (
        Draft4Validator,
        Draft6Validator,
        Draft7Validator,
        Draft201909Validator,
        Draft202012Validator,
    )
}
