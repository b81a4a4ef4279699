"""Says in plain words what is wrong with a setting: what stands there, and what may stand there.

Invariant: what may stand there is read off the setting's own type, so no sentence can tell anything else than
the check does; no word of a library is in any of them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from tomlkit.exceptions import ParseError, TOMLKitError, UnexpectedCharError, UnexpectedEofError

from sophos_desktop.core.settings.models import ADAPTERS, Settings
from sophos_desktop.core.settings.toml_lines import line_of_second

_END = r"\x00"  # what the parser reads behind the end of a file
_LONGEST_SHOWN = 60  # characters of a value or a line


def refused(key: str, value: Any, *, is_typed: bool) -> str:
    """For a value that the check of `key` does not take. `is_typed`: it comes from a file, where a text is
    another thing than the number in it."""
    hint = " without quotes" if is_typed and isinstance(value, str) and _fits_as_text(key, value) else ""
    return f"{key} cannot be {_shown(value)}; it must be {allowed(key)}{hint}"


def allowed(key: str) -> str:
    """What a setting may be, as it goes on after “it must be”."""
    schema = ADAPTERS[key].json_schema()
    kinds = schema.get("anyOf", [schema])
    words = [_kind_words(kind) for kind in kinds if kind.get("type") != "null"]
    if len(words) < len(kinds):
        return f"{_one_of(words)}, or be left out"
    return _one_of(words)


def unknown_setting(key: str) -> str:
    """For a key that is none, in a section or not."""
    section = key.partition(".")[0]
    names = [known.partition(".")[2] for known in ADAPTERS if known.startswith(f"{section}.")]
    if not names:
        return f"there is no setting {key}; {_sections()}"
    return f"there is no setting {key}; [{section}] holds {_all_of(names)}"


def unknown_section(section: str) -> str:
    """For a heading that is none."""
    return f"there is no section [{section}]; {_sections()}"


def not_toml(error: TOMLKitError, text: str) -> tuple[int | None, str]:
    """The line, where it is known, and what to look for in it."""
    if isinstance(error, UnexpectedEofError) or (
        isinstance(error, UnexpectedCharError) and _END in str(error)
    ):
        return None, "it is not TOML: it ends before a quote, a bracket or a brace is closed"
    advice = "a text stands in quotes, a section in brackets, and each name only once"
    # A name twice: that one does not say where.
    line = error.line if isinstance(error, ParseError) else line_of_second(text)
    if line is None:
        return None, f"it is not TOML: {advice}"
    return line, f"it is not TOML: {_clipped(text.splitlines()[line - 1].strip())} ({advice})"


def _fits_as_text(key: str, text: str) -> bool:
    try:
        ADAPTERS[key].validate_strings(text.strip())
    except ValidationError:
        return False
    return True


def _shown(value: Any) -> str:
    """A value as TOML has it, if that is short."""
    if isinstance(value, Mapping):
        return "a section"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool | str):
        return _clipped(json.dumps(value, ensure_ascii=False))
    return _clipped(str(value))


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _kind_words(schema: Mapping[str, Any]) -> str:
    """One kind of value. Raises LookupError for a kind that no setting has had so far: give it words here."""
    if "enum" in schema:
        return _one_of([_shown(value) for value in schema["enum"]])
    match schema.get("type"):
        case "boolean":
            return "true or false"
        case "string":
            return "a text in quotes"
        case "integer":
            return f"a whole number{_range_words(schema)}"
        case "number":
            return f"a number{_range_words(schema)}"
    raise LookupError(f"a setting of the kind {schema} has no words")


def _range_words(schema: Mapping[str, Any]) -> str:
    least, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    most, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f" from {least} to {most}"
    limits = (("of at least", least), ("above", above), ("of at most", most), ("below", below))
    told = [f"{words} {limit}" for words, limit in limits if limit is not None]
    return f" {' and '.join(told)}" if told else ""


def _sections() -> str:
    return f"the sections are {_all_of(list(Settings.model_fields))}"


def _all_of(words: Sequence[str]) -> str:
    return _listed(words, "and")


def _one_of(words: Sequence[str]) -> str:
    return _listed(words, "or")


def _listed(words: Sequence[str], last: str) -> str:
    return f" {last} ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
