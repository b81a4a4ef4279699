"""Writes selected parts of blocks as Markdown again, with the marks of the lists and quotes they stand in.

Invariant: markers are those of the source, with the numbers that were shown; a marker is written if the line
it stands before is touched. No Qt.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sophos_desktop.shell.transcript.copying.inline_slices import (
    Saying,
    escaped_text,
    inline_slice,
    said,
    trimmed_saying,
)
from sophos_desktop.shell.transcript.copying.inline_source import Shown, ShownKind
from sophos_desktop.shell.transcript.copying.source_leaves import Container, Leaf, LeafKind

_FORMULA_ENDS = {"$$": "$$", "\\[": "\\]"}


@dataclass(frozen=True, slots=True)
class Part:
    """What is selected of a leaf: from `first` to `last` of its `shown`, or `code`. `is_head_cut`,
    `is_tail_cut`: something of the leaf is shown before, or behind."""

    leaf: Leaf
    first: int = 0
    last: int = -1
    code: str = ""
    is_head_cut: bool = False
    is_tail_cut: bool = False

    def inline(self, *, escaped: bool = False) -> str:
        """The source of inline text."""
        leaf = self.leaf
        return inline_slice(leaf.content, leaf.shown, self.first, self.last, escaped=escaped)

    @property
    def said(self) -> list[Saying]:
        """What is shown of inline text."""
        return said(self.leaf.shown[self.first : self.last + 1])


Meaning = tuple[str, tuple[str, ...], object]


def meaning_of(parts: Sequence[Part]) -> list[Meaning]:
    """What a reader makes of the parts, line ends and columns apart."""
    touched = {part.leaf.index for part in parts}
    return [meaning for part in parts for meaning in _meanings(part, touched)]


def _meanings(part: Part, touched: set[int]) -> Iterator[Meaning]:
    leaf = part.leaf
    signs = tuple(container.sign for container in leaf.chain if _is_kept(container, touched))
    if leaf.kind is LeafKind.CODE:
        yield ("code", signs, (leaf.info.split()[:1], part.code.strip("\n")))
    elif leaf.kind is LeafKind.PARAGRAPH:
        yield from meanings_of_paragraph(part.said, signs)
    elif leaf.is_inline:
        yield (f"{leaf.kind.value}{leaf.level}", signs, part.said)
    elif leaf.kind is LeafKind.MATH:
        source = f"{leaf.markup}{leaf.content}{_FORMULA_ENDS[leaf.markup]}"
        yield from meanings_of_paragraph([(ShownKind.FORMULA.value, source, frozenset())], signs)
    else:
        yield (leaf.kind.value, signs, leaf.content)


def meanings_of_paragraph(saying: Sequence[Saying], signs: tuple[str, ...] = ()) -> Iterator[Meaning]:
    """A display formula has lines of its own, whether it stands in a paragraph or is a block."""
    text: list[Saying] = []
    for kind, words, marks in [*saying, (ShownKind.FORMULA.value, "$$", frozenset())]:
        if kind != ShownKind.FORMULA.value or words[:2] not in _FORMULA_ENDS:
            text.append((kind, words, marks))
            continue
        trimmed = trimmed_saying(text)
        if trimmed:
            yield (LeafKind.PARAGRAPH.value, signs, trimmed)
        if words != "$$":
            yield (LeafKind.MATH.value, signs, words)
        text = []


def _is_kept(container: Container, touched: set[int]) -> bool:
    return container.kind == "quote" or container.first_leaf in touched


def written(parts: Sequence[Part], heads: Sequence[Leaf], *, escaped: bool, loose: bool = False) -> str:
    """The parts, a line end behind the last; `heads`: the cells of the heads of the tables in them. `loose`:
    with a blank line between any two."""
    touched = {part.leaf.index for part in parts}
    begun: set[Container] = set()
    lines: list[str] = []
    for before, block in pairwise([None, *_blocks(parts)]):
        assert block is not None
        leaf = block[0].leaf
        chain = [one for one in leaf.chain if _is_kept(one, touched)]
        if before is not None:
            earlier = before[-1].leaf
            is_item = any(one.kind != "quote" and one not in begun for one in chain)
            is_close = is_item and earlier.is_tight and any(one in begun for one in earlier.chain)
            if loose or not is_close:
                lines.append(_blank_line(earlier.chain, leaf.chain, touched))
        lines += _prefixed(_lines_of(block, heads, escaped=escaped), chain, begun)
    return "\n".join(lines) + "\n"


def _blocks(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """The cells of a table are one block; a marker alone is one if nothing follows in its item."""
    block: list[Part] = []
    for part, following in pairwise([*parts, None]):
        assert part is not None
        leaf = part.leaf
        is_followed = (
            following is not None and leaf.chain[-1:] == following.leaf.chain[len(leaf.chain) - 1 :][:1]
        )
        if leaf.kind is LeafKind.MARKER and is_followed:
            continue
        if block and block[0].leaf.table != leaf.table:
            yield block
            block = []
        block.append(part)
        if leaf.kind is not LeafKind.CELL:
            yield block
            block = []
    if block:
        yield block


def _prefixed(lines: Sequence[str], chain: Sequence[Container], begun: set[Container]) -> Iterator[str]:
    first = rest = ""
    for container in chain:
        is_new = container.kind != "quote" and container not in begun
        indent = "> " if container.kind == "quote" else " " * container.width
        first += container.marker if is_new else indent
        rest += indent
        if container.kind != "quote":
            begun.add(container)
    for number, line in enumerate(lines):
        prefix = rest if number else first
        yield f"{prefix}{line}" if line else prefix.rstrip()


def _blank_line(before: Sequence[Container], after: Sequence[Container], touched: set[int]) -> str:
    prefix = ""
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        if _is_kept(one, touched):
            prefix += "> " if one.kind == "quote" else " " * one.width
    return prefix.rstrip()


def _lines_of(block: Sequence[Part], heads: Sequence[Leaf], *, escaped: bool) -> list[str]:
    part = block[0]
    leaf = part.leaf
    if leaf.kind is LeafKind.CELL:
        return _table(block, [cell for cell in heads if cell.table == leaf.table])
    if leaf.kind is LeafKind.CODE:
        return code_lines(part.code, leaf.markup, leaf.info)
    if leaf.kind is LeafKind.MATH:
        return f"{leaf.markup}{leaf.content}{_FORMULA_ENDS[leaf.markup]}".split("\n")
    if leaf.kind is LeafKind.RULE:
        return ["___"] if leaf.chain else [leaf.markup]
    if leaf.kind is LeafKind.MARKER:
        return [""]
    lines = part.inline(escaped=escaped).split("\n")
    if leaf.kind is LeafKind.HEADING:
        if not leaf.markup.startswith("#"):
            return [*lines, leaf.markup * 3]
        lines[0] = f"{leaf.markup} {lines[0]}"
    return lines


def code_lines(code: str, markup: str, info: str) -> list[str]:
    """Lines of code: between fences as in the source (longer ones if need be), or indented (no `markup`)."""
    lines = code.split("\n")
    if not markup and lines[0].strip() and lines[-1].strip():
        return [f"    {line}" if line else "" for line in lines]
    mark, length = markup[:1] or "`", max(3, len(markup))
    bare = [line.strip() for line in lines]
    length = max([length, *(len(line) + 1 for line in bare if line and line.count(mark) == len(line))])
    fence = mark * length
    return [f"{fence}{info.strip()}", *lines, fence]


def _table(cells: Sequence[Part], head: Sequence[Leaf]) -> list[str]:
    rows: dict[int, list[str]] = {0: []} if head else {}
    for leaf in [*head, *(part.leaf for part in cells if part.leaf.row or not head)]:
        # A cell's content has lost the backslash before what would have ended it.
        rows.setdefault(leaf.row, []).append(leaf.content.replace("|", "\\|"))
    lines = [f"| {' | '.join(row)} |" for row in rows.values()]
    if head:
        lines.insert(1, f"| {' | '.join(leaf.alignment for leaf in head)} |")
    return lines


def as_escaped_text(parts: Sequence[Part]) -> str:
    """Paragraphs that show what the parts show, without their marks: for what cannot be written otherwise."""
    texts = []
    for part in parts:
        things = part.leaf.shown[part.first : part.last + 1]
        text = "".join(_plain(thing) for thing in things)
        texts.append(escaped_text(text.strip() or part.code or part.leaf.content))
    return "\n\n".join(texts)


def _plain(thing: Shown) -> str:
    if thing.kind is ShownKind.NOTE:
        return f"[^{thing.text}]"
    return " " if thing.text.isspace() else thing.text
