"""Finds words in a text whatever their case.

Invariant: pure; the places are those of the text as it is, not of a changed copy. `ß` is found by `ss` and
the other way round, and a letter with an accent however it is put together. No Qt.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from unicodedata import normalize

_SLICE = 1 << 20  # characters that are looked at in one go
_LONGEST_NEEDLE = 1_000
# What may become one character with the one before it: accents, and the second parts that Unicode's own
# composition knows (NFC_Quick_Check=Maybe), with some that it does not.
_SECONDS = (
    "\u0300-\u036f\u0653-\u0655\u093c\u09be\u09d7\u0b3e-\u0dff\u102e\u1161-\u11c2\u1ab0-\u1aff\u1b35\u1dc0-\u1dff"
    "\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f\U00011000-\U00011fff"
)
COMBINING = re.compile(f"[{_SECONDS}]")
_CLUSTER = re.compile(f"[^{_SECONDS}][{_SECONDS}]+")


def pattern_of(needle: str) -> re.Pattern[str] | None:
    """What finds `needle`; None for nothing to find. Blanks match any run of blanks and line ends."""
    needle = normalize("NFC", needle[:_LONGEST_NEEDLE])
    words = needle.split()
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
    if text.isascii() or COMBINING.search(text) is None:
        for match in pattern.finditer(text):
            yield match.span()
        return
    composed = _Composed(text)
    for match in pattern.finditer(composed.text):
        yield composed.place(match.start(), is_end=False), composed.place(match.end(), is_end=True)


class _Composed:
    """A text with its accents put into their letters, and where these were."""

    def __init__(self, text: str) -> None:
        made: list[str] = []
        self._firsts, self._spans = (
            [0],
            [(0, 0)],
        )  # where what was changed begins; where it was, and where it ends
        at = length = 0
        for found in _CLUSTER.finditer(text):
            joined = normalize("NFC", found[0])
            if len(joined) == len(found[0]):
                continue
            made += (text[at : found.start()], joined)
            length += found.start() - at
            self._firsts += (length, length + len(joined))
            self._spans += (found.span(), (found.end(), found.end()))
            length, at = length + len(joined), found.end()
        self.text = "".join([*made, text[at:]])

    def place(self, at: int, *, is_end: bool) -> int:
        """Where a place of the composed text is in the text; of a letter all belongs to it."""
        number = bisect_right(self._firsts, at) - 1
        start, end = self._spans[number]
        if start == end or at == self._firsts[number]:
            return start + at - self._firsts[number]
        return end if is_end else start


def folded(text: str) -> str:
    """A text whose letters are equal where `pattern_of` takes them as equal; its places are others."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").replace("ı", "i").casefold()


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
