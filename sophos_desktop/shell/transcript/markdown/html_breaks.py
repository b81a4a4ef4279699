"""A Markdown rule for `<br>`: a line end, as two blanks at the end of a line are.

Invariant: nothing but this tag without attributes is read; all other HTML stays source. At the end of a text
it shows nothing. No Qt.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

# With the line end behind it, which would be a blank at the start of the next line.
_TAG = re.compile(r"<br[ \t]*/?>(?:[ \t]*\n[ \t]*)?", re.IGNORECASE)


def html_break_plugin(parser: "MarkdownIt") -> None:
    """Add the rule to a parser."""
    parser.inline.ruler.before("autolink", "html_break", _rule)


def _rule(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != "<":
        return False
    found = _TAG.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    is_last = state.posMax == len(state.src) and not state.src[found.end() :].strip()
    if not silent and not is_last:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True
