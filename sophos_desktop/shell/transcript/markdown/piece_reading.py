"""Reads a segment as Markdown, in the lists, quotes and footnotes that it was cut out of.

Invariant: a piece is read as it would be in its place: what was open before it is open in its tokens too, and
marked as going on, so that nothing is begun twice. No Qt.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sophos_desktop.shell.transcript.markdown.reading import MarkdownReader
from sophos_desktop.shell.transcript.markdown.segments import LINE_END, Container, Segment, SegmentKind

if TYPE_CHECKING:
    from markdown_it.token import Token

GOES_ON = "goes_on"
"""In the meta of a token that opens a container: the piece before has begun it."""
# A heading without words is over at the end of its line, so it changes nothing of what follows.
_LINE_OF_ITS_OWN = "#"


def goes_on(token: "Token") -> bool:
    """Whether what a token opens was begun by the piece before."""
    return GOES_ON in token.meta


def read_segment(reader: MarkdownReader, segment: Segment, references: Mapping[str, Any]) -> "list[Token]":
    """The block tokens; later pieces of a table have its head again, lines count from the segment's start."""
    if not segment.containers:
        return _bare_tokens(reader, segment, references)
    if segment.kind is SegmentKind.BLOCKS:
        text = f"{segment.opening}{_LINE_OF_ITS_OWN}\n{LINE_END.sub(chr(10), segment.text)}"
        opened = _without_heading(reader.blocks(text, {"references": references}), segment.containers)
        return opened[0] if opened else reader.blocks(segment.body, {"references": references})
    inside = _bare_tokens(reader, segment, references)
    opened = _without_heading(reader.blocks(segment.opening + _LINE_OF_ITS_OWN, {}), segment.containers)
    if not opened:
        return inside
    tokens, place = opened
    return [*tokens[:place], *inside, *tokens[place:]]


def _bare_tokens(reader: MarkdownReader, segment: Segment, references: Mapping[str, Any]) -> "list[Token]":
    if segment.kind is SegmentKind.TABLE and segment.continues:
        head = "\n".join(LINE_END.sub("\n", segment.lead).split("\n")[:2])
        return reader.blocks(head + "\n" + segment.body, {"references": references})
    if segment.kind is SegmentKind.TEXT:
        return reader.paragraph(segment.body, references)
    if segment.kind is SegmentKind.CODE:
        return [_code_token(segment)]
    return reader.blocks(segment.body, {"references": references})


def _code_token(segment: Segment) -> "Token":
    from markdown_it.token import Token

    token = Token("fence", "code", 0)
    token.content = segment.code
    token.info = segment.fence.info if segment.fence else ""
    return token


def _without_heading(
    tokens: "list[Token]", containers: tuple[Container, ...]
) -> "tuple[list[Token], int] | None":
    """The tokens as if their first line were not there, and where it was; None if it was not read so."""
    place = next((at for at, token in enumerate(tokens) if token.type == "heading_open"), -1)
    if place < 0:
        return None
    items = iter([each for each in containers if not each.is_quote and not each.mark.startswith("[")])
    for token in tokens[:place]:
        token.meta = {**token.meta, GOES_ON: True}
        if token.type in ("bullet_list_open", "ordered_list_open"):
            item = next(items, None)
            if item is not None and token.type == "ordered_list_open":
                token.attrs["start"] = item.number
    kept = [*tokens[:place], *tokens[place + 3 :]]
    for token in kept:
        if token.map:
            token.map = [max(0, line - 1) for line in token.map]
    return kept, place
