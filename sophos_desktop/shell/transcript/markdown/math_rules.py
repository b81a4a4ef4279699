"""Markdown rules for formulas: `$…$`, `$$…$$`, `\\(…\\)`, `\\[…\\]`.

Invariant: a formula has no blank line in it, is at most MATH_LIMIT long, and a price is never one. The block
rule reads lines with the same functions as the scanner, so that both agree where a formula ends. No Qt.
"""

from typing import TYPE_CHECKING

from sophos_desktop.shell.transcript.markdown.line_kinds import MATH_LIMIT, math_closer, math_closes
from sophos_desktop.shell.transcript.markdown.prices import (
    is_formula,
    is_prose,
    may_close_formula,
    may_open_formula,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

INLINE = "math_inline"
DISPLAY = "math_display"
BLOCK = "math_block"
_OPENERS = {"$$": ("$$", DISPLAY), "\\(": ("\\)", INLINE), "\\[": ("\\]", DISPLAY)}


def math_plugin(parser: "MarkdownIt") -> None:
    """Add the rules to a parser."""
    parser.inline.ruler.before("escape", "math_inline", _inline_rule)
    parser.block.ruler.before(
        "fence", BLOCK, _block_rule, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def _block_rule(state: "StateBlock", start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    if state.is_code_block(start_line):
        return False
    first = _line(state, start_line)
    closer = math_closer(first)
    if closer is None:
        return False
    last = start_line
    if closer:
        found = _last_line(state, start_line, end_line, closer)
        if found is None:
            return False
        last = found
    if not silent:
        state.line = last + 1
        token = state.push(BLOCK, "math", 0)
        token.block = True
        token.markup = first[:2]
        source = "\n".join(_line(state, line).rstrip() for line in range(start_line, last + 1))
        token.content = source[2:-2].strip()
        token.map = [start_line, state.line]
    return True


def _last_line(state: "StateBlock", start_line: int, end_line: int, closer: str) -> int | None:
    start = state.bMarks[start_line]
    for line in range(start_line + 1, end_line):
        is_out = state.isEmpty(line) or state.sCount[line] < state.blkIndent
        if is_out or state.eMarks[line] - start > MATH_LIMIT:
            return None
        if math_closes(closer, _line(state, line)):
            return line
    return None


def _line(state: "StateBlock", line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _inline_rule(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    opener = state.src[state.pos : state.pos + 2]
    if opener in _OPENERS:
        closer, kind = _OPENERS[opener]
        end = state.src.find(closer, state.pos + 2, state.posMax)
        content = state.src[state.pos + 2 : end] if end >= 0 else ""
        is_rating = opener == "$$" and (state.src.startswith("$", end + 2) or is_prose(content))
        if content.strip() and not is_rating:
            return _push(state, kind, content, opener, end + len(closer), silent=silent)
        return False
    if opener[:1] != "$":
        return False
    dollar = _dollar_end(state)
    if dollar is None:
        return False
    return _push(state, INLINE, state.src[state.pos + 1 : dollar], "$", dollar + 1, silent=silent)


def _push(state: "StateInline", kind: str, content: str, opener: str, end: int, *, silent: bool) -> bool:
    if not silent:
        token = state.push(kind, "math", 0)
        token.content = content.strip()
        token.markup = opener
    state.pos = end
    return True


def _dollar_end(state: "StateInline") -> int | None:
    """Where the formula that a single dollar opens is closed."""
    source, start = state.src, state.pos
    if start and not may_open_formula(source[start - 1]):
        return None
    end = source.find("$", start + 1, state.posMax)
    while end > 0 and source[end - 1] == "\\":
        end = source.find("$", end + 1, state.posMax)
    if end < 0 or not may_close_formula(source[end + 1 : end + 5]) or end - start > MATH_LIMIT:
        return None
    return end if is_formula(source[start + 1 : end]) else None
