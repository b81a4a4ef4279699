"""Finds the Markdown of a part of a segment in its source.

Invariant: whole blocks are the exact slice of the source. Of a block that is cut, what is given is a slice of
the source with the marks closed that the cut opened, and only if reading it again says what was selected;
otherwise nothing is given, and the caller marks the text up anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QTextBlock, QTextCharFormat, QTextCursor, QTextDocument

from sophos_desktop.shell.transcript.built import LINE_PROPERTY, SOURCE_PROPERTY, SPACER_PROPERTY
from sophos_desktop.shell.transcript.drawable_text import drawable
from sophos_desktop.shell.transcript.markdown import MarkdownReader
from sophos_desktop.shell.transcript.segments import LINE_END, Segment

if TYPE_CHECKING:
    from markdown_it.token import Token

_OBJECT = "\ufffc"
_FARTHEST = 2_000  # characters of marks and addresses between two that are shown
_MARKER_ENDS = "\t\u2002"


@dataclass(frozen=True, slots=True)
class _Marks:
    """How a character stands out; `link` is the address it leads to."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""

    @property
    def opening(self) -> str:
        code = "`" if self.code else ""
        return f"{'[' if self.link else ''}{self._emphasis}{code}"

    @property
    def closing(self) -> str:
        code = "`" if self.code else ""
        return f"{code}{self._emphasis[::-1]}{f']({self.link})' if self.link else ''}"

    @property
    def _emphasis(self) -> str:
        return f"{'~~' if self.struck else ''}{'**' if self.bold else ''}{'*' if self.italic else ''}"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A character of the document: where it stands there, and how."""

    position: int
    text: str
    marks: _Marks


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
    starts = [0, *(found.end() for found in LINE_END.finditer(segment.text))]
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


def source_of(
    document: QTextDocument, segment: Segment, start: int, end: int
) -> Iterator[str | tuple[int, int]]:
    """The Markdown from `start` to before `end`, block by block: a slice of the source, or a range of the
    document for which there is none."""
    for group in groups_of(document, segment):
        is_empty_inside = group.start == group.end and start <= group.start <= end  # a rule
        if not is_empty_inside and (group.end < start or group.start >= end):
            continue
        first, last = max(start, group.start), min(end, group.end)
        if first <= _content_start(group) and last >= group.end:
            yield segment.text[group.source_start : group.source_end]
        elif first < last:
            yield _partial(segment, group, first, last) or (first, last)


def _content_start(group: Group) -> int:
    return group.start + _marker_length(group.blocks[0])


def _marker_length(block: QTextBlock) -> int:
    """How long the bullet or number is that a block begins with."""
    if block.blockFormat().textIndent() >= 0:
        return 0
    text = block.text()
    return next((at + 1 for at, character in enumerate(text[:16]) if character in _MARKER_ENDS), 0)


def _partial(segment: Segment, group: Group, start: int, end: int) -> str | None:
    source = drawable(segment.text[group.source_start : group.source_end])
    if len(source) != group.source_end - group.source_start or _is_table(group.blocks[0]):
        return None
    shown = [one for block in group.blocks for one in _shown(block)]
    places = _aligned(source, shown)
    inside = [at for at, one in enumerate(shown) if start <= one.position < end]
    if places is None or not inside:
        return None
    wanted = [shown[at] for at in inside]
    exact = segment.text[group.source_start : group.source_end]
    first, last = places[inside[0]], places[inside[-1]] + 1
    begins = {block.position() + _marker_length(block) for block in group.blocks}
    ends = {block.position() + block.length() - 1 for block in group.blocks}
    before = places[inside[0] - 1] + len(shown[inside[0] - 1].text) if inside[0] else 0
    after = places[inside[-1] + 1] if inside[-1] + 1 < len(shown) else len(exact)
    # As the source marks it, if the cut is where the marks are; else with marks of our own.
    heads = [exact[before:last].lstrip(), wanted[0].marks.opening + exact[first:last]]
    if wanted[0].position in begins:
        line = exact[exact.rfind("\n", 0, first) + 1 : last]
        heads = [line, line.lstrip(), *heads]
    is_end = wanted[-1].position + len(wanted[-1].text.encode("utf-16-le", "surrogatepass")) // 2 in ends
    line_end = exact.find("\n", last)
    rest = exact[last : line_end if line_end >= 0 else len(exact)]
    tails = ["", exact[last:after].rstrip(), wanted[-1].marks.closing]
    if is_end:
        tails.insert(0, rest)
    for head in heads:
        for tail in tails:
            if _says(head + tail, wanted):
                return head + tail + "\n\n"
    return None


def _is_table(block: QTextBlock) -> bool:
    return QTextCursor(block).currentTable() is not None


# What is shown.


def _shown(block: QTextBlock) -> Iterator[_Shown]:
    """The characters of a block, without its marker."""
    is_heading = block.blockFormat().headingLevel() > 0
    skipped = block.position() + _marker_length(block)
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        made = fragment.charFormat()
        text, position = fragment.text(), fragment.position()
        source = made.property(SOURCE_PROPERTY)
        marks = _marks_of(made, text, is_heading=is_heading)
        for character in text:
            if position >= skipped:
                shown = str(source) if source and character == _OBJECT else character
                yield _Shown(position, shown, marks)
            position += 2 if ord(character) > 0xFFFF else 1
        iterator += 1


def _marks_of(made: QTextCharFormat, text: str, *, is_heading: bool) -> _Marks:
    address = made.anchorHref()
    return _Marks(
        made.fontWeight() >= QFont.Weight.DemiBold and not is_heading,
        made.fontItalic(),
        made.fontStrikeOut(),
        made.font().styleHint() is QFont.StyleHint.Monospace,
        "" if text in address else address,
    )


def _aligned(source: str, shown: Sequence[_Shown]) -> list[int] | None:
    """Where each shown character stands in the source; None if they do not follow each other there."""
    places: list[int] = []
    at = 0
    for one in shown:
        if one.text.isspace():
            found = next((i for i in range(at, min(len(source), at + _FARTHEST)) if source[i].isspace()), -1)
        else:
            found = source.find(one.text, at, at + _FARTHEST + len(one.text))
        if found < 0:
            return None
        places.append(found)
        at = found + len(one.text)
    return places


# Whether a slice says the same.


def _says(markdown: str, wanted: Sequence[_Shown]) -> bool:
    """Whether reading `markdown` shows what is wanted, and as it is."""
    said = [(letter, marks) for text, marks in _read(markdown) for letter in text if not letter.isspace()]
    meant = [(letter, one.marks) for one in wanted for letter in one.text if not letter.isspace()]
    return said == meant


def _read(markdown: str) -> Iterator[tuple[str, _Marks]]:
    is_heading = False
    for token in MarkdownReader().blocks(markdown, {}):
        if token.type in ("heading_open", "heading_close"):
            is_heading = token.type == "heading_open"
        elif token.type in ("fence", "code_block"):
            yield token.content, _Marks(code=True)
        elif token.type == "inline":
            yield from _read_inline(token.children or (), is_heading=is_heading)
        elif not token.type.endswith(("_open", "_close")):
            yield token.markup or token.type, _Marks()  # what is shown as something else than text


def _read_inline(tokens: "Sequence[Token]", *, is_heading: bool) -> Iterator[tuple[str, _Marks]]:
    bold = italic = struck = 0
    link = ""
    for token in tokens:
        kind, step = token.type, token.nesting
        if kind.startswith("strong_"):
            bold += step
        elif kind.startswith("em_"):
            italic += step
        elif kind.startswith("s_"):
            struck += step
        elif kind.startswith("link_"):
            link = str(token.attrs.get("href", "")) if step > 0 else ""
        elif kind not in ("softbreak", "hardbreak"):
            is_code = kind == "code_inline"
            marks = _Marks(bold > 0 and not is_heading, italic > 0, struck > 0, is_code, link)
            yield _said(token), marks


def _said(token: "Token") -> str:
    if token.type.startswith("math"):
        closers = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
        return f"{token.markup}{token.content}{closers.get(token.markup, '')}"
    return token.content if token.type in ("text", "code_inline") else f"<{token.type}>"
