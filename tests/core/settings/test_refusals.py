"""What is said of a bad setting: the key, what stands there, what may stand there, and no library's words."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from pydantic import ValidationError

from sophos_desktop.core.settings.layers import read_environment, read_file
from sophos_desktop.core.settings.models import ADAPTERS
from sophos_desktop.core.settings.refusals import allowed

BAD: Mapping[str, Any] = {
    "a text": "blue",
    "an empty text": "",
    "a long text": "x" * 500,
    "a number as a text": "300",
    "a whole number": 300,
    "a huge number": 10**30,
    "a negative number": -1,
    "a fraction": 0.5,
    "no number": float("nan"),
    "too much": float("inf"),
    "a truth": True,
    "a list": [1, "two"],
    "a section": {"deep": 1},
    "a date": date(2024, 2, 29),
}
LIBRARY = re.compile(r"(?i)input should|valid (string|integer|boolean|number)|pydantic|literal|parse|strict")
PYTHON = re.compile(r"None|True|False|Error|datetime|\\\\n")


def library_words(check: Callable[[], object]) -> list[str]:
    """What the library says against a value; nothing if it takes it."""
    try:
        check()
    except ValidationError as error:
        return [item["msg"] for item in error.errors()]
    return []


def written(path: Path, key: str, value: Any) -> Path:
    section, _, name = key.partition(".")
    path.write_text(tomlkit.dumps({section: {name: value}}), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("key", ADAPTERS)
def test_a_bad_value_in_the_file_is_refused_in_plain_words(tmp_path: Path, key: str, kind: str) -> None:
    value, path = BAD[kind], tmp_path / "settings.toml"
    layer = read_file(written(path, key, value))
    said = library_words(lambda: ADAPTERS[key].validate_python(value, strict=True))
    assert bool(layer.problems) == bool(said)
    for problem in layer.problems:
        assert re.fullmatch(
            rf"{re.escape(str(path))}, line \d: {re.escape(key)} cannot be .{{1,60}}; it must be .+", problem
        ), problem
        assert allowed(key) in problem
        words = problem.removeprefix(str(path))
        assert LIBRARY.search(words) is None
        assert PYTHON.search(words) is None
        assert not any(part in words for part in said)


@pytest.mark.parametrize("text", [str(value) for value in BAD.values() if str(value)])
@pytest.mark.parametrize("key", ADAPTERS)
def test_a_bad_variable_is_refused_in_plain_words(key: str, text: str) -> None:
    variable = f"SOPHOS_{key.upper().replace('.', '__')}"
    layer = read_environment({variable: text})
    said = library_words(lambda: ADAPTERS[key].validate_strings(text))
    assert bool(layer.problems) == bool(said)
    for problem in layer.problems:
        assert problem.startswith(f"{variable}: {key} cannot be ")
        assert problem.endswith(f"; it must be {allowed(key)}")
        assert LIBRARY.search(problem) is None


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("engine.kind", '"auto", "ollama" or "starter"'),
        ("engine.host", "a text in quotes"),
        ("answer.num_ctx", "a whole number of at least 256, or be left out"),
        ("answer.thinking", "true or false, or be left out"),
        ("answer.temperature", "a number from 0 to 2, or be left out"),
        ("tools.timeout_seconds", "a number above 0 and of at most 86400"),
        ("ui.interface_size", "a whole number from 11 to 20"),
    ],
)
def test_what_may_stand_there_is_read_off_the_setting(key: str, words: str) -> None:
    assert allowed(key) == words


def test_a_number_in_quotes_is_told_from_a_bad_one(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    (problem,) = read_file(written(path, "ui.interface_size", "14")).problems
    assert problem.endswith('cannot be "14"; it must be a whole number from 11 to 20 without quotes')
    (problem,) = read_file(written(path, "ui.interface_size", "big")).problems
    assert problem.endswith('cannot be "big"; it must be a whole number from 11 to 20')


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("[ui\n", ", line 1", "it is not TOML: [ui ("),
        ("[ui]\ntheme = dark\n", ", line 2", "it is not TOML: theme = dark ("),
        ("[ui]\ntheme = 'dark\n", ", line 2", "it is not TOML: theme = 'dark ("),
        ("[ui]\ntheme = 'dark'\ntheme = 'light'\n", ", line 3", "it is not TOML: theme = 'light' ("),
        ("[ui]\n[ui]\n", ", line 2", "it is not TOML: [ui] ("),
        ("ui.theme 'dark'\n", ", line 1", "it is not TOML: ui.theme 'dark' ("),
        ("= 3\n", ", line 1", "it is not TOML: = 3 ("),
        ("[ui]\nreading_size = 015\n", ", line 2", "it is not TOML: reading_size = 015 ("),
        ("[ui]\ntheme.x = 1\ntheme = 2\n", "", "it is not TOML: a text stands in quotes"),
        ("[ui]\nx = 1\n[engine]\nx = 1\nx = 2\n", ", line 5", "it is not TOML: x = 2 ("),
        ("[ui]\ntheme = 'dark", "", "it ends before a quote, a bracket or a brace is closed"),
        ("ui = [1,\n", "", "it ends before a quote, a bracket or a brace is closed"),
        ("ui = {theme = 'dark'\n", "", "it ends before a quote, a bracket or a brace is closed"),
        ("}\n", ", line 1", "it is not TOML: } ("),
        ("[ui]\n" + "x" * 300 + "\n", ", line 2", "it is not TOML: " + "x" * 59 + "… ("),
    ],
)
def test_a_file_that_is_not_toml_shows_the_line(tmp_path: Path, text: str, where: str, words: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    layer = read_file(path)
    (problem,) = layer.problems
    assert problem.startswith(f"{path}{where}: ")
    assert words in problem
    assert not re.search(r"(?i)unexpected|char|invalid|at line|already exists|control", problem)
    assert not layer.readable


def test_an_unknown_name_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[ui]\ncolour = 1\n[future]\n", encoding="utf-8")
    unknown, section = read_file(path).problems
    assert unknown == (
        f"{path}, line 2: there is no setting ui.colour; [ui] holds theme, interface_size, reading_size and"
        " send_key. It is kept and not used"
    )
    assert section == (
        f"{path}, line 3: there is no section [future]; the sections are engine, answer, tools and ui."
        " It is kept and not used"
    )


@pytest.mark.parametrize(
    "odd", ["", "\n", "]", "}", '"', "'", "=", "\x00", "\u2028", "\r", "[[x]]\n", "x.y = [", "\ud7ff"]
)
def test_no_file_however_odd_is_more_than_a_sentence(tmp_path: Path, odd: str) -> None:
    path, whole = tmp_path / "settings.toml", "[ui]\ntheme = \"dark\" # why\n[engine]\nkind = 'auto'\n"
    for cut in range(len(whole)):
        path.write_text(whole[:cut] + odd + whole[cut + 1 :], encoding="utf-8", newline="")
        for problem in read_file(path).problems:
            assert problem.startswith(str(path))
            assert LIBRARY.search(problem.removeprefix(str(path))) is None
