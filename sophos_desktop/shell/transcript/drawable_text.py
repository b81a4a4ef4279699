"""Makes any text safe to hand to Qt.

Invariant: what comes out has no lone surrogate, no NUL and none of the characters that Qt takes for the ends
of its own paragraphs and frames.
"""

import re
from typing import Final

_REPLACEMENT: Final = "\ufffd"
# NUL; Qt's object mark; its frame marks; its paragraph mark; separators that would end a block.
_UNSAFE = re.compile("[\0\ufffc\ufdd0\ufdd1\u2029\x1c-\x1f\x0b\x0c\x85]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def drawable(text: str) -> str:
    """`text` with halves of characters joined and what cannot be drawn replaced."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNSAFE.sub(_REPLACEMENT, text)


def drawable_code(text: str) -> str:
    """The same for code, where a mark that turns the direction must be seen: it may hide what runs."""
    return _DIRECTION_MARKS.sub(_REPLACEMENT, drawable(text))
