"""Shapes of text output: tables, short ids, times, colours; and JSON as one line.

Invariant: pure functions of what they are given; nothing here writes. JSON is ASCII, so that neither a locale
nor half a surrogate pair can spoil it.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SHORTEST_ID = 4
_ELLIPSIS = "…"
_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Style:
    """Colours, or none."""

    coloured: bool

    def strong(self, text: str) -> str:
        """Headings."""
        return self._wrapped(text, "1")

    def faint(self, text: str) -> str:
        """What is read second."""
        return self._wrapped(text, "2")

    def good(self, text: str) -> str:
        """All is well."""
        return self._wrapped(text, "32")

    def bad(self, text: str) -> str:
        """Something is wrong."""
        return self._wrapped(text, "31")

    def _wrapped(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.coloured and text else text


def json_line(value: object) -> str:
    """A value as JSON on one line."""
    return json.dumps(value)


def json_document(value: object, *, indented: bool) -> str:
    """A value as JSON; on several lines where a person reads it."""
    return json.dumps(value, indent=2 if indented else None)


def short_ids(shown: Sequence[str], among: Iterable[str], *, compact: bool = True) -> Mapping[str, str]:
    """The shortest endings, all of one length, that are unique as a beginning or ending of all ids.

    Ids of one sitting begin alike, so endings are shorter. `compact`: dashes do not count."""
    plain = {text: text.replace("-", "") if compact else text for text in (*among, *shown)}
    length = SHORTEST_ID
    while length < max(map(len, plain.values()), default=0):
        fitting: Counter[str] = Counter()
        for text in plain.values():
            fitting.update({text[:length], text[-length:]})
        if all(fitting[plain[text][-length:]] == 1 for text in shown):
            break
        length += 1
    return {text: plain[text][-length:] for text in shown}


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> list[str]:
    """Columns of equal width under a heading; nothing if there are no rows."""
    if not rows:
        return []
    widths = [max(_width(line[column]) for line in (heading, *rows)) for column in range(len(heading))]

    def joined(line: Sequence[str]) -> str:
        padded = [cell + " " * (widths[column] - _width(cell)) for column, cell in enumerate(line)]
        return "  ".join(padded).rstrip()

    return [style.strong(joined(heading)), *map(joined, rows)]


def _width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def one_line(text: str, limit: int = 80) -> str:
    """A text without line ends, cut to `limit` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + _ELLIPSIS


def arguments(args: Mapping[str, Any], limit: int = 100) -> str:
    """A call's arguments, as JSON that a person can read."""
    return one_line(visible(json.dumps(dict(args), ensure_ascii=False)), limit)


def visible(text: str) -> str:
    """A text whose invisible signs (control, direction, line ends, half pairs) are written out as escapes."""
    return "".join(
        f"\\u{ord(sign):04x}" if unicodedata.category(sign) in _INVISIBLE else sign for sign in text
    )


def moment(at: str | None) -> str:
    """A stored time without its milliseconds: UTC, ISO 8601."""
    return f"{at[:19]}Z" if at else ""


def size(count: int) -> str:
    """Bytes for people."""
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= power:
            return f"{count / power:.1f} {unit}"
    return f"{count} B"
