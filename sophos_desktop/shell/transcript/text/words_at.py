"""Finds the word around a place in a text.

Invariant: pure; the place lies within the word or at its edge. No Qt.
"""

from unicodedata import category

_FARTHEST = 4_096  # characters to either side: a word may be as long as the text


def word_around(text: str, position: int) -> tuple[int, int]:
    """Start and end of the run of letters, of blanks or of the single sign at `position`."""
    if not text:
        return 0, 0
    at = min(max(0, position), len(text) - 1)
    if text[at] == "\n":
        if at == 0 or text[at - 1] == "\n":
            return at, at
        at -= 1
    kind = _kind(text[at])
    start, end = at, at + 1
    if kind == "sign":
        return start, end
    while start > max(0, at - _FARTHEST) and _kind(text[start - 1]) == kind:
        start -= 1
    while end < min(len(text), at + _FARTHEST) and _kind(text[end]) == kind:
        end += 1
    return start, end


def _kind(character: str) -> str:
    if character == "\n":
        return "end"
    if character.isspace():
        return "blank"
    # Letters and figures, what is written over and under them, halves of characters.
    return "word" if character == "_" or category(character)[0] in "LNMC" else "sign"
