"""Reads Markdown so that each inline token knows the place in its source that it was made from.

Invariant: the tokens say what MarkdownReader's say, only that neighbouring texts are not joined; places count
characters of the inline token's own content. No Qt.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

PLACES = "places"

Place = tuple[int, int]
"""From the first to behind the last character."""


class _Step(NamedTuple):
    """The parser before it looks for the next token: where it is, where the text that it reads ends (inside
    the words of a link: these words), how many tokens there are, how many characters wait to be one."""

    position: int
    limit: int
    tokens: int
    waiting: int


class PlacedReader(MarkdownReader):
    """Its inline tokens have `meta[PLACES]`: of a text a place for each character, else one place."""

    @cached_property
    def _parser(self) -> "MarkdownIt":
        parser = super()._parser
        # Joined texts would have lost what they were made from.
        parser.core.ruler.disable("text_join")
        parser.inline.ruler2.disable("fragments_join")
        watch = _Watch()
        parser.inline.ruler.before("text", "places", watch.look)
        parser.inline.ruler2.before("balance_pairs", "places", watch.place)
        return parser


class _Watch:
    """Two rules that match nothing: one sees every step, the other the end of a text."""

    def __init__(self) -> None:
        self._steps: dict[int, list[_Step]] = {}

    def look(self, state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
        if not silent:
            step = _Step(state.pos, state.posMax, len(state.tokens), len(state.pending))
            self._steps.setdefault(id(state), []).append(step)
        return False

    def place(self, state: "StateInline") -> None:
        """Before the marks of emphasis become tokens of their own: until then each is a text."""
        end = _Step(len(state.src), len(state.src), len(state.tokens), 0)
        waiting: list[Place] = []
        for step, following in pairwise([*self._steps.pop(id(state), []), end]):
            made = state.tokens[step.tokens : following.tokens]
            stop = min(following.position, step.limit)
            if not made:
                waiting += _spread(step.position, stop, following.waiting - step.waiting)
                continue
            if step.waiting and made[0].type == "text":
                length = len(made[0].content)
                waiting += _spread(step.position, stop, length - step.waiting)
                made[0].meta[PLACES] = waiting[:length]
                del made[0]
            # What closes a link or a pair of tags follows the words between, which are read by themselves.
            if made and made[-1].nesting < 0 and following.position > step.limit:
                made.pop().meta[PLACES] = [(step.limit, following.position)]
            _place_made(made, step.position, stop, state.src)
            waiting = _spread(step.position, stop, following.waiting)


def _place_made(made: "Sequence[Token]", start: int, stop: int, source: str) -> None:
    """The tokens of one step; if their texts do not stand in the source as they are, all of it is theirs."""
    length = sum(len(token.content) for token in made if token.type == "text")
    if source[start : start + 1] == "<" and [token.type for token in made][1:2] == ["text"]:
        made[0].meta[PLACES] = [(start, start + 1)]
        made[1].meta[PLACES] = _spread(start + 1, stop - 1, length)
        made[-1].meta[PLACES] = [(stop - 1, stop)]
        return
    at = start
    for token in made:
        if token.type != "text":
            count = len(token.content) if token.type == "text_special" else 1
            token.meta[PLACES] = [(start, stop)] * count
            continue
        if length == stop - start:
            token.meta[PLACES] = _spread(at, at + len(token.content), len(token.content))
            at += len(token.content)
        else:
            token.meta[PLACES] = [(start, stop)] * len(token.content)


def _spread(start: int, stop: int, count: int) -> list[Place]:
    """The places of `count` characters that come from `start` to before `stop`."""
    if count == stop - start:
        return [(at, at + 1) for at in range(start, stop)]
    return [(start, stop)] * max(0, count)
