"""Says what a text costs to draw, and where a paragraph that costs too much is best cut.

Invariant: what is said of a text depends on that text alone, and the cost of a beginning is never above that
of the whole. No Qt.
"""

import re
from collections.abc import Iterator
from unicodedata import category

MARK_COST = 12
"""Characters: what stands between two marks has a format of its own, and Qt lays it out as a piece of its
own; that takes as long as a dozen letters more."""
_CARD_COST = 60  # an image that is not loaded has a block, a frame and a button
_LONGEST_CLUSTER = 64
_JOINER = "\u200d"
# A mark counts where it begins, or where it is complete: what follows must not change what was counted.
_MARKS = re.compile(
    r"(?P<card>(?<=!)\[|(?<=<img)\s)|\*{1,3}|_{1,3}|`{1,3}|~{1,2}|\${1,2}|\r\n?|[\[<|\t\n]|(?<=\\)\(|(?<=:/)/",
    re.IGNORECASE,
)
_TABS = re.compile(r"\t")
_BLANKS = " \t\n"
_INLINE = re.compile(
    r"\\[^(\[]|\\[(\[]|`+|\*+|_+|~~|\${1,2}|\[|\]\(|\]|<(?:https?://[^<>\s]*|img\s[^<>]*)>", re.IGNORECASE
)
_FORMULA_ENDS = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}


class Spent:
    """What the open segment costs as far as its lines are read, in characters."""

    __slots__ = ("_extra", "_start", "end")

    def __init__(self) -> None:
        """Nothing is read."""
        self._start = 0
        self._extra = 0
        self.end = 0
        """Up to where lines are counted."""

    @property
    def total(self) -> int:
        """Of the segment up to `end`."""
        return self.end - self._start + self._extra

    def begin(self, start: int, known: str) -> None:
        """Another segment; `known` is what of it has been read already."""
        self._start = start
        self._extra = _extra_cost(known)
        self.end = start + len(known)

    def add(self, line: str, end: int, *, is_code: bool) -> None:
        """The next line, with its line end as far as `end`."""
        self._extra += 0 if is_code else _extra_cost(line) + MARK_COST
        self.end = end


def _extra_cost(text: str) -> int:
    cards = _MARKS.findall(text)  # of a mark that is none it gives ""
    return MARK_COST * len(cards) + (_CARD_COST - MARK_COST) * (len(cards) - cards.count(""))


def affordable(text: str, limit: int, *, is_code: bool = False) -> int:
    """How many characters of a text cost no more than `limit`; in code only tabs are dear."""
    if len(text) * (1 + _CARD_COST) <= limit:
        return len(text)
    spent = 0
    for found in (_TABS if is_code else _MARKS).finditer(text):
        cost = _CARD_COST if found.lastgroup else MARK_COST
        if found.start() + 1 + spent + cost > limit:
            return min(found.start(), max(1, limit - spent))
        spent += cost
    return min(len(text), max(1, limit - spent))


def best_cut(text: str, end: int, *, is_code: bool = False) -> int:
    """Where in the second half of `text[:end]` a paragraph is cut: where as little as possible is open that
    may be closed later, behind a blank or else a mark; never within a character made of several.

    `text` is longer than `end`. In code nothing is open.
    """
    half = end // 2
    gaps = [(0, end, 0)] if is_code else _gaps(text, end)
    least, place = None, -1
    for start, stop, count in gaps:
        if stop < half:
            continue
        blank = max(text.rfind(blank, max(start, half), stop) for blank in _BLANKS) + 1
        is_close = start >= max(half, 1) and not is_within_character(text, start)
        if blank and (least is None or (count, 0) <= least):
            least, place = (count, 0), blank
        elif is_close and (least is None or (count, 1) <= least):
            least, place = (count, 1), start
    if place > 0:
        return place
    place = end
    while end - place < _LONGEST_CLUSTER and is_within_character(text, place):
        place -= 1
    return place


def is_within_character(text: str, place: int) -> bool:
    """Whether what is shown as one character would be torn apart at `place`, which is within the text."""
    before, after = text[place - 1], text[place]
    return (
        before == _JOINER
        or "\ud800" <= before <= "\udbff"
        or (before == "\r" and after == "\n")
        or category(after)[0] == "M"
        or after == _JOINER
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def _gaps(text: str, end: int) -> Iterator[tuple[int, int, int]]:
    """What is between the marks: from where, to where, and how much is open there."""
    opened: list[str] = []
    start = 0
    while (found := _INLINE.search(text, start, end)) is not None:
        yield start, found.start(), len(opened)
        mark, start = found.group(), found.end()
        if mark in _FORMULA_ENDS or mark[0] in "`$":
            closed = _end_of_raw(text, mark, start, end)
            if closed < 0:
                opened.append(mark)
            start = max(start, closed)
        elif mark[0] in "*_~":
            _meet_emphasis(opened, mark, text, found.start(), start)
        elif mark == "[":
            opened.append(mark)
        elif mark[0] == "]":
            if "[" in opened:
                opened.remove("[")
            if mark == "](":
                closed = text.find(")", start, end)
                if closed < 0:
                    opened.append(mark)
                start = max(start, closed + 1)
    yield start, end, len(opened)


def _end_of_raw(text: str, mark: str, start: int, end: int) -> int:
    """Behind the mark that closes code or a formula; `start` if it needs none, -1 if it does not come."""
    if mark[0] == "`":
        closer = re.compile(rf"(?<!`)`{{{len(mark)}}}(?!`)").search(text, start, end)
        return closer.end() if closer else -1
    wanted = _FORMULA_ENDS.get(mark, mark)
    closed = text.find(wanted, start, end)
    if mark == "$" and (text[start].isspace() or (closed >= 0 and text[closed - 1].isspace())):
        return start  # a price
    return closed + len(wanted) if closed >= 0 else -1


def _meet_emphasis(opened: list[str], mark: str, text: str, first: int, behind: int) -> None:
    closes = first > 0 and not text[first - 1].isspace()
    opens = not text[behind].isspace()
    if mark[0] == "_" and closes and text[first - 1].isalnum() and text[behind].isalnum():
        return  # within a name
    if closes and mark in opened:
        del opened[len(opened) - 1 - opened[::-1].index(mark) :]
    elif opens:
        opened.append(mark)
