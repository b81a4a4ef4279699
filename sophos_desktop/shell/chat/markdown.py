"""Parses Markdown and says which links may be opened.

Invariant: HTML in an answer is text, an image is text, and no address is ever fetched: an answer is
untrusted input.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_OPENABLE_SCHEMES = frozenset({"http", "https", "mailto"})


def parse(text: str) -> "Sequence[Token]":
    """The block tokens of a text, inline tokens as their children."""
    return _parser().parse(text)


def may_open(address: str) -> bool:
    """True for the kinds of links that may be handed to the system after asking."""
    url = QUrl(address)
    return url.isValid() and url.scheme().lower() in _OPENABLE_SCHEMES


@cache
def _parser() -> "MarkdownIt":
    # Imported with the first answer: the window is painted 40 ms sooner.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
