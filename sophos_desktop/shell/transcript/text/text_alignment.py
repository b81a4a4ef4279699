"""Finds a place of one text in another that says nearly the same: Markdown and what it looks like, an open
block before and after more of it came.

Invariant: words that both have in the same order belong together (a longest common subsequence); where
nothing before a place differs, it is the same place. Works on any text, in bounded time. No Qt.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"[0-9A-Za-z\u00c0-\u024f]+|\S")
_MOST_CELLS = 16_000_000  # bits: two texts of 4,000 words each, two megabytes, ten milliseconds


def place_in(before: str, place: int, after: str) -> int:
    """The index in `after` of what stands at `place` of `before`; of the next thing there if that is gone.

    `place` and the result count characters, from 0 to the length of the text.
    """
    place = min(place, len(before))
    if place <= len(after) and before[:place] == after[:place]:
        return place
    old, new = list(_WORD.finditer(before)), list(_WORD.finditer(after))
    if not old or not new:
        return min(place, len(after))
    matches = _matches([word[0] for word in old], [word[0] for word in new])
    # The word that covers the place, or the first one behind it.
    word = bisect_right(old, place, key=lambda found: found.start()) - 1
    if word < 0 or old[word].end() <= place:
        word += 1
    known = bisect_right(matches, word, key=lambda pair: pair[0]) - 1
    if known >= 0 and matches[known][0] == word:
        begins = new[matches[known][1]].start()
        return begins + max(0, place - old[word].start())
    if known + 1 < len(matches):
        return new[matches[known + 1][1]].start()
    return new[matches[known][1]].end() if matches else min(place, len(after))


def _matches(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Indices of the words that belong together, ascending."""
    first, last, shorter = 0, 0, min(len(before), len(after))
    while first < shorter and before[first] == after[first]:
        first += 1
    while last < shorter - first and before[-1 - last] == after[-1 - last]:
        last += 1
    matches = [(index, index) for index in range(first)]
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if old and new and len(old) * len(new) <= _MOST_CELLS:
        matches += [(first + one, first + other) for one, other in _common(old, new)]
    matches += [(len(before) - back, len(after) - back) for back in range(last, 0, -1)]
    return matches


def _common(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """The longest common subsequence, with a bit for each cell of the table (Hyyrö 2004)."""
    places: defaultdict[str, int] = defaultdict(int)
    for column, word in enumerate(after):
        places[word] |= 1 << column
    everything = (1 << len(after)) - 1
    row = everything
    rows: list[int] = []
    for word in before:
        both = row & places.get(word, 0)
        row = ((row + both) | (row - both)) & everything
        rows.append(row)
    found: list[tuple[int, int]] = []
    line, column = len(before), len(after)
    while line and column:
        bit = 1 << (column - 1)
        if rows[line - 1] & bit:
            column -= 1
            continue
        line -= 1
        if not line or rows[line - 1] & bit:
            column -= 1
            found.append((line, column))
    found.reverse()
    return found
