"""Reads one layer of settings: a TOML file, or the environment.

Invariant: a layer never fails. What is wrong with it is told, with path and line, and left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import ParseError, TOMLKitError

from sophos_desktop.core.settings.models import ADAPTERS, Settings
from sophos_desktop.foundation.small_file import read_small_text

PREFIX = "SOPHOS_"


@dataclass(frozen=True, slots=True)
class Layer:
    """Checked values by key, and sentences about what was left out. `readable` False: none of it counts."""

    values: Mapping[str, Any]
    problems: tuple[str, ...] = ()
    readable: bool = True


def read_text(path: Path) -> str | None:
    """The file's text, or None where there is none. Raises OSError; UnicodeDecodeError if it is not UTF-8."""
    try:
        return read_small_text(path)
    except FileNotFoundError:
        return None


def read_file(path: Path) -> Layer:
    """The layer in a TOML file."""
    try:
        text = read_text(path)
        document = tomlkit.parse(text or "").unwrap()
    except UnicodeDecodeError as error:
        return _unreadable(f"{path}: it is not UTF-8 text (byte {error.start})")
    except OSError as error:
        return _unreadable(f"{path}: it cannot be read ({error.strerror or error})")
    except ParseError as error:
        return _unreadable(f"{path}, line {error.line}: it is not TOML ({error})")
    except TOMLKitError as error:  # a key twice: this one does not say where
        return _unreadable(f"{path}: it is not TOML ({error})")
    return _check(document, path, text or "")


def read_environment(environ: Mapping[str, str]) -> tuple[Layer, Mapping[str, str]]:
    """The layer in `SOPHOS_<SECTION>__<NAME>` variables, and the variable of each key."""
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    problems: list[str] = []
    for variable, text in sorted(environ.items()):
        section, separator, name = variable.removeprefix(PREFIX).lower().partition("__")
        if not variable.startswith(PREFIX) or not separator or not text.strip():
            continue
        key = f"{section}.{name}"
        if key not in ADAPTERS:
            problems.append(f"{variable}: there is no setting {key}")
            continue
        try:
            values[key] = parse_value(key, text)
            names[key] = variable
        except ValueError as error:
            problems.append(f"{variable}: {error}")
    return Layer(values, tuple(problems)), names


def parse_value(key: str, text: str) -> Any:
    """The value that a text stands for. Raises ValueError with what it may be."""
    try:
        return ADAPTERS[key].validate_strings(text.strip())
    except ValidationError as error:
        raise ValueError(f"{key} cannot be {text.strip()!r}: {_words(error)}") from None


def _check(document: Mapping[str, Any], path: Path, text: str) -> Layer:
    values: dict[str, Any] = {}
    problems: list[str] = []
    for section, content in document.items():
        if section not in Settings.model_fields:
            where = _where(path, text, section, None)
            problems.append(f"{where}: there is no section [{section}]; it is kept and not used")
            continue
        if not isinstance(content, dict):
            where = _where(path, text, section, None)
            problems.append(f"{where}: {section} must be a section, [{section}]")
            continue
        for name, value in content.items():
            key = f"{section}.{name}"
            where = _where(path, text, section, name)
            if key not in ADAPTERS:
                problems.append(f"{where}: there is no setting {key}; it is kept and not used")
                continue
            try:
                values[key] = ADAPTERS[key].validate_python(value, strict=True)
            except ValidationError as error:
                problems.append(f"{where}: {key} cannot be {value!r}: {_words(error)}")
    return Layer(values, tuple(problems))


def _unreadable(problem: str) -> Layer:
    return Layer({}, (problem,), readable=False)


def _words(error: ValidationError) -> str:
    """What pydantic says, once each."""
    return "; ".join(dict.fromkeys(str(item["msg"]) for item in error.errors()))


def _where(path: Path, text: str, section: str, name: str | None) -> str:
    """Path and, where it is found, line. The parser keeps no positions, so the lines are looked through."""
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
            current = header[1].strip("\"'")
            if name is None and current.partition(".")[0] == section:
                return f"{path}, line {number}"
            continue
        if (assigned := re.match(r"\s*([\w.\"'\- ]+?)\s*=", line)) is None:
            continue
        full = f"{current}.{assigned[1]}".lstrip(".").replace('"', "").replace("'", "").replace(" ", "")
        wanted = section if name is None else f"{section}.{name}"
        if full == wanted or full.startswith(wanted + ".") or (name is not None and full == section):
            return f"{path}, line {number}"
    return str(path)
