"""Finds words in a text whatever their case.

Invariant: pure; the places are those of the text as it is, not of a changed copy. `ß` is found by `ss` and
the other way round. No Qt.
"""

import re
from collections.abc import Iterator

_SLICE = 1 << 20  # characters that are looked at in one go
_LONGEST_NEEDLE = 1_000


def pattern_of(needle: str) -> re.Pattern[str] | None:
    """What finds `needle`; None for nothing to find. Blanks match any run of blanks and line ends."""
    words = needle[:_LONGEST_NEEDLE].split()
    if not words:
        return re.compile(re.escape(needle)) if needle else None
    edges = (r"\s" if needle[0].isspace() else "", r"\s" if needle[-1].isspace() else "")
    return re.compile(edges[0] + r"\s+".join(_word_pattern(word) for word in words) + edges[1], re.IGNORECASE)


def _word_pattern(word: str) -> str:
    # IGNORECASE knows pairs of single letters; full case folding knows ß = ss as well.
    return re.sub("ss|ß|ẞ", "(?:ss|ß)", re.escape(word), flags=re.IGNORECASE)


def places(text: str, needle: str, most: int) -> list[tuple[int, int]]:
    """Start and end of the first `most` places."""
    found: list[tuple[int, int]] = []
    for place in _places(text, needle):
        found.append(place)
        if len(found) >= most:
            break
    return found


def _places(text: str, needle: str) -> Iterator[tuple[int, int]]:
    pattern = pattern_of(needle)
    if pattern is None:
        return
    for match in pattern.finditer(text):
        yield match.span()


def is_in(text: str, word: str) -> bool:
    """Whether a word is in a text; quick where both are ASCII."""
    if text.isascii() and word.isascii():
        return word.lower() in text.lower()
    pattern = pattern_of(word)
    return pattern is None or pattern.search(text) is not None


class Searched:
    """A long text that is searched again and again. Lower case is kept, which is ten times as quick."""

    def __init__(self, text: str) -> None:
        """Cheap."""
        self._text = text
        self._lower: str | None = None

    def first_after(self, needle: str, start: int) -> tuple[int, int] | None:
        """The first place at or behind `start`."""
        lower = self._lowered(needle)
        if lower is not None:
            return _span(lower.find(needle.lower(), start), needle)
        pattern = pattern_of(needle)
        match = None if pattern is None else pattern.search(self._text, start)
        return None if match is None else match.span()

    def last_before(self, needle: str, end: int) -> tuple[int, int] | None:
        """The last place that starts before `end`."""
        lower = self._lowered(needle)
        if lower is not None:
            return _span(lower.rfind(needle.lower(), 0, max(0, end - 1 + len(needle))), needle)
        return _last_before(self._text, needle, end)

    def _lowered(self, needle: str) -> str | None:
        """The text in lower case, if its places are the same and no ß needs care. Blanks are then those of
        the needle."""
        if not needle or not needle.isascii() or "ss" in needle.lower():
            return None
        if self._lower is None:
            self._lower = self._text.lower()
        return self._lower if len(self._lower) == len(self._text) else None


def _span(start: int, needle: str) -> tuple[int, int] | None:
    return None if start < 0 else (start, start + len(needle))


def _last_before(text: str, needle: str, end: int) -> tuple[int, int] | None:
    pattern = pattern_of(needle)
    if pattern is None:
        return None
    stop = end
    while stop > 0:
        start = max(0, stop - _SLICE)
        last = None
        for match in pattern.finditer(text, start, min(len(text), stop + _LONGEST_NEEDLE)):
            if match.start() >= end:
                break
            last = match.span()
        if last is not None:
            return last
        stop = start
    return None
