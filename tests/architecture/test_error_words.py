"""What the app says when something fails: a sentence in our words, and what to do about it.

Invariant: read off the source, so that an error nobody provoked in a test is looked at too.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.sources import ROOT

_NAMES = ("SophosError", "EngineRefusal")
# They hand on an error that was made elsewhere, or put one together again.
_HAND_ON = ("core/domain/errors.py", "shell/chat/run_words.py")
# What a library or an engine said, or the name of a class.
_RAW = ("__name__", "words", "body", "repr")
# The words of a check or a server of ours, each a sentence.
_OURS = ("status.reason", "verdict.reason", "problem")


@dataclass(frozen=True, slots=True)
class Made:
    """One place where an error is made."""

    place: str
    title: ast.expr | None
    remedy: ast.expr | None


def _errors() -> Iterator[Made]:
    package = ROOT / "sophos_desktop"
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name in _HAND_ON:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in _NAMES:
                continue
            if any(isinstance(argument, ast.Starred) for argument in node.args):
                continue
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            words = [*node.args[1:3], None, None]
            yield Made(
                f"{name}:{node.lineno}", words[0] or given.get("title"), words[1] or given.get("remedy")
            )


ERRORS = tuple(_errors())


def test_the_errors_are_found() -> None:
    assert len(ERRORS) > 120


@pytest.mark.parametrize("made", ERRORS, ids=lambda made: made.place)
def test_every_error_has_a_sentence_without_a_stop_and_something_to_do(made: Made) -> None:
    assert made.title is not None
    assert made.remedy is not None, "say what a person can do now"
    for words in (made.title, made.remedy):
        if isinstance(words, ast.Constant):
            assert str(words.value).strip()
            assert not str(words.value).endswith(".")
            assert str(words.value)[:1].upper() == str(words.value)[:1] or str(words.value).startswith("--")


@pytest.mark.parametrize("made", ERRORS, ids=lambda made: made.place)
def test_no_title_holds_the_raw_words_of_others(made: Made) -> None:
    assert made.title is not None
    parts = [part for part in ast.walk(made.title) if isinstance(part, ast.FormattedValue)]
    for part in parts:
        source = ast.unparse(part.value)
        if not any(source.startswith(ours) for ours in _OURS):
            last = source.rpartition(".")[2]
            assert not any(raw == last or raw in source.split(".") for raw in _RAW), source
            assert source not in ("error", "str(error)"), source
