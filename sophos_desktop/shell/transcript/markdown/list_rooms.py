"""How much room the numbers of a list have, so that the text of all its items begins at one edge.

Invariant: the room follows from the segment alone; a list that goes on in another segment has the same
room in each of them, up to the number of digits that was guessed at the first cut.
"""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QFontMetricsF

from sophos_desktop.shell.transcript.markdown.segments import Segment

if TYPE_CHECKING:
    from markdown_it.token import Token

_AIR = 0.33  # of the size of the letters, behind the widest number


def room_of_number(digits: int, font: QFont, least: int) -> int:
    """Pixels for a number with its full stop and the air behind it; `least` at least."""
    metrics = QFontMetricsF(font)
    widest = max(metrics.horizontalAdvance(digit) for digit in "0123456789")
    needed = digits * widest + metrics.horizontalAdvance(".") + font.pixelSize() * _AIR
    return max(least, ceil(needed))


def digits_of_list(
    tokens: "Sequence[Token]", index: int, first: int, *, is_begun: bool, piece: Segment
) -> int:
    """How many digits the widest number has of the list that `tokens[index]` opens in a segment; its first
    item is `first`, and `is_begun`: the segment before has begun the list."""
    level, items, end = tokens[index].level, 0, index + 1
    while end < len(tokens) and not (tokens[end].nesting < 0 and tokens[end].level == level):
        items += tokens[end].type == "list_item_open" and tokens[end].level == level + 1
        end += 1
    depth = sum(_is_list(token) * token.nesting for token in tokens[:index])
    goes_on = depth < piece.open_lists and all(token.nesting < 0 for token in tokens[end:])
    digits = len(str(max(first, first + items - 1)))
    return max(digits, piece.digits) if goes_on or is_begun else digits


def _is_list(token: "Token") -> bool:
    return token.type.startswith(("bullet_list", "ordered_list"))
