"""Says what a single line of Markdown may begin.

Invariant: the answer depends on that line alone. The rules are CommonMark's for the first character of a
block; what depends on the lines before is the splitter's to decide. No Qt.
"""

import re
from dataclasses import dataclass
from enum import Enum

from sophos_desktop.shell.transcript.markdown.segments import Fence, columns_of

MATH_LIMIT = 3_000  # characters; a longer formula is text
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\r\n]*)$")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_SETEXT = re.compile(r"(?:=+|-+)[ \t]*$")
_ITEM = re.compile(r"([-+*]|\d{1,9}[.)])([ \t]+|$)(.*)")
_FOOTNOTE = re.compile(r"\[\^[^\s\]]+\]:")
_DEFINITION = re.compile(r" {0,3}\[[^\[\]^][^\[\]]*\]:[ \t]*\S")
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CONTAINERS = re.compile(r"(?:[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+|[ \t]*>[ \t]?)*")
_ESCAPED_PIPE = re.compile(r"\\\|")
_MATH_CLOSERS = {"$$": "$$", "\\[": "\\]"}


class LineKind(Enum):
    """What a line begins, unless it goes on with what is open."""

    TEXT = "text"
    INDENTED = "indented"
    FENCE = "fence"
    HEADING = "heading"
    RULE = "rule"
    QUOTE = "quote"
    ITEM = "item"
    FOOTNOTE = "footnote"
    MATH = "math"
    MATH_LINE = "math line"


@dataclass(frozen=True, slots=True)
class Line:
    """`marker`: the list's character (`-`, `+`, `*`, `.`, `)`), or the closing mark of a formula.
    `content_indent`: the column at which the content of a list item begins. `interrupts`: may end a
    paragraph without a blank line between.
    """

    kind: LineKind
    indent: int
    interrupts: bool = True
    marker: str = ""
    content_indent: int = 0
    fence: Fence | None = None


_TEXT = tuple(Line(LineKind.TEXT, indent, interrupts=False) for indent in range(4))


def read_line(text: str) -> Line:
    """`text` has no line end and is not blank."""
    indent = columns_of(text)
    if indent >= 4:
        return Line(LineKind.INDENTED, indent, interrupts=False)
    rest = text.lstrip(" \t")
    first = rest[0]
    if first.isalpha():
        return _TEXT[indent]
    return _read_mark(text, rest, first, indent)


def _read_mark(text: str, rest: str, first: str, indent: int) -> Line:
    if first in "`~":
        fence = read_fence(text)
        if fence is not None:
            return Line(LineKind.FENCE, indent, fence=fence)
    elif first == "#" and _HEADING.match(rest):
        return Line(LineKind.HEADING, indent)
    elif first == ">":
        return Line(LineKind.QUOTE, indent)
    elif first in "*-_" and _RULE.match(rest):
        return Line(LineKind.RULE, indent)
    elif first == "[" and _FOOTNOTE.match(rest):
        return Line(LineKind.FOOTNOTE, indent, marker="[^", content_indent=4)
    elif first in "$\\":
        closer = math_closer(rest)
        if closer is not None:
            kind = LineKind.MATH if closer else LineKind.MATH_LINE
            return Line(kind, indent, marker=closer)
    item = _ITEM.match(rest) if first in "-+*" or first.isdigit() else None
    return _read_item(item, indent) if item else _TEXT[indent]


def _read_item(item: re.Match[str], indent: int) -> Line:
    mark, space, content = item.groups()
    wide = columns_of(" " * (indent + len(mark)) + space) - indent - len(mark) if content else 1
    content_indent = indent + len(mark) + (wide if wide <= 4 else 1)
    interrupts = bool(content) and (not mark[0].isdigit() or int(mark[:-1]) == 1)
    return Line(LineKind.ITEM, indent, interrupts=interrupts, marker=mark[-1], content_indent=content_indent)


def read_fence(text: str) -> Fence | None:
    """The fence that a line opens, or None; any indentation."""
    found = _FENCE.match(text)
    if found is None:
        return None
    mark, info = found.groups()
    if mark[0] == "`" and "`" in info:
        return None
    return Fence(mark[0], len(mark), columns_of(text), info.strip())


def closes(fence: Fence, text: str, container_indent: int = 0) -> bool:
    """Whether a line closes the fence."""
    rest = text.strip(" \t")
    return (
        len(rest) >= fence.length
        and rest.count(fence.mark) == len(rest)
        and columns_of(text) - container_indent < 4
    )


def is_setext(text: str) -> bool:
    """Whether a line makes a heading of the paragraph above it."""
    return columns_of(text) < 4 and _SETEXT.match(text.lstrip(" \t")) is not None


def is_definition(text: str) -> bool:
    """Whether a line may define a link."""
    return _DEFINITION.match(text) is not None


def is_table_head(header: str, delimiters: str) -> bool:
    """Whether two lines begin a table."""
    if "|" not in header or columns_of(header) >= 4 or columns_of(delimiters) >= 4:
        return False
    bare = delimiters.strip(" \t")
    if len(bare) < 2 or not _DELIMITERS.match(bare):
        return False
    return _cell_count(header) == _cell_count(bare)


def _cell_count(row: str) -> int:
    bare = _ESCAPED_PIPE.sub("", row).strip(" \t")
    return bare.removeprefix("|").removesuffix("|").count("|") + 1


def math_closer(rest: str) -> str | None:
    """What closes the formula that a line opens: a mark, "" if it closes itself, None if it opens none."""
    opener = rest[:2]
    closer = _MATH_CLOSERS.get(opener)
    if closer is None:
        return None
    inner = rest[2:].rstrip(" \t")
    if closer not in inner:
        return closer
    closed_at_end = inner.endswith(closer) and inner.find(closer) == len(inner) - len(closer)
    return "" if closed_at_end and inner != closer else None


def math_closes(closer: str, text: str) -> bool:
    """Whether a line ends the formula."""
    return text.rstrip(" \t").endswith(closer)


def inside_containers(text: str) -> str:
    """A line without the list and quote marks before its content."""
    found = _CONTAINERS.match(text)
    return text[found.end() :] if found else text
