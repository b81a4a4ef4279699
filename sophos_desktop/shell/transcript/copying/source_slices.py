"""Gives the Markdown of a part of a segment.

Invariant: whole blocks are the exact slice of the source. Of a block that is cut, what is given shows what is
selected when it is read again by itself: lines of the source if they do, else its blocks written anew.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QTextBlock, QTextDocument

from sophos_desktop.shell.transcript.copying.inline_slices import code_span
from sophos_desktop.shell.transcript.copying.raw_slices import raw_slice
from sophos_desktop.shell.transcript.copying.selected_parts import parts_between, with_whole_rows
from sophos_desktop.shell.transcript.copying.source_leaves import Leaf, LeafKind, leaves_of
from sophos_desktop.shell.transcript.copying.source_map import Placed, marker_length, placed_leaves
from sophos_desktop.shell.transcript.copying.source_writer import (
    Part,
    as_escaped_text,
    code_lines,
    meaning_of,
    meanings_of_paragraph,
    written,
)
from sophos_desktop.shell.transcript.drawing.built import LINE_PROPERTY, SPACER_PROPERTY
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.inline_places import PlacedReader
from sophos_desktop.shell.transcript.markdown.piece_reading import read_segment
from sophos_desktop.shell.transcript.markdown.segments import LINE_END, Segment, SegmentKind
from sophos_desktop.shell.transcript.text.drawable_text import as_written

if TYPE_CHECKING:
    from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Group:
    """The blocks of the document that come from one top-level block of Markdown: from `start` to `end`, its
    source from `source_start` to before `source_end` in the segment."""

    start: int
    end: int
    source_start: int
    source_end: int
    blocks: tuple[QTextBlock, ...]


def groups_of(document: QTextDocument, segment: Segment) -> list[Group]:
    """The top-level blocks of a segment, in their order; together their sources are its text."""
    starts = _line_starts(segment.text)
    found: list[tuple[int, list[QTextBlock]]] = []
    block = document.begin()
    while block.isValid():
        line = block.blockFormat().property(LINE_PROPERTY)
        if not found or (line is not None and found[-1][1]):
            at = starts[min(int(line), len(starts) - 1)] if line is not None and found else 0
            found.append((at, []))
        if not block.blockFormat().hasProperty(SPACER_PROPERTY):
            found[-1][1].append(block)
        block = block.next()
    ends = [at for at, _ in found[1:]] + [len(segment.text)]
    return [
        Group(blocks[0].position(), blocks[-1].position() + blocks[-1].length() - 1, at, end, tuple(blocks))
        for (at, blocks), end in zip(found, ends, strict=True)
        if blocks
    ]


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a segment: from `start` to before `end` in its document. `is_begun`: what it goes on with was
    copied with the segment before, `is_before_seam`: its last paragraph or table is copied on with the next.
    `has_more_before`, `has_more_behind`: there is more to copy, in other segments."""

    document: QTextDocument
    segment: Segment
    environment: MarkdownEnvironment
    start: int
    end: int
    is_begun: bool = False
    has_more_before: bool = False
    has_more_behind: bool = False
    is_before_seam: bool = False


class SourceSlices:
    """One for all segments; keeps nothing of them."""

    def __init__(self) -> None:
        """Cheap."""
        self._reader = PlacedReader()
        self.ends_as_in_source = True
        """Whether what was given last may be followed by the source of what comes next."""

    def of(self, cut: Cut) -> Iterator[str]:
        """The Markdown, block by block, with empty pieces where the work may pause; no code (code_slices)."""
        self.ends_as_in_source = True
        segment = cut.segment
        is_table_piece = segment.kind is SegmentKind.TABLE and segment.continues
        leaves = leaves_of(self._tokens(segment, cut.environment), segment.number)
        shown = [leaf for leaf in leaves if leaf.row or leaf.table < 0] if is_table_piece else leaves
        yield ""
        placed = placed_leaves(cut.document, shown, cut.environment.footnote_number)
        if placed is None:
            yield _as_code(plain_text(cut.document, cut.start, cut.end))
            self.ends_as_in_source = False
            return
        is_bare = not cut.is_begun and is_inside_block(segment)
        lines = (segment.body if is_bare else LINE_END.sub("\n", segment.text)).split("\n")
        if is_table_piece:
            parts = parts_between(placed, cut.start, cut.end)
            if parts and cut.is_begun:
                yield "\n".join(lines[: parts[-1].leaf.first_line - 1]) + "\n"
                return
        yield from self._groups(cut, placed, lines, leaves, is_bare=is_bare or is_table_piece)

    def _groups(
        self, cut: Cut, placed: Sequence[Placed], lines: list[str], leaves: Sequence[Leaf], *, is_bare: bool
    ) -> Iterator[str]:
        segment = cut.segment
        starts = _line_starts(segment.text)
        groups = groups_of(cut.document, segment)
        touched = [group for group in groups if _is_touched(group, cut.start, cut.end)]
        for group in touched:
            is_whole = cut.start <= group.start + marker_length(group.blocks[0]) and cut.end >= group.end
            source = segment.text[group.source_start : group.source_end]
            if is_whole and not is_bare:
                self.ends_as_in_source = True
                yield source
                continue
            inside = [one for one in placed if group.start <= one.start <= group.end]
            parts = parts_between(inside, cut.start, cut.end)
            if not parts:
                continue
            yield ""
            is_alone = len(touched) == len(parts) == 1 and not (cut.has_more_before or cut.has_more_behind)
            first_line = bisect_left(starts, group.source_start)
            end_line = bisect_left(starts, group.source_end)
            if group.source_end == len(segment.text):
                end_line = len(lines)
            yield as_written(self._part(cut, parts, leaves, lines, (first_line, end_line), is_alone=is_alone))

    def _part(
        self,
        cut: Cut,
        parts: list[Part],
        leaves: Sequence[Leaf],
        lines: list[str],
        span: tuple[int, int],
        *,
        is_alone: bool,
    ) -> str:
        part = parts[0]
        is_piece = cut.segment.kind is SegmentKind.TABLE and cut.segment.continues
        if is_alone and (
            part.is_head_cut or part.leaf.kind is LeafKind.CELL or part.leaf.kind is LeafKind.CODE
        ):
            return self._alone(part)
        parts = with_whole_rows(parts, leaves)
        heads = [leaf for leaf in leaves if leaf.table >= 0 and not leaf.row]
        meant = meaning_of(parts)
        raw = None if is_piece else raw_slice(lines, parts, *span)
        if raw is not None and self._meaning(cut, raw) == meant:
            self.ends_as_in_source = not parts[-1].is_tail_cut
            return raw
        self.ends_as_in_source = False
        for escaped, loose in ((False, False), (False, True), (True, False), (True, True)):
            made = written(parts, heads, escaped=escaped, loose=loose)
            if self._meaning(cut, made) == meant:
                break
        else:
            made = as_escaped_text(parts)
        self.ends_as_in_source = cut.is_before_seam and not parts[-1].is_tail_cut
        text = cut.segment.text
        return made.rstrip("\n") + (text[len(text.rstrip()) :] if self.ends_as_in_source else "\n\n")

    def _alone(self, part: Part) -> str:
        """A part within one block, without the marks before its lines."""
        leaf = part.leaf
        if leaf.kind is LeafKind.CODE:
            return code_part(part.code, leaf.content, leaf.markup, leaf.info)
        for escaped in (False, True):
            made = part.inline(escaped=escaped)
            if self._read(made) == list(meanings_of_paragraph(part.said)):
                return made
        return as_escaped_text([part])

    # Reading.

    def _meaning(self, cut: Cut, markdown: str) -> object:
        """What a reader makes of it where it will stand."""
        if cut.is_begun:
            again = replace(cut.segment, text=markdown)
            return _meaning_of_tokens(self._tokens(again, None), cut.segment.number)
        return self._read(markdown)

    def _read(self, markdown: str) -> object:
        return _meaning_of_tokens(self._reader.blocks(markdown, {}), None)

    def _tokens(self, segment: Segment, environment: MarkdownEnvironment | None) -> "list[Token]":
        references = {} if environment is None else _References(environment)
        return read_segment(self._reader, segment, references)


class _References(dict[str, Any]):
    """The definitions of links that an answer knows, each asked for when it is needed."""

    def __init__(self, environment: MarkdownEnvironment) -> None:
        super().__init__()
        self._environment = environment

    def get(self, label: str, default: Any = None) -> Any:
        """The parser asks in this way, with the label as it compares them."""
        if label not in self:
            text = f"[{label}]"
            probe = Segment(0, 0, len(text), SegmentKind.TEXT, closed=True, text=text)
            links = [
                child
                for token in self._environment.read(probe)
                for child in token.children or ()
                if child.type == "link_open"
            ]
            if not links:
                return default
            attributes = links[0].attrs
            self[label] = {"href": attributes.get("href", ""), "title": attributes.get("title", "")}
        return self[label]


def is_inside_block(segment: Segment) -> bool:
    """Whether its text cannot stand without what comes before it."""
    is_piece = segment.kind is not SegmentKind.BLOCKS or bool(segment.containers)
    return segment.continues and is_piece


def code_part(code: str, whole: str, markup: str, info: str) -> str:
    """A part of code that stands alone: whole lines as lines, less than one as words of code."""
    if "\n" in code or code in whole.split("\n") or not code.strip():
        return "\n".join(code_lines(code, markup, info)) + "\n"
    return code_span(code)


def _as_code(text: str) -> str:
    return "\n".join(code_lines(text, "```", "")) + "\n" if "\n" in text else code_span(text)


def _meaning_of_tokens(tokens: "list[Token]", number: int | None) -> object:
    leaves = leaves_of(tokens, number)
    return meaning_of([Part(leaf, 0, len(leaf.shown) - 1, leaf.content) for leaf in leaves])


def _is_touched(group: Group, start: int, end: int) -> bool:
    if group.start == group.end:  # a rule
        return start <= group.start <= end
    return group.start < end and group.end > start


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in LINE_END.finditer(text))]
