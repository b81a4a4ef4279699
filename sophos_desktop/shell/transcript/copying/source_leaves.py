"""The blocks of Markdown that show something, in their order, with the lists, quotes and notes they stand in.

Invariant: the same tokens give the same leaves, one after the other as document_builder writes them; lines
count from the start of the text that was read. No Qt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from sophos_desktop.shell.transcript.copying.inline_source import Shown, shown_of
from sophos_desktop.shell.transcript.drawing.image_cards import begins_with_card
from sophos_desktop.shell.transcript.markdown import math_rules
from sophos_desktop.shell.transcript.markdown.piece_reading import goes_on

if TYPE_CHECKING:
    from markdown_it.token import Token


class LeafKind(Enum):
    """What a leaf is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    CELL = "cell"
    CODE = "code"
    MATH = "math"
    RULE = "rule"
    MARKER = "marker"  # of items that begin with something else than text, or with nothing


@dataclass(frozen=True, slots=True)
class Container:
    """A quote, an item of a list or a footnote. `marker`: what its first line begins with; `width`: how far
    its other lines are indented; `first_leaf`: the index of the leaf that its marker stands before; `depth`:
    how many others it stands in, since two may begin in one line."""

    kind: str
    marker: str
    width: int
    first_leaf: int
    depth: int
    sign: str = ""  # what a reader sees of the marker and what it means


@dataclass(frozen=True, slots=True)
class Leaf:
    """`content`: of inline text what the places of `shown` count in, of code its lines. `markup` and `info`
    are the token's. `row`, `is_last`: of a cell. `first_line` to before `end_line`."""

    index: int
    kind: LeafKind
    chain: tuple[Container, ...]
    first_line: int
    end_line: int
    content: str = ""
    shown: tuple[Shown, ...] = ()
    markup: str = ""
    info: str = ""
    level: int = 0
    row: int = 0
    table: int = -1
    alignment: str = ""
    is_tight: bool = False
    has_marker: bool = False

    @property
    def is_inline(self) -> bool:
        """It is text with marks."""
        return self.kind in (LeafKind.PARAGRAPH, LeafKind.HEADING, LeafKind.CELL)


_ALIGNMENTS = {"text-align:right": "--:", "text-align:center": ":-:", "text-align:left": ":--"}
_CONTAINER_ENDS = ("blockquote_close", "list_item_close", "footnote_reference_close")


def leaves_of(tokens: "Sequence[Token]", number: int | None = None) -> list[Leaf]:
    """The leaves of block tokens from a PlacedReader. `number`: of the first item, if its list goes on."""
    reading = _Reading(number)
    index = 0
    while index < len(tokens):
        index = reading.take(tokens, index)
    return reading.leaves


@dataclass(slots=True)
class _Reading:
    number: int | None
    leaves: list[Leaf] = field(default_factory=list)
    _chain: list[Container] = field(default_factory=list)
    _numbers: list[int | None] = field(default_factory=list)
    _has_marker: bool = False
    _line: int = 0
    _table: int = -1
    _row: int = -1
    _alignment: str = ""

    def take(self, tokens: "Sequence[Token]", index: int) -> int:
        token = tokens[index]
        kind = token.type
        if token.map:
            self._line = token.map[0]
        if kind == "paragraph_open":
            self._add_inline(LeafKind.PARAGRAPH, tokens[index + 1], token)
            return index + 3
        if kind == "heading_open":
            self._add_inline(LeafKind.HEADING, tokens[index + 1], token)
            return index + 3
        if kind == "inline":
            self._add_inline(LeafKind.CELL, token, token)
        elif kind in ("fence", "code_block"):
            self._flush()
            self._add(LeafKind.CODE, token, content=token.content.removesuffix("\n"))
        elif kind == math_rules.BLOCK:
            self._flush()
            self._add(LeafKind.MATH, token, content=token.content)
        elif kind == "hr":
            self._flush()
            self._add(LeafKind.RULE, token)
        elif kind in ("table_open", "tr_open", "th_open", "td_open"):
            self._table_part(token)
        else:
            self._container(token)
        return index + 1

    def _table_part(self, token: "Token") -> None:
        if token.type == "table_open":
            self._flush()
            self._table, self._row = len(self.leaves), -1
        elif token.type == "tr_open":
            self._row += 1
        else:
            self._alignment = _ALIGNMENTS.get(str(token.attrs.get("style", "")), "---")

    def _container(self, token: "Token") -> None:
        kind = token.type
        if goes_on(token) and not kind.endswith("list_open"):
            self._go_on_with(token)
        elif kind in ("bullet_list_open", "ordered_list_open"):
            start = int(token.attrs.get("start", 1)) if kind.startswith("ordered") else None
            if start is not None and self.number is not None and not self._numbers:
                start, self.number = self.number, None
            self._numbers.append(start)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._numbers.pop()
        elif kind == "list_item_open":
            self._open_item(token)
        elif kind == "blockquote_open":
            self._chain.append(Container("quote", "> ", 2, len(self.leaves), len(self._chain), ">"))
        elif kind == "footnote_reference_open":
            label = str(token.meta["label"])
            depth = len(self._chain)
            self._chain.append(Container("note", f"[^{label}]: ", 4, len(self.leaves), depth, f"^{label}"))
            self._has_marker = True
        elif kind in _CONTAINER_ENDS:
            if kind != "blockquote_close":
                self._flush()
            if self._chain:  # it may go on from the segment before
                self._chain.pop()

    def _go_on_with(self, token: "Token") -> None:
        """What the segment before has begun is no container here; the next item has the next number."""
        number = self._numbers[-1] if token.type == "list_item_open" else None
        if number is not None:
            self._numbers[-1] = number + 1

    def _open_item(self, token: "Token") -> None:
        number = self._numbers[-1]
        task = token.meta.get("checked")
        if number is None:
            mark, sign = token.markup, "-"
        else:
            mark, sign = f"{number}{token.markup}", f"{number}."
            self._numbers[-1] = number + 1
        box = "" if task is None else "[x] " if task else "[ ] "
        depth, marker = len(self._chain), f"{mark} {box}"
        made = Container("item", marker, len(mark) + 1, len(self.leaves), depth, box or sign)
        self._chain.append(made)
        self._has_marker = True

    def _flush(self) -> None:
        """A marker has a line of its own if no paragraph follows it."""
        if self._has_marker:
            self._has_marker = False
            made = Leaf(
                len(self.leaves),
                LeafKind.MARKER,
                tuple(self._chain),
                self._line,
                self._line + 1,
                has_marker=True,
            )
            self.leaves.append(made)

    def _add_inline(self, kind: LeafKind, inline: "Token", block: "Token") -> None:
        can_break = kind is LeafKind.PARAGRAPH
        has_marker, self._has_marker = self._has_marker, False
        is_begun = has_marker and not begins_with_card(inline)
        shown = shown_of(inline, can_break=can_break, is_begun=is_begun)
        level = int(block.tag[1]) if kind is LeafKind.HEADING else 0
        self._add(kind, block, content=inline.content, shown=shown, level=level, has_marker=has_marker)

    def _add(
        self,
        kind: LeafKind,
        token: "Token",
        *,
        content: str = "",
        shown: tuple[Shown, ...] = (),
        level: int = 0,
        has_marker: bool = False,
    ) -> None:
        first, end = token.map or (0, content.count("\n") + 1)
        is_cell = kind is LeafKind.CELL
        made = Leaf(
            len(self.leaves),
            kind,
            tuple(self._chain),
            first,
            end,
            content,
            shown,
            token.markup,
            token.info,
            level,
            self._row if is_cell else 0,
            self._table if is_cell else -1,
            self._alignment if is_cell else "",
            token.hidden,
            has_marker,
        )
        self.leaves.append(made)
