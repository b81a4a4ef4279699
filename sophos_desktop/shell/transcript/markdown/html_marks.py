"""Markdown rules for the HTML that models write: bold, raised, struck-out words, keys, and details that fold.

Invariant: only these bare tags, in pairs within one block, are read; all other HTML stays source, and
nothing is fetched or run. What `<details>` folds away elsewhere is shown. No Qt.
"""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

KINDS: Final = {
    "b": "strong",
    "strong": "strong",
    "summary": "strong",
    "i": "em",
    "em": "em",
    "s": "s",
    "del": "s",
    "u": "underline",
    "ins": "underline",
    "sub": "lowered",
    "sup": "raised",
    "kbd": "key",
}
"""What a tag means, by its name: the type of its token without `_open` and `_close`."""
HIDDEN: Final = "html_hidden"

_NAMES = "|".join(KINDS)
_OPENING = re.compile(rf"<({_NAMES})>", re.IGNORECASE)
HTML_TAG: Final = re.compile(rf"</(?:{_NAMES}|details)\s*>", re.IGNORECASE)
"""Tells that a text may hold what these rules leave out of what is shown."""
_DETAILS = re.compile(r"</?details(?:[ \t]+open)?[ \t]*>", re.IGNORECASE)


def html_marks_plugin(parser: "MarkdownIt") -> None:
    """Add the rules to a parser."""
    parser.inline.ruler.before("autolink", "html_marks", _mark)
    parser.inline.ruler.before("autolink", "html_details", _details)


def _mark(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != "<" or state.level >= state.md.options["maxNesting"]:
        return False
    found = _OPENING.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    closing = _closing(state, found.group(1), found.end())
    if closing is None or not state.src[found.end() : closing.start()].strip():
        return False
    end = state.posMax
    if not silent:
        kind = KINDS[found.group(1).lower()]
        opened = state.push(f"{kind}_open", found.group(1).lower(), 1)
        opened.markup = found.group()
        state.pos, state.posMax = found.end(), closing.start()
        state.md.inline.tokenize(state)
        closed = state.push(f"{kind}_close", found.group(1).lower(), -1)
        closed.markup = closing.group()
    state.pos, state.posMax = closing.end(), end
    return True


def _closing(state: "StateInline", name: str, start: int) -> re.Match[str] | None:
    """The tag that closes what begins at `start`: not one within code, a link or another pair."""
    tag = re.compile(rf"</{name}>", re.IGNORECASE)
    if tag.search(state.src, start, state.posMax) is None:
        return None
    before = state.pos
    state.pos = start
    try:
        while state.pos < state.posMax:
            if (found := tag.match(state.src, state.pos, state.posMax)) is not None:
                return found
            state.md.inline.skipToken(state)
    finally:
        state.pos = before
    return None


def _details(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != "<":
        return False
    found = _DETAILS.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push(HIDDEN, "details", 0).markup = found.group()
    state.pos = found.end()
    return True
