"""A Markdown rule for emphasis in scripts that are written without blanks between words.

Invariant: only runs of `*` beside a Chinese, Japanese or Korean character are read here, so that punctuation
inside the marks does not keep them from opening or closing; CommonMark's own rule reads all others. No Qt.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

_JOINED = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def joined_emphasis_plugin(parser: "MarkdownIt") -> None:
    """Add the rule to a parser."""
    parser.inline.ruler.before("emphasis", "joined_emphasis", _rule)


def _rule(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    from markdown_it.rules_inline.state_inline import Delimiter

    start = state.pos
    if silent or state.src[start] != "*":
        return False
    length = state.scanDelims(start, True).length
    before = state.src[start - 1 : start]
    behind = state.src[start + length : min(start + length + 1, state.posMax)]
    if not _JOINED.match(before) and not _JOINED.match(behind):
        return False
    can_open = _may_stand(behind, before)
    can_close = _may_stand(before, behind)
    for _ in range(length):
        token = state.push("text", "", 0)
        token.content = "*"
        state.delimiters.append(
            Delimiter(
                marker=ord("*"),
                length=length,
                token=len(state.tokens) - 1,
                end=-1,
                open=can_open,
                close=can_close,
            )
        )
    state.pos += length
    return True


def _may_stand(inside: str, outside: str) -> bool:
    """Whether marks may stand between `inside`, the nearest character in them, and `outside`, that beside."""
    if not inside or inside.isspace():
        return False
    if not outside or outside.isspace() or not _is_sign(inside):
        return True
    return _is_sign(outside) or _JOINED.match(outside) is not None


def _is_sign(character: str) -> bool:
    from markdown_it.common.utils import isMdAsciiPunct, isPunctChar

    return isMdAsciiPunct(ord(character)) or isPunctChar(character)
