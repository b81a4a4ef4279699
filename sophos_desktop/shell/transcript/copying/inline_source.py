"""What the inline content of one block shows, each character with its source and the marks around it.

Invariant: `shown` is in the order of the source, and a mark stands at neighbours only. What is shown as a
picture or as words of the app's own (formulas, references to footnotes, images) is one thing. No Qt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sophos_desktop.shell.transcript.markdown import math_rules
from sophos_desktop.shell.transcript.markdown.image_words import image_words
from sophos_desktop.shell.transcript.markdown.inline_places import PLACES, Place
from sophos_desktop.shell.transcript.markdown.reading import may_open

if TYPE_CHECKING:
    from markdown_it.token import Token

_FORMULA_ENDS = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_PAIRS = {
    "strong_open": "strong",
    "em_open": "em",
    "s_open": "s",
    "link_open": "link",
    "underline_open": "underline",
    "lowered_open": "lowered",
    "raised_open": "raised",
    "key_open": "key",
}


class ShownKind(Enum):
    """What one thing that is shown is."""

    TEXT = "text"  # one character
    BLANK = "blank"  # one character, a line end of the source among them
    LINE_BREAK = "line break"
    FORMULA = "formula"
    NOTE = "note"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Mark:
    """Emphasis, a link or code, with the places in the content of what opens and what closes it. `target` and
    `title` are a link's; `is_whole`: the link says in its own closing mark where it leads."""

    kind: str
    opens: Place
    closes: Place
    target: str = ""
    title: str = ""
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Shown:
    """`text`: the character, a formula's source, a footnote's label, an image's words. `row`: the number of
    the document's block within the content (an image may have one of its own), -1 where nothing is drawn."""

    kind: ShownKind
    text: str
    start: int
    end: int
    marks: tuple[Mark, ...]
    row: int
    has_own_row: bool = False

    @property
    def code(self) -> Mark | None:
        """The code that it stands in."""
        return next((mark for mark in self.marks if mark.kind == "code"), None)


def shown_of(inline: "Token", *, can_break: bool, is_begun: bool) -> tuple[Shown, ...]:
    """The things that an inline token shows. `can_break`: images and display formulas have rows of their own;
    `is_begun`: a marker stands before it."""
    reading = _Reading(inline, can_break=can_break, is_begun=is_begun or not can_break)
    for token in inline.children or ():
        reading.take(token)
    return tuple(reading.shown)


class _Reading:
    """Follows inline_writer in what begins a row and what is left out at its start."""

    def __init__(self, inline: "Token", *, can_break: bool, is_begun: bool) -> None:
        self.shown: list[Shown] = []
        self._content = inline.content
        self._can_break = can_break
        self._is_begun = is_begun
        self._row = 0 if is_begun else -1
        self._marks: list[Mark] = []
        self._is_in_link = False
        self._closes = _closing_tokens(inline.children or ())

    def take(self, token: "Token") -> None:
        kind, places = token.type, token.meta.get(PLACES, ())
        if kind in _PAIRS:
            self._open(token)
        elif kind.endswith("_close"):
            self._marks.pop()
            self._is_in_link = self._is_in_link and kind != "link_close"
        elif kind == "code_inline":
            self._code(token)
        elif kind in (math_rules.INLINE, math_rules.DISPLAY):
            source = f"{token.markup}{token.content}{_FORMULA_ENDS[token.markup]}"
            is_apart = kind == math_rules.DISPLAY and self._can_break and not self._is_in_link
            self._thing(ShownKind.FORMULA, source, places[0], is_apart=is_apart)
        elif kind == "image":
            is_apart = self._can_break and not self._is_in_link
            self._thing(ShownKind.IMAGE, image_words(token), places[0], is_apart=is_apart)
        elif kind == "footnote_ref":
            self._thing(ShownKind.NOTE, str(token.meta["label"]), places[0], is_apart=False)
        elif kind == "softbreak":
            self._add(ShownKind.BLANK, " ", places[0])
        elif kind == "hardbreak":
            self._add(ShownKind.LINE_BREAK, "\u2028", places[0])
        else:
            # A mark of two characters leaves one of its texts empty.
            for character, place in zip(token.content, places, strict=False):
                self._character(character, place)

    def _character(self, character: str, place: Place) -> None:
        if character.isspace():
            self._add(ShownKind.BLANK, character, place)
        else:
            self._begin()
            self._add(ShownKind.TEXT, character, place)

    def _code(self, token: "Token") -> None:
        start, end = token.meta[PLACES][0]
        ticks = len(token.markup)
        inner = self._content[start + ticks : end - ticks]
        air = 1 if len(inner) == len(token.content) + 2 else 0
        opens, closes = (start, start + ticks + air), (end - ticks - air, end)
        self._marks.append(Mark("code", opens, closes))
        self._begin()
        for at, character in enumerate(token.content, opens[1]):
            kind = ShownKind.BLANK if character.isspace() else ShownKind.TEXT
            self._add(kind, character, (at, at + 1))
        self._marks.pop()

    def _thing(self, kind: ShownKind, text: str, place: Place, *, is_apart: bool) -> None:
        if is_apart:
            self._row += 1
            self._add(kind, text, place, has_own_row=True)
            self._is_begun = False
            return
        self._begin()
        self._add(kind, text, place)

    def _begin(self) -> None:
        if not self._is_begun:
            self._is_begun = True
            self._row += 1

    def _add(self, kind: ShownKind, text: str, place: Place, *, has_own_row: bool = False) -> None:
        row = self._row if self._is_begun or has_own_row else -1
        self.shown.append(Shown(kind, text, *place, tuple(self._marks), row, has_own_row))

    def _open(self, token: "Token") -> None:
        places, closing = token.meta[PLACES], self._closes[id(token)]
        last, first = places[-1][1], closing.meta[PLACES][0][0]
        if token.type != "link_open":
            begins, ends = len(token.markup), len(closing.markup)
            mark = Mark(_PAIRS[token.type], (last - begins, last), (first, first + ends))
        else:
            target, title = str(token.attrs.get("href", "")), str(token.attrs.get("title", ""))
            mark_end = closing.meta[PLACES][-1][1]
            is_whole = self._content[first : first + 2] == "](" and token.markup != "autolink"
            mark = Mark("link", (places[0][0], last), (first, mark_end), target, title, is_whole)
            self._is_in_link = may_open(target)
            if self._is_in_link:
                self._begin()
        self._marks.append(mark)


def _closing_tokens(tokens: "Sequence[Token]") -> "dict[int, Token]":
    """By the identity of the token that opens."""
    closing: dict[int, Token] = {}
    opened: list[Token] = []
    for token in tokens:
        if token.nesting > 0:
            opened.append(token)
        elif token.nesting < 0:
            closing[id(opened.pop())] = token
    return closing
