"""Lays a JSON value out as lines that can be folded, and finds its colours.

Invariant: pure, no Qt. What fits into the width stays on one line; a folded part says how much is in it; the
same value, width and folds give the same lines. What is not seen stands there as an escape.
"""

import json
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any, Final

from sophos_desktop.shell.transcript.text.drawable_text import escaped

Path = tuple[int, ...]
LARGEST: Final = 256 * 1024  # characters; longer text is shown as it is
_DEEPEST = 60
_MANY = 40  # parts of a value that starts folded
_FOLDED_FROM = 4  # levels
_SCALAR_LIMIT = 100_000
_PARTS = re.compile(
    r'(?P<type>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<string>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<keyword>\b(?:true|false|null)\b)"
    r"|(?P<comment>… \d[\d,]* (?:keys?|items?))"
)
_COMPACT_LINES = 3  # a value that fits into these is not laid out
_HANGING = "  "
_PIECES = re.compile(r'(?:[\[{]*"(?:[^"\\]|\\.)*"[\]},:]*|[^\s"]+)\s?')
_LONGEST_COLOURED = 20_000


@dataclass(frozen=True, slots=True)
class Fold:
    """A part that can be folded, by the number of its line."""

    line: int
    path: Path
    is_folded: bool


@dataclass(frozen=True, slots=True)
class JsonText:
    """`text` and, by line, what can be folded in it."""

    text: str
    folds: tuple[Fold, ...]


def read_json(text: str) -> Any:
    """The value, if `text` is an object or an array that is worth folding; else None."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[")) or len(stripped) > LARGEST:
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def first_folds(value: Any) -> frozenset[Path]:
    """What is folded at first: long parts, and what is deep inside."""
    return frozenset(_long_parts(value, ()))


def _long_parts(value: Any, path: Path) -> Iterator[Path]:
    if not isinstance(value, dict | list) or not value:
        return
    if path and (len(value) > _MANY or len(path) >= _FOLDED_FROM):
        yield path
    if len(path) < _FOLDED_FROM:
        for number, inner in enumerate(value.values() if isinstance(value, dict) else value):
            yield from _long_parts(inner, (*path, number))


def lay_out(value: Any, columns: int, folded: Set[Path] | None = None) -> JsonText:
    """The lines of a value, each within `columns` if it can be. `folded`: None until the reader folds."""
    if folded is None:
        whole = _fitting(value, _COMPACT_LINES * columns)
        if whole is not None:
            compact = _compact(whole, columns)
            if compact is not None:
                return JsonText(compact, ())
        folded = first_folds(value)
    writer = _Writer(max(20, columns), folded)
    writer.write("", value, "", ())
    return JsonText("\n".join(writer.lines), tuple(writer.folds))


class _Writer:
    def __init__(self, columns: int, folded: Set[Path]) -> None:
        self.columns = columns
        self.folded = folded
        self.lines: list[str] = []
        self.folds: list[Fold] = []

    def write(self, before: str, value: Any, after: str, path: Path) -> None:
        """`before`: the key; `after`: a comma."""
        indent = "  " * min(len(path), _DEEPEST)
        if not isinstance(value, dict | list) or not value:
            self.lines.append(f"{indent}{before}{_scalar(value)}{after}")
            return
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        line = len(self.lines)
        if path in self.folded or len(path) >= _DEEPEST:
            self.folds.append(Fold(line, path, is_folded=True))
            self.lines.append(f"{indent}{before}{opening} … {_count(value)} {closing}{after}")
            return
        room = self.columns - len(indent) - len(before) - len(after)
        whole = _fitting(value, room)
        if whole is not None:
            self.lines.append(f"{indent}{before}{whole}{after}")
            return
        self.folds.append(Fold(line, path, is_folded=False))
        self.lines.append(f"{indent}{before}{opening}")
        last = len(value) - 1
        if isinstance(value, dict):
            for number, (key, inner) in enumerate(value.items()):
                comma = "," if number < last else ""
                self.write(f"{_scalar(key)}: ", inner, comma, (*path, number))
        else:
            for number, inner in enumerate(value):
                self.write("", inner, "," if number < last else "", (*path, number))
        self.lines.append(f"{indent}{closing}{after}")


def _fitting(value: Any, room: int) -> str | None:
    """The value on one line if it is at most `room` long; stops as soon as it is not."""
    parts: list[str] = []
    used = 0
    for part in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        part = escaped(part)
        used += len(part)
        if used > room:
            return None
        parts.append(part)
    return "".join(parts)


def _compact(whole: str, columns: int) -> str | None:
    """A short value in few lines, broken between its parts; None if it cannot be."""
    lines, start, last = [], 0, 0
    room = columns
    for match in _PIECES.finditer(whole):
        if match.end() - start > room and last > start:
            lines.append(whole[start:last].rstrip())
            start, room = last, columns - len(_HANGING)
        if match.end() - start > room:
            return None  # one part alone is too long
        last = match.end()
    lines.append(whole[start:])
    return ("\n" + _HANGING).join(lines) if len(lines) <= _COMPACT_LINES else None


def _scalar(value: Any) -> str:
    if isinstance(value, str) and len(value) > _SCALAR_LIMIT:
        value = value[:_SCALAR_LIMIT] + "…"
    return escaped(json.dumps(value, ensure_ascii=False))


def _count(value: dict[str, Any] | list[Any]) -> str:
    word = "key" if isinstance(value, dict) else "item"
    return f"{len(value):,} {word}" if len(value) == 1 else f"{len(value):,} {word}s"


def colours_of(line: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and token of each coloured part of a line; none for a very long one."""
    if len(line) > _LONGEST_COLOURED:
        return
    for match in _PARTS.finditer(line):
        if match.lastgroup is not None:
            yield match.start(), match.end(), f"code_{match.lastgroup}"
