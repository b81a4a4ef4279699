"""Turns a selection into what the clipboard gets: plain text or Markdown.

Invariant: of blocks that are selected as a whole, Markdown is the exact source. The work comes in steps, so
that a conversation of megabytes can be copied without stopping the window. Cards copy themselves.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtGui import QTextCursor, QTextDocument, QTextDocumentFragment

from sophos_desktop.shell.transcript.built import SOURCE_PROPERTY
from sophos_desktop.shell.transcript.plain_text import plain_text
from sophos_desktop.shell.transcript.positions import TextPosition
from sophos_desktop.shell.transcript.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.source_slices import source_of
from sophos_desktop.shell.transcript.transcript_model import MessageKind, TranscriptModel

DocumentOf = Callable[[int, int], QTextDocument]
"""Gives the document of (message, segment); it may be thrown away at the next call."""
_BACKTICKS = re.compile(r"`+")
_FORMULA = re.compile(r"!\[[^\]]*\]\(formula:\d+\)")


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` to before `end`, in this order."""

    start: TextPosition
    end: TextPosition

    def within(self, message: int, segment: int) -> tuple[int, int | None]:
        """Start and end in a segment's document; the end is None where all that follows is in it."""
        here = (message, segment)
        first = self.start.character if here == (self.start.message, self.start.segment) else 0
        last = self.end.character if here == (self.end.message, self.end.segment) else None
        return first, last


def segments_in(model: TranscriptModel, span: Span) -> Iterator[tuple[int, Segment]]:
    """Every segment that is selected, in part at least, with its message."""
    for message in range(span.start.message, min(span.end.message, len(model) - 1) + 1):
        if model.message(message).kind is MessageKind.CARD:
            continue
        for segment in model.segments(message):
            here = (message, segment.index)
            if (span.start.message, span.start.segment) <= here <= (span.end.message, span.end.segment):
                yield message, segment


def text_steps(model: TranscriptModel, document_of: DocumentOf, span: Span) -> Iterator[str]:
    """The plain text, piece by piece; put together they are what is copied."""
    before: tuple[int, Segment] | None = None
    for message, segment in segments_in(model, span):
        first, last = span.within(message, segment.index)
        if before is not None:
            yield "\n\n" if message != before[0] else _joint(before[1], segment)
        before = message, segment
        if model.message(message).kind is MessageKind.USER and first == 0 and last is None:
            yield segment.text.rstrip("\n") if not segment.goes_on else segment.text
            continue
        yield plain_text(document_of(message, segment.index), first, last)


def _joint(before: Segment, segment: Segment) -> str:
    """What stands between two segments; a paragraph is cut behind a blank, if it has any."""
    if segment.continues and segment.kind is SegmentKind.TEXT:
        return " " if before.text[-1:].isspace() else ""
    return "\n"


def markdown_steps(model: TranscriptModel, document_of: DocumentOf, span: Span) -> Iterator[str]:
    """The Markdown, piece by piece; put together and stripped of line ends they are what is copied."""
    message_before = -1
    for message, segment in segments_in(model, span):
        if message_before >= 0 and message != message_before:
            yield "\n\n"
        message_before = message
        first, last = span.within(message, segment.index)
        if first == 0 and last is None:
            yield segment.text
            continue
        document = document_of(message, segment.index)
        end = document.characterCount() - 1 if last is None else last
        if first == 0 and end >= document.characterCount() - 1:
            yield segment.text
        elif model.message(message).kind is MessageKind.USER:
            yield plain_text(document, first, end)
        else:
            yield _part_as_markdown(document, segment, first, end)


def _part_as_markdown(document: QTextDocument, segment: Segment, start: int, end: int) -> str:
    if start >= end:
        return ""
    if segment.kind is SegmentKind.CODE:
        return _code(plain_text(document, start, end), segment.language)
    return "".join(
        piece if isinstance(piece, str) else _marked_up(document, *piece)
        for piece in source_of(document, segment, start, end)
    )


def _code(code: str, language: str) -> str:
    """Code between marks that do not occur in it."""
    longest = max((len(run) for run in _BACKTICKS.findall(code)), default=0)
    if "\n" in code:
        fence = "`" * max(3, longest + 1)
        return f"{fence}{language}\n{code}\n{fence}\n"
    marks = "`" * (longest + 1)
    space = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{marks}{space}{code}{space}{marks}"


def _marked_up(document: QTextDocument, start: int, end: int) -> str:
    """Markdown that looks like a part of a document."""
    cursor = QTextCursor(document)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    features = QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    made = QTextDocumentFragment(cursor).toMarkdown(features).strip("\n")
    sources = iter(_formula_sources(document, start, end))
    made = _FORMULA.sub(lambda _match: next(sources, ""), made)
    return made + "\n\n"


def _formula_sources(document: QTextDocument, start: int, end: int) -> Iterator[str]:
    block = document.findBlock(start)
    while block.isValid() and block.position() < end:
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            source = fragment.charFormat().property(SOURCE_PROPERTY)
            if source:
                # Formulas side by side with one format are one fragment.
                for offset in range(fragment.length()):
                    if start <= fragment.position() + offset < end:
                        yield str(source)
            iterator += 1
        block = block.next()


def message_span(model: TranscriptModel, message: int) -> Span | None:
    """All of a message; None if it has no text."""
    segments = model.segments(message)
    if not segments:
        return None
    return Span(TextPosition(message, 0, 0), TextPosition(message, len(segments), 0))


def whole_span(model: TranscriptModel) -> Span | None:
    """All of the conversation; None if there is no text in it."""
    if not len(model):
        return None
    return Span(TextPosition(0, 0, 0), TextPosition(len(model), 0, 0))


def copied_text(model: TranscriptModel, document_of: DocumentOf, span: Span) -> str:
    """The plain text at once."""
    return "".join(text_steps(model, document_of, span)).strip("\n")


def copied_markdown(model: TranscriptModel, document_of: DocumentOf, span: Span) -> str:
    """The Markdown at once."""
    return "".join(markdown_steps(model, document_of, span)).strip("\n")
