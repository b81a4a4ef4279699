"""Reads one layer of settings: a TOML file, or the environment.

Invariant: a layer never fails. What is wrong with it is told, with path and line, and left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError

from sophos_desktop.core.settings.models import ADAPTERS, Settings
from sophos_desktop.core.settings.refusals import not_toml, refused, unknown_section, unknown_setting
from sophos_desktop.core.settings.toml_lines import line_of
from sophos_desktop.foundation.small_file import read_small_text

PREFIX = "SOPHOS_"


@dataclass(frozen=True, slots=True)
class Layer:
    """Checked values by key, where each stands, and sentences about what was left out. `readable` False: none
    of it counts."""

    values: Mapping[str, Any]
    places: Mapping[str, str] = field(default_factory=dict)
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
        text = read_text(path) or ""
    except UnicodeDecodeError as error:
        return _unreadable(f"{path}: it is not UTF-8 text (byte {error.start})")
    except OSError as error:
        return _unreadable(f"{path}: it cannot be read ({error.strerror or error})")
    try:
        document = tomlkit.parse(text).unwrap()
    except TOMLKitError as error:
        line, words = not_toml(error, text)
        return _unreadable(f"{_place(path, line)}: {words}")
    return _check(document, path, text)


def read_environment(environ: Mapping[str, str]) -> Layer:
    """The layer in `SOPHOS_<SECTION>__<NAME>` variables; the place of a key is its variable."""
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    problems: list[str] = []
    for variable, text in sorted(environ.items()):
        section, separator, name = variable.removeprefix(PREFIX).lower().partition("__")
        if not variable.startswith(PREFIX) or not separator or not text.strip():
            continue
        key = f"{section}.{name}"
        if key not in ADAPTERS:
            problems.append(f"{variable}: {unknown_setting(key)}")
            continue
        try:
            values[key] = parse_value(key, text)
            names[key] = variable
        except ValueError as error:
            problems.append(f"{variable}: {error}")
    return Layer(values, names, tuple(problems))


def parse_value(key: str, text: str) -> Any:
    """The value that a text stands for. Raises ValueError with what it may be."""
    try:
        return ADAPTERS[key].validate_strings(text.strip())
    except ValidationError:
        raise ValueError(refused(key, text.strip(), is_typed=False)) from None


def _check(document: Mapping[str, Any], path: Path, text: str) -> Layer:
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    problems: list[str] = []
    for section, content in document.items():
        if section not in Settings.model_fields:
            where = _where(path, text, section, None)
            problems.append(f"{where}: {unknown_section(section)}. It is kept and not used")
            continue
        if not isinstance(content, dict):
            where = _where(path, text, section, None)
            problems.append(f"{where}: {section} must be a section, [{section}]")
            continue
        for name, value in content.items():
            key = f"{section}.{name}"
            where = _where(path, text, section, name)
            if key not in ADAPTERS:
                problems.append(f"{where}: {unknown_setting(key)}. It is kept and not used")
                continue
            try:
                values[key] = ADAPTERS[key].validate_python(value, strict=True)
                places[key] = where
            except ValidationError:
                problems.append(f"{where}: {refused(key, value, is_typed=True)}")
    return Layer(values, places, tuple(problems))


def _unreadable(problem: str) -> Layer:
    return Layer({}, problems=(problem,), readable=False)


def _place(path: Path, line: int | None) -> str:
    return str(path) if line is None else f"{path}, line {line}"


def _where(path: Path, text: str, section: str, name: str | None) -> str:
    """Path and, where it is found, line."""
    return _place(path, line_of(text, section, name))
