"""Finds the blocks of Markdown that a segment's document shows, and each thing in them, by position.

Invariant: either every block of the document is accounted for, or there is no map. Positions are those of the
document (UTF-16 units).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QTextBlock, QTextDocument

from sophos_desktop.shell.transcript.copying.inline_source import Shown, ShownKind
from sophos_desktop.shell.transcript.copying.source_leaves import Leaf, LeafKind
from sophos_desktop.shell.transcript.drawing.built import SPACER_PROPERTY
from sophos_desktop.shell.transcript.drawing.image_cards import INLINE_BEGINNING
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code

Numbering = Callable[[str], int | None]
"""The number under which a footnote is shown; None if there is no such footnote."""
_OBJECT = "\ufffc"
_MARKER_ENDS = "\t\u2002"


@dataclass(frozen=True, slots=True)
class Placed:
    """A leaf from `start` to `end` in the document; its content begins behind the marker at `content_start`.
    `places`: from where to before where each thing in `leaf.shown` stands."""

    leaf: Leaf
    start: int
    content_start: int
    end: int
    places: tuple[tuple[int, int], ...] = ()


class _NoMatchError(Exception):
    """The document shows something else."""


def placed_leaves(
    document: QTextDocument, leaves: Sequence[Leaf], numbering: Numbering
) -> list[Placed] | None:
    """The leaves with their places; None if the document was not made from them."""
    blocks = _shown_blocks(document)
    try:
        placed = [_placed(leaf, blocks, numbering) for leaf in leaves]
    except (_NoMatchError, StopIteration):
        return None
    return placed if next(blocks, None) is None else None


def marker_length(block: QTextBlock) -> int:
    """How long the bullets and numbers are that a block begins with, in UTF-16 units."""
    if block.blockFormat().textIndent() >= 0:
        return 0
    # A footnote that is never referred to may have any label.
    text, marks = block.text(), len(block.blockFormat().tabPositions())
    ends = [at for at, sign in enumerate(text) if sign in _MARKER_ENDS][:marks]
    return _units(text[: ends[-1] + 1]) if ends else 0


def _shown_blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        if not block.blockFormat().hasProperty(SPACER_PROPERTY):
            yield block
        block = block.next()


def _placed(leaf: Leaf, blocks: Iterator[QTextBlock], numbering: Numbering) -> Placed:
    if leaf.is_inline:
        return _placed_inline(leaf, blocks, numbering)
    first = last = next(blocks)
    if leaf.kind is LeafKind.CODE:
        for number, line in enumerate(drawable_code(leaf.content).split("\n")):
            last = next(blocks) if number else first
            if last.text() != line:
                raise _NoMatchError
    start, end = first.position(), _end(last)
    return Placed(leaf, start, start + marker_length(first), end)


def _placed_inline(leaf: Leaf, blocks: Iterator[QTextBlock], numbering: Numbering) -> Placed:
    rows = max((thing.row for thing in leaf.shown), default=-1)
    if rows < 0 and (leaf.has_marker or leaf.kind is not LeafKind.PARAGRAPH):
        rows = 0
    if rows < 0:
        raise _NoMatchError  # a paragraph that shows nothing has no place
    places: list[tuple[int, int]] = []
    first = block = next(blocks)
    text, row = block.text(), 0
    marker = marker_length(first) if leaf.has_marker else 0
    at = _characters(text, marker)
    position = first.position() + marker
    for thing in leaf.shown:
        while thing.row > row:
            _expect(at, len(text))
            block, row = next(blocks), row + 1
            text, at, position = block.text(), 0, block.position()
        length = _length(thing, text, at, numbering) if thing.row >= 0 and thing.row == row else 0
        width = _units(text[at : at + length])
        places.append((position, position + width))
        at, position = at + length, position + width
    _expect(at, len(text))
    return Placed(leaf, first.position(), first.position() + marker, _end(block), tuple(places))


def _length(thing: Shown, text: str, at: int, numbering: Numbering) -> int:
    """How many characters show it."""
    if thing.has_own_row:
        return len(text) - at
    if thing.kind is ShownKind.FORMULA:
        written = _OBJECT if text[at : at + 1] == _OBJECT else thing.text.replace("\n", " ")
    elif thing.kind is ShownKind.NOTE:
        number = numbering(thing.text)
        written = f"[^{thing.text}]" if number is None else str(number)
    elif thing.kind is ShownKind.IMAGE:
        end = text.find("]", at + len(INLINE_BEGINNING) + len(thing.text))
        is_found = end >= 0 and text.startswith(INLINE_BEGINNING, at)
        written = f"{text[at:end]}]" if is_found else INLINE_BEGINNING
    else:
        written = thing.text
    _expect(text[at : at + len(written)], written)
    return len(written)


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise _NoMatchError


def _end(block: QTextBlock) -> int:
    return block.position() + block.length() - 1


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _characters(text: str, units: int) -> int:
    """How many characters the first `units` of UTF-16 are."""
    return len(text.encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "replace"))
