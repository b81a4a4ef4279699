"""Turns Markdown into tokens.

Invariant: HTML is text but for a few bare tags, nothing is fetched, and whatever the text is, reading it ends
in tokens: what is nested too deeply is shown as source. No Qt.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sophos_desktop.shell.transcript.markdown.readings import Readings
from sophos_desktop.shell.transcript.text.drawable_text import drawable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

DEEPEST_NESTING = 40  # levels of tokens; a list takes two
_MOST_OPEN_BRACKETS = 100
_OPENABLE = re.compile(r"(?:https?://[^\s/?#]|mailto:[^\s])", re.IGNORECASE)


def may_open(address: str) -> bool:
    """True for http, https and mailto: all else in an answer is text."""
    return _OPENABLE.match(address) is not None


class MarkdownReader:
    """One serves all answers, and keeps nothing between two texts but its parser."""

    def __init__(self) -> None:
        """Has read nothing."""
        self.readings = Readings()
        """What the answers that it serves have read of themselves."""

    def blocks(self, text: str, environment: dict[str, Any]) -> "list[Token]":
        """The block tokens of a text; `environment` is markdown-it's, with the `references`."""
        source = drawable(text)
        if _is_hostile(source):
            return _as_source(source)
        try:
            tokens = self._parser.parse(source, environment)
        except RecursionError:
            return _as_source(source)
        # The parser leaves out what is nested more deeply.
        if any(token.level >= DEEPEST_NESTING - 1 for token in tokens):
            return _as_source(source)
        return tokens

    def paragraph(self, text: str, references: Mapping[str, Any]) -> "list[Token]":
        """The tokens of a text that is one paragraph, whatever it looks like."""
        from markdown_it.token import Token

        source = drawable(text).strip()
        if _is_hostile(source):
            return _as_source(source)
        try:
            tokens = self._parser.parseInline(source, {"references": references})
        except RecursionError:
            return _as_source(source)
        return [Token("paragraph_open", "p", 1), *tokens, Token("paragraph_close", "p", -1)]

    @cached_property
    def _parser(self) -> "MarkdownIt":
        # Imported with the first answer: the window is painted 40 ms sooner.
        from markdown_it import MarkdownIt
        from mdit_py_plugins.footnote import footnote_plugin

        from sophos_desktop.shell.transcript.markdown.html_breaks import html_break_plugin
        from sophos_desktop.shell.transcript.markdown.html_images import html_image_plugin
        from sophos_desktop.shell.transcript.markdown.html_marks import html_marks_plugin
        from sophos_desktop.shell.transcript.markdown.joined_emphasis import joined_emphasis_plugin
        from sophos_desktop.shell.transcript.markdown.math_rules import math_plugin

        options = {"html": False, "linkify": False, "tasklists": True, "maxNesting": DEEPEST_NESTING}
        parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
        parser.use(footnote_plugin, inline=False, move_to_end=False, always_match_refs=True)
        parser.use(math_plugin)
        parser.use(html_image_plugin)
        parser.use(html_break_plugin)
        parser.use(html_marks_plugin)
        parser.use(joined_emphasis_plugin)
        # All are read, so that an image of any kind becomes a placeholder; see may_open.
        parser.validateLink = lambda url: True  # type: ignore[method-assign]
        # A path of Windows is shown and copied as it is written; as an address it could not be opened anyway.
        encoded = parser.normalizeLink
        parser.normalizeLink = lambda url: (  # type: ignore[method-assign]
            encoded(url) if may_open(url) or "\\" not in url else url
        )
        return parser


def _is_hostile(source: str) -> bool:
    """Brackets that nothing closes cost the parser their number squared, and say nothing."""
    return source.count("[") - source.count("]") > _MOST_OPEN_BRACKETS


def _as_source(source: str) -> "list[Token]":
    from markdown_it.token import Token

    token = Token("code_block", "code", 0)
    token.content = source
    return [token]
