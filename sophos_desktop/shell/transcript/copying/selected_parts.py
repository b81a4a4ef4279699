"""Says which parts of the blocks of a segment are selected.

Invariant: what is one thing on the screen is taken as a whole (a formula, an image, a reference to a note).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sophos_desktop.shell.transcript.copying.source_leaves import Leaf, LeafKind
from sophos_desktop.shell.transcript.copying.source_map import Placed
from sophos_desktop.shell.transcript.copying.source_writer import Part


def parts_between(placed: Sequence[Placed], start: int, end: int) -> list[Part]:
    """What is selected from `start` to before `end` in the document; blanks alone are nothing."""
    return [part for one in placed for part in _part(one, start, end)]


def _part(one: Placed, start: int, end: int) -> Iterator[Part]:
    leaf = one.leaf
    is_empty_inside = one.content_start == one.end and start <= one.content_start and one.end < end
    if leaf.is_inline and leaf.shown:
        yield from _inline_part(one, start, end)
    elif leaf.kind is LeafKind.CODE and one.start < one.end:
        first, last = max(start, one.start), min(end, one.end)
        if first < last:
            yield Part(
                leaf,
                code=_units_between(leaf.content, first - one.start, last - one.start),
                is_head_cut=first > one.start,
                is_tail_cut=last < one.end,
            )
    elif is_empty_inside or (one.start < end and start < one.end):
        yield Part(leaf, code=leaf.content)


def _inline_part(one: Placed, start: int, end: int) -> Iterator[Part]:
    leaf = one.leaf
    drawn = [
        number
        for number, ((begins, ends), thing) in enumerate(zip(one.places, leaf.shown, strict=True))
        if begins < ends and (not thing.text.isspace() or thing.code is not None)
    ]
    inside = [number for number in drawn if one.places[number][1] > start and one.places[number][0] < end]
    if not inside:
        return
    is_head_cut, is_tail_cut = inside[0] > drawn[0], inside[-1] < drawn[-1]
    yield Part(
        leaf,
        inside[0] if is_head_cut else 0,
        inside[-1] if is_tail_cut else len(leaf.shown) - 1,
        is_head_cut=is_head_cut,
        is_tail_cut=is_tail_cut,
    )


def _units_between(text: str, start: int, end: int) -> str:
    units = text.encode("utf-16-le", "surrogatepass")[start * 2 : end * 2]
    return units.decode("utf-16-le", "replace")


def with_whole_rows(parts: Sequence[Part], leaves: Sequence[Leaf]) -> list[Part]:
    """The same with the head and the whole rows of tables that are touched. `leaves`: all of the segment."""
    rows: dict[int, set[int]] = {}
    for part in parts:
        if part.leaf.table >= 0:
            rows.setdefault(part.leaf.table, {0}).add(part.leaf.row)
    if not rows:
        return list(parts)
    cells = {part.leaf.table: part for part in reversed(parts) if part.leaf.table >= 0}
    made: list[Part] = []
    for part in parts:
        table = part.leaf.table
        if table < 0:
            made.append(part)
        elif cells[table] is part:
            made += _rows([leaf for leaf in leaves if leaf.table == table], rows[table])
    return made


def _rows(table: Sequence[Leaf], rows: set[int]) -> list[Part]:
    """The first says whether rows below the head are left out, the last whether rows at the end are."""
    made = [Part(leaf, 0, len(leaf.shown) - 1) for leaf in table if leaf.row in rows]
    made[0] = replace(made[0], is_head_cut=len(rows) <= max(rows))
    made[-1] = replace(made[-1], is_tail_cut=max(rows) < table[-1].row)
    return made
