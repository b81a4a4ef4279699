"""Checks a call's arguments against the tool's schema before anything is sent.

Invariant: a schema that is itself broken never makes a call fail (the server then judges), and no
reference in a schema is ever fetched from anywhere.
"""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, relevance
from jsonschema.validators import validator_for
from referencing import Registry

_SHOWN_PROBLEMS = 5
_SHOWN_CHARACTERS = 300


def problem_of(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments, in words for the model; None if they fit."""
    if not schema:
        return None
    try:
        validator_class = validator_for(schema, default=Draft202012Validator)
        validator_class.check_schema(dict(schema))
        registry: Registry[Any] = Registry()
        validator = validator_class(schema, registry=registry)
        errors = sorted(validator.iter_errors(dict(arguments)), key=relevance, reverse=True)
    except Exception:  # noqa: BLE001 - schemas are foreign: unknown references, patterns, endless recursion
        return None
    if not errors:
        return None
    lines = [f"- {_sentence(error)}" for error in errors[:_SHOWN_PROBLEMS]]
    if len(errors) > _SHOWN_PROBLEMS:
        lines.append(f"- and {len(errors) - _SHOWN_PROBLEMS} more")
    return "The arguments do not fit the tool's schema, so the tool was not called:\n" + "\n".join(lines)


def _sentence(error: ValidationError) -> str:
    nested = _deepest(error)
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in nested.absolute_path)
    return f"{where.lstrip('.') or 'arguments'}: {_cut(nested.message)}{_expected(nested)}"


def _deepest(error: ValidationError) -> ValidationError:
    """Of alternatives (`anyOf`, `oneOf`) with a single branch that was tried, the branch's own problem."""
    while error.context is not None and len(error.context) == 1:
        error = error.context[0]
    return error


def _expected(error: ValidationError) -> str:
    """What the schema says there, where the message alone does not."""
    if error.validator in ("anyOf", "oneOf"):
        return f" (expected: {_cut(str(error.validator_value))})"
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"
