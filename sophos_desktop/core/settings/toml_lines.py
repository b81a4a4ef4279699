"""Says on which line of a TOML file something stands; the parser keeps no positions.

Invariant: a guess by the look of lines, for sentences alone; nothing is read from a file by it.
"""

import re
from collections.abc import Iterator

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_ASSIGNED = re.compile(r"\s*([\w.\"'\- ]+?)\s*=")


def line_of(text: str, section: str, name: str | None) -> int | None:
    """The line of a section, or of a name in it, from 1 on; None if it is not found."""
    wanted = section if name is None else f"{section}.{name}"
    for number, full, is_header in _named(text):
        if is_header:
            if name is None and full.partition(".")[0] == section:
                return number
        elif full == wanted or full.startswith(f"{wanted}.") or (name is not None and full == section):
            return number
    return None


def line_of_second(text: str) -> int | None:
    """The line of the first name that stands for the second time in its section; None if none does."""
    seen: set[str] = set()
    for number, full, is_header in _named(text):
        if not is_header:
            if full in seen:
                return number
            seen.add(full)
    return None


def _named(text: str) -> Iterator[tuple[int, str, bool]]:
    """The number of each line that names something, what it names in full, and whether that is a section."""
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            section = header[1].strip("\"'")
            yield number, section, True
        elif assigned := _ASSIGNED.match(line):
            full = f"{section}.{assigned[1]}".lstrip(".")
            yield number, re.sub(r"[\"' ]", "", full), False
