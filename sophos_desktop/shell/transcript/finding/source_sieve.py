"""Says which sources may show words, so that only their documents are built to look for these.

Invariant: never a false no. Marks may stand within a word that is seen as one (`he**ll**o`, `[link](u).`),
and some of what is seen stands in no source (numbers of notes and items, what entities mean). No Qt.
"""

import re
from unicodedata import normalize

from sophos_desktop.shell.transcript.markdown.html_marks import HTML_TAG
from sophos_desktop.shell.transcript.text.text_search import COMBINING, folded

_MARKS = "*_~`\\<>"  # what emphasis, code, escapes and addresses in angles put around letters
_ENTITY = re.compile(r"&#?[0-9A-Za-z]{1,40};")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CHANGED_ADDRESS = re.compile(r"<[^<>\s]*(?:%|xn--)[^<>\s]*>", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t>*+\-0-9.)]*[0-9]{1,9}[.)](?:[ \t]|$)", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]*\.?")
_DRAWN = (
    "•◦▪☐☑\ufffc\ufffd…"  # what stands for marks, formulas, what cannot be drawn, the middle of addresses
)
_LONGEST_EDGE = 40
_BEFORE_GAP, _BEHIND_GAP = r"[\[\]]", r"[\[\])]"


class SourceSieve:
    """For one search; cheap to make."""

    def __init__(self, needle: str) -> None:
        """`needle` as it is searched for."""
        self._words = [_Word(word) for word in needle.split()]

    def may_show(self, source: str) -> bool:
        """Whether all the words may be seen in what `source` shows, wherever."""
        text = _Source(source)
        return text.is_odd or all(word.may_be_in(text) for word in self._words)

    def may_span(self, before: str, behind: str) -> bool:
        """Whether what is searched for may begin in the one and end in the other."""
        if not self._words:
            return True
        whole = _Source(before + behind)
        if whole.is_odd:
            return True
        is_between_words = before[-1:].isspace()
        if is_between_words and len(self._words) == 1:
            return False
        return all(word.may_be_in(whole) for word in self._words)


class _Source:
    """A source, looked at in what ways are needed."""

    __slots__ = ("has_combining", "has_formulas", "has_notes", "is_odd", "stripped", "text")

    def __init__(self, source: str) -> None:
        self.text = source
        is_ascii = source.isascii()
        self.is_odd = (
            "![" in source
            or ("&" in source and _ENTITY.search(source) is not None)
            or ("<" in source and _CHANGED_ADDRESS.search(source) is not None)
            or ("</" in source and HTML_TAG.search(source) is not None)
            or (not is_ascii and _SURROGATE.search(source) is not None)
        )
        self.has_notes = "[^" in source
        # One that cannot be drawn is shown as source, without the blanks beside its marks.
        self.has_formulas = "$$" in source or "\\[" in source or "\\(" in source
        self.has_combining = not is_ascii and COMBINING.search(source) is not None
        self.stripped = folded(_without_marks(source))


class _Word:
    """One word that is searched for."""

    def __init__(self, word: str) -> None:
        word = normalize("NFC", word)
        bare = folded(_without_marks(word))
        self._bare = bare
        self._marks = frozenset(word)
        self._is_number = _NUMBER.fullmatch(word) is not None
        self._may_be_of_note = any(sign.isdigit() or sign == "." for sign in word)
        self._is_composed = normalize("NFD", word) != word
        self._may_be_of_formula = any(sign in "$[]()" for sign in word)
        self._is_drawn = any(sign in _DRAWN for sign in word)
        head, tail = bare[:_LONGEST_EDGE], bare[-_LONGEST_EDGE:]
        self._heads = re.compile(_heads(head) + _BEFORE_GAP) if len(bare) > 1 else None
        self._tails = re.compile(_BEHIND_GAP + _tails(tail)) if len(bare) > 1 else None
        self._head, self._tail = head, tail

    def may_be_in(self, source: _Source) -> bool:
        if not self._bare:
            return any(mark in source.text for mark in self._marks)
        if self._bare in source.stripped or self._is_drawn:
            return True
        if self._is_composed and source.has_combining:
            return True
        if self._may_be_of_note and source.has_notes:
            return True
        if self._may_be_of_formula and source.has_formulas:
            return True
        if self._is_number and _ITEM.search(source.text) is not None:
            return True
        return "[" in source.stripped and self._may_be_torn(source.stripped)

    def _may_be_torn(self, stripped: str) -> bool:
        """A link begins or ends within the word: what stands before and behind it has a bracket beside it."""
        if self._heads is None or self._tails is None:
            return False
        begins = self._heads.search(stripped) is not None or (
            len(self._bare) > _LONGEST_EDGE and self._head in stripped
        )
        return begins and (
            self._tails.search(stripped) is not None
            or (len(self._bare) > _LONGEST_EDGE and self._tail in stripped)
        )


def _without_marks(text: str) -> str:
    for mark in _MARKS:
        text = text.replace(mark, "")
    return text


def _heads(word: str) -> str:
    """Matches any beginning of a word."""
    made = ""
    for sign in reversed(word[1:]):
        made = f"(?:{re.escape(sign)}{made})?"
    return re.escape(word[0]) + made


def _tails(word: str) -> str:
    """Matches any end of a word."""
    ends = (re.escape(word[at:]) for at in range(len(word)))
    return f"(?:{'|'.join(ends)})"
