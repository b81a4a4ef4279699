"""Puts foreign texts into a Markdown document so that they cannot break it.

Invariant: whatever a text holds, what follows it in the document is read as if the text were not there:
blocks and elements that it leaves open are closed behind it, and the text itself stays as it is.
"""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BACKTICKS = re.compile("`+")
_SPECIAL = re.compile(r"[\\`*\[\]<>~]|(?<![^\W_])_|_(?![^\W_])|&(?=#|\w+;)|^#|#(?=#*\s*$)", re.MULTILINE)

# What goes on over blank lines until it is closed; anything else ends with the next heading.
_MAY_STAY_OPEN = re.compile(
    r"^ {0,3}(?:`{3}|~{3}|<[!?]|<(?:script|pre|style|textarea)\b)", re.MULTILINE | re.IGNORECASE
)
_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})(.*)$", re.MULTILINE)
_HTML_LINE = re.compile(r"^ {0,3}<", re.MULTILINE)
_SENTINEL = "\n\n## end\n"
_CLOSERS = (("<!--", "-->"), ("<?", "?>"), ("<![cdata[", "]]>"), ("<!", ">"))
_ROUNDS = 4

# Elements that take in, or hide, what follows them if they are left open.
_ELEMENTS = (
    "audio|canvas|details|dialog|div|fieldset|form|iframe|math|noembed|noframes|noscript|object|pre|script|"
    "select|style|svg|table|template|textarea|title|video|xmp"
)
_MAY_BE_ELEMENT = re.compile(rf"<(?:{_ELEMENTS})\b", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(rf"<(/?)({_ELEMENTS})\b(?:[^>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)

_blocks = MarkdownIt("commonmark").disable("inline")
_whole = MarkdownIt("commonmark")


def plain(text: str) -> str:
    """The text with LF as its only line end; control characters show as pictures, and half a surrogate pair
    as the replacement character."""
    if _ODD.search(text) is None:
        return text
    return _ODD.sub(_shown, text.replace("\r\n", "\n").replace("\r", "\n"))


def _shown(found: "re.Match[str]") -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def fenced(text: str, language: str) -> str:
    """A code block: its fence is longer than any row of backticks in the text."""
    text = plain(text)
    longest = max((len(row) for row in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def code_span(text: str) -> str:
    """The text as code on one line."""
    text = " ".join(plain(text).split())
    if not text:
        return ""
    longest = max((len(row) for row in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"


def escaped(text: str) -> str:
    """The text as it reads, with nothing in it that means something in Markdown."""
    return _SPECIAL.sub(lambda found: "\\" + found.group(), plain(text))


def quoted(text: str) -> str:
    """A block quote."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def closed(text: str) -> str:
    """Markdown as it was written, with what it leaves open closed behind it."""
    text = plain(text)
    result = text
    if _MAY_STAY_OPEN.search(text) is not None and not _fences_match(text):
        for _ in range(_ROUNDS):
            closer = _block_closer(result)
            if closer is None:
                break
            result += ("" if result.endswith("\n") else "\n") + closer
        else:
            return fenced(text, "markdown")
    if _MAY_BE_ELEMENT.search(text) is not None and (left := [*_open_elements(result)]):
        result = result.rstrip("\n") + "\n\n" + "".join(f"</{name}>" for name in reversed(left))
    return result


def _fences_match(text: str) -> bool:
    """True if every fence is surely closed; a short cut for most texts with code, past the slow parser.

    A fence without an indent is one whatever block is open around it, but for a block of HTML."""
    if _HTML_LINE.search(text) is not None:
        return False
    opening = ""
    for indent, row, rest in _FENCE.findall(text):
        if indent:
            return False
        if not opening:
            # With a backtick behind it, it is code within a line.
            opening = "" if row[0] == "`" and "`" in rest else row
        elif row.startswith(opening) and not rest.strip(" \t"):
            opening = ""
    return not opening


def _block_closer(text: str) -> str | None:
    """What ends the block that swallows a heading behind the text; None if none does."""
    last = _blocks.parse(text + _SENTINEL)[-1]
    if last.type == "heading_close" and last.level == 0:
        return None
    if last.type == "fence":
        return last.markup
    opening = last.content.lstrip().lower()
    for beginning, end in _CLOSERS:
        if opening.startswith(beginning):
            return end
    element = re.match(r"<([a-z]+)", opening)
    return f"</{element[1]}>" if element else ""


def _open_elements(text: str) -> list[str]:
    """The elements of HTML that the text opens and does not close, outermost first."""
    stack: list[str] = []
    html = _COMMENT.sub("", "\n".join(_html_of(_whole.parse(text))))
    for slash, name in _TAG.findall(html):
        name = name.lower()
        if not slash:
            stack.append(name)
        elif name in stack:
            del stack[len(stack) - 1 - stack[::-1].index(name) :]
    return stack


def _html_of(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("html_block", "html_inline"):
            yield token.content
        elif token.children:
            yield from _html_of(token.children)
