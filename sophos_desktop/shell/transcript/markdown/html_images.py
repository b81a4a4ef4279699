"""A Markdown rule for `<img src="…">`: such an image is a placeholder as any other.

Invariant: nothing is fetched; a tag without an address stays source, as all other HTML does. No Qt.
"""

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

_TAG = re.compile(r"<img(?=[\s/])([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""(?:^|[\s/"'])(src|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=`]+))""", re.IGNORECASE
)


def html_image_plugin(parser: "MarkdownIt") -> None:
    """Add the rule to a parser."""
    parser.inline.ruler.before("autolink", "html_image", _rule)


def _rule(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    if state.src[state.pos] != "<":
        return False
    found = _TAG.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    values: dict[str, str] = {}
    for name, *quoted in _ATTRIBUTE.findall(found.group(1)):
        values.setdefault(name.lower(), unescape("".join(quoted)).strip())
    if not values.get("src"):
        return False
    if not silent:
        token = state.push("image", "img", 0)
        token.attrs = {"src": values["src"], "alt": ""}
        token.content = " ".join(values.get("alt", "").split())
    state.pos = found.end()
    return True
