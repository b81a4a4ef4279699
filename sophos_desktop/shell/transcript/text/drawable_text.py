"""Makes any text safe to hand to Qt, and lets nothing in it hide or turn what stands beside it.

Invariant: what comes out has no lone surrogate, no NUL, none of the characters that Qt takes for the ends of
its own paragraphs and frames, and no override of the direction. `drawable` and `drawable_code` give as many
units of UTF-16 as they got; `escaped` does not, and of JSON it gives JSON of the same value.
"""

import re
from typing import Final

_REPLACEMENT: Final = "\ufffd"
# NUL; Qt's object mark; its frame marks; its paragraph mark; separators that would end a block.
_UNSAFE = re.compile("[\0\ufffc\ufdd0\ufdd1\u2029\x1c-\x1f\x0b\x0c\x85]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Overrides reverse all that follows. Two format characters that nobody writes and that turn nothing stand for
# them (Unicode deprecates both), so that a copy is exact.
_OVERRIDES: Final = {0x202D: "\u206e", 0x202E: "\u206f"}
_OVERRIDES_BACK: Final = {0x206E: "\u202d", 0x206F: "\u202e"}

# Scripts whose letters are joined or kept apart by U+200C and U+200D, and signs that are joined to one.
_JOINING = (
    "\u0600-\u07ff\u0840-\u085f\u0860-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1900-\u1cff"
    "\ua840-\ua8ff\ua980-\uaaff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
)
_SIGNS = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINERS = (
    f"(?<![{_JOINING}{_SIGNS}\ufe0f])[\u200c\u200d]|[\u200c\u200d](?![{_JOINING}{_SIGNS}])"
    f"|(?<![{_SIGNS}0-9#*©®])[\ufe0e\ufe0f]"
)
# Controls, soft hyphen, joiner of graphemes, fillers, marks and overrides of direction, separators, operators
# that are not seen, selectors of variants, interlinear marks, characters that are none, tags.
_HIDDEN = (
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffc\ufffe"
    "\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_UNSEEN = re.compile(f"{_HIDDEN}|{_JOINERS}")
# Qt gives a no-break space back as an ordinary one: what is edited must not be changed by that.
_UNSEEN_OR_CHANGED = re.compile(f"{_HIDDEN}|{_JOINERS}|\xa0")


def drawable(text: str) -> str:
    """`text` with halves of characters joined and what cannot be drawn replaced."""
    if text.isascii():
        return _UNSAFE.sub(_REPLACEMENT, text)
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNSAFE.sub(_REPLACEMENT, text).translate(_OVERRIDES)


def as_written(text: str) -> str:
    """What was drawn, with the overrides that were taken out of it."""
    return text if text.isascii() else text.translate(_OVERRIDES_BACK)


def drawable_code(text: str) -> str:
    """The same for code, where what is not seen or turns the direction must be: it may hide what runs."""
    return _UNSEEN.sub(_replaced, drawable(text))


def escaped(text: str) -> str:
    """`text` with the escapes of JSON for what is not seen or turns the direction. Of JSON it changes only
    what stands in strings, and gives JSON of the same value."""
    return text if text.isascii() and text.isprintable() else _UNSEEN_OR_CHANGED.sub(_as_escape, text)


def _replaced(found: re.Match[str]) -> str:
    return _REPLACEMENT if found[0] < "\U00010000" else _REPLACEMENT * 2


def _as_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
