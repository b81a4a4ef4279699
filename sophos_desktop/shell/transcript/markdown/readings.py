"""Remembers what was read last, so that what is drawn again in another style or width is not read again.

Invariant: what is given for a segment is what reading it now would give. No Qt.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from sophos_desktop.shell.transcript.markdown.segments import Segment

if TYPE_CHECKING:
    from markdown_it.token import Token

LIMIT = 64  # segments, of all answers together: more than a screen shows


class Readings:
    """One serves all answers of a conversation; nobody changes the tokens that it gives."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Empty."""
        self._limit = limit
        self._kept: OrderedDict[tuple[object, int], tuple[Segment, list[Token]]] = OrderedDict()

    def __len__(self) -> int:
        """How many segments are remembered."""
        return len(self._kept)

    def tokens(self, answer: object, segment: Segment, read: "Callable[[], list[Token]]") -> "list[Token]":
        """The tokens of a segment; `answer` is the same object for all segments of an answer."""
        key = (answer, segment.index)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == segment:
            self._kept.move_to_end(key)
            return kept[1]
        tokens = read()
        self._kept[key] = (segment, tokens)
        self._kept.move_to_end(key)
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)
        return tokens

    def forget(self, answer: object) -> None:
        """What the segments of an answer say depends on others, which changed."""
        for key in [key for key in self._kept if key[0] is answer]:
            del self._kept[key]
