"""Turns a selection into what the clipboard gets: plain text or Markdown.

Invariant: of blocks that are selected as a whole, Markdown is the exact source. The work comes in steps, so
that a conversation of megabytes can be copied without stopping the window. Cards copy themselves.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.copying.code_slices import CodeCut, code_slice
from sophos_desktop.shell.transcript.copying.source_slices import Cut, SourceSlices, is_inside_block
from sophos_desktop.shell.transcript.drawing.plain_text import plain_text
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptModel

DocumentOf = Callable[[int, int], QTextDocument]
"""Gives the document of (message, segment); it may be thrown away at the next call."""
_SEAMLESS = (SegmentKind.TEXT, SegmentKind.TABLE)


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
        yield plain_text(document_of(message, segment.index), first, last, has_gaps=True)


def _joint(before: Segment, segment: Segment) -> str:
    """What stands between two segments; a paragraph is cut behind a blank, if it has any."""
    if segment.continues and segment.kind is SegmentKind.TEXT:
        return " " if before.text[-1:].isspace() else ""
    return "\n" if segment.continues else "\n\n"


def markdown_steps(model: TranscriptModel, document_of: DocumentOf, span: Span) -> Iterator[str]:
    """The Markdown, piece by piece; put together and stripped of line ends they are what is copied."""
    has_text = False
    for message in range(span.start.message, min(span.end.message, len(model) - 1) + 1):
        if model.message(message).kind is MessageKind.CARD:
            continue
        needs_gap = has_text
        for piece in _message_steps(model, document_of, span, message):
            if piece and needs_gap:
                yield "\n\n"
                needs_gap = False
            has_text = has_text or bool(piece)
            yield piece


def _message_steps(
    model: TranscriptModel, document_of: DocumentOf, span: Span, message: int
) -> Iterator[str]:
    if _is_whole(model, span, message):
        yield model.source(message)
    elif model.message(message).kind is MessageKind.USER:
        yield from _user_text(model, document_of, span, message)
    else:
        yield from _Answer(model, document_of, span, message).steps()


def _is_whole(model: TranscriptModel, span: Span, message: int) -> bool:
    """Whether all of a message is selected, by the places of its ends alone."""
    is_from_start = span.start <= TextPosition(message, 0, 0)
    return is_from_start and span.end >= TextPosition(message, len(model.segments(message)), 0)


def _user_text(model: TranscriptModel, document_of: DocumentOf, span: Span, message: int) -> Iterator[str]:
    for segment in model.segments(message):
        here = (message, segment.index)
        if (span.start.message, span.start.segment) <= here <= (span.end.message, span.end.segment):
            first, last = span.within(*here)
            document = document_of(*here)
            is_whole = first == 0 and (last is None or last >= document.characterCount() - 1)
            yield segment.text if is_whole else plain_text(document, first, last)


@dataclass(frozen=True, slots=True)
class _Reach:
    """What is selected of a segment. `goes_on_with`: the block it goes on with was copied; `is_raw`: as its
    source is, so that its source may follow."""

    start: int
    end: int | None
    goes_on_with: bool
    is_raw: bool
    has_more_before: bool
    has_more_behind: bool


class _Answer:
    """Copies a part of one answer, segment by segment."""

    def __init__(self, model: TranscriptModel, document_of: DocumentOf, span: Span, message: int) -> None:
        self._model = model
        self._document_of = document_of
        self._span = span
        self._message = message
        self._slices = SourceSlices()

    def steps(self) -> Iterator[str]:
        """The Markdown, piece by piece."""
        span, segments = self._span, self._model.segments(self._message)
        first = span.start.segment if span.start.message == self._message else 0
        last = len(segments) - 1
        if span.end.message == self._message:
            last = min(last, span.end.segment)
        has_others = span.start.message != span.end.message
        is_begun, is_as_in_source = False, True
        for index in range(first, last + 1):
            segment, (start, end) = segments[index], self._within(index)
            if start == end:
                continue
            goes_on_with = is_begun and segment.continues
            is_raw = is_as_in_source if goes_on_with else start == 0 and not is_inside_block(segment)
            has_more = index < last and self._within(index + 1) != (0, 0)
            cut = _Reach(start, end, goes_on_with, is_raw, is_begun or has_others, has_more or has_others)
            if segment.kind is SegmentKind.CODE:
                after = segments[index + 1] if has_more else None
                yield from self._code(segment, segments[index - 1] if is_begun else None, after, cut)
                is_as_in_source = is_raw
            elif is_raw and start == 0 and end is None:
                yield segment.text
                is_as_in_source = True
            else:
                is_seam = has_more and segment.goes_on and segments[index + 1].kind in _SEAMLESS
                yield from self._part(segment, cut, is_before_seam=is_seam)
                is_as_in_source = self._slices.ends_as_in_source
            is_begun = True

    def _code(
        self, segment: Segment, before: Segment | None, after: Segment | None, reach: "_Reach"
    ) -> Iterator[str]:
        is_open = before is not None and before.kind is SegmentKind.CODE and segment.continues
        goes_on = after is not None and after.kind is SegmentKind.CODE and segment.goes_on
        is_alone = not (reach.has_more_before or reach.has_more_behind)
        return code_slice(CodeCut(segment, reach.start, reach.end, is_open, reach.is_raw, goes_on, is_alone))

    def _part(self, segment: Segment, reach: "_Reach", *, is_before_seam: bool) -> Iterator[str]:
        environment = self._model.environment(self._message)
        assert environment is not None
        document = self._document_of(self._message, segment.index)
        end = document.characterCount() - 1 if reach.end is None else reach.end
        return self._slices.of(
            Cut(
                document,
                segment,
                environment,
                reach.start,
                end,
                reach.goes_on_with and reach.is_raw,
                reach.has_more_before,
                reach.has_more_behind,
                is_before_seam,
            )
        )

    def _within(self, index: int) -> tuple[int, int | None]:
        """Start and end in a segment's document; the end is None if all that follows is selected."""
        first, last = self._span.within(self._message, index)
        if last is not None:
            document = self._document_of(self._message, index)
            last = None if last >= document.characterCount() - 1 else last
        return first, last


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
