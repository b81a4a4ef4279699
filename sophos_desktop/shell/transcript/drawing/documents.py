"""Keeps the documents of the segments that were seen last, and colours their code bit by bit.

Invariant: at most `limit` documents are alive, and no job of colouring keeps one alive; a document is that of
its segment as the model has it now, in the style and width in force.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil
from time import perf_counter

from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.drawing.built import BuiltSegment, SegmentDocument
from sophos_desktop.shell.transcript.drawing.code_blocks import CodeHighlighter
from sophos_desktop.shell.transcript.drawing.document_builder import build, extend_code
from sophos_desktop.shell.transcript.drawing.held_columns import HeldColumns
from sophos_desktop.shell.transcript.drawing.math_images import MathImages
from sophos_desktop.shell.transcript.drawing.plain_builder import build_plain, shrink_to_fit
from sophos_desktop.shell.transcript.drawing.style import TranscriptTheme
from sophos_desktop.shell.transcript.markdown.environment import MarkdownEnvironment
from sophos_desktop.shell.transcript.markdown.segments import Segment, SegmentKind
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptModel

LIMIT = 400
BUBBLE_SIDE = 16
BUBBLE_EDGE = 8
_FORMULA_ROOM = 5
_READING_SIZE = 15
_OPEN_CODE_SECONDS = 0.4  # between two colourings of code that is still being written

Key = tuple[int, int]  # the message's key in the model, the segment


class Drawn:
    """A segment's document. `left`: of the document in the column; `width`: what it may fill; `revision`
    changes whenever it looks different."""

    __slots__ = ("built", "document", "height", "is_stale", "left", "revision", "segment", "width")

    def __init__(self, segment: Segment, document: QTextDocument, built: BuiltSegment) -> None:
        self.segment = segment
        self.document = document
        self.built = built
        self.left = 0
        self.width = 0
        self.height = 0
        self.revision = 0
        self.is_stale = False

    def measure(self) -> None:
        """Take the height of the document, room for boxes included, gap before it not."""
        built = self.built
        text = 0 if built.is_empty else ceil(self.document.size().height())
        self.height = built.room_above + text + built.room_below


class Documents:
    """Lives as long as its view, on the GUI thread."""

    def __init__(self, style: TranscriptTheme, limit: int = LIMIT) -> None:
        """Empty."""
        self._style = style
        self._column = 600
        self._bubble = 480
        self._limit = limit
        self._math = MathImages()
        self._columns = HeldColumns()
        self._kept: OrderedDict[Key, Drawn] = OrderedDict()
        self._highlighter = CodeHighlighter(style)
        self._jobs: OrderedDict[Key, Iterator[None]] = OrderedDict()
        self._revision = 0
        self._coloured_open_at = 0.0

    def __len__(self) -> int:
        """How many documents are alive."""
        return len(self._kept)

    @property
    def style(self) -> TranscriptTheme:
        """Fonts and colours in force."""
        return self._style

    @property
    def column(self) -> int:
        """The width of an answer."""
        return self._column

    @property
    def has_jobs(self) -> bool:
        """Code waits for its colours."""
        return bool(self._jobs)

    def set_style(self, style: TranscriptTheme) -> None:
        """Everything looks different from now on."""
        self._style = style
        self._highlighter = CodeHighlighter(style)
        self.clear()

    def set_widths(self, column: int, bubble: int) -> bool:
        """The width of answers and the greatest of the user's messages; True if that is new."""
        if (column, bubble) == (self._column, self._bubble):
            return False
        self._column, self._bubble = column, bubble
        self.clear()
        return True

    def clear(self) -> None:
        """Forget all."""
        self._columns.clear()
        self._kept.clear()
        self._jobs.clear()

    def forget(self, message_key: int) -> None:
        """A message is gone or something else now."""
        self._columns.forget(message_key)
        for key in [key for key in self._kept if key[0] == message_key]:
            del self._kept[key]
            self._jobs.pop(key, None)

    def mark_stale(self, message_key: int, segments: Iterable[int]) -> None:
        """What these segments say depends on others, which changed."""
        for segment in segments:
            drawn = self._kept.get((message_key, segment))
            if drawn is not None:
                drawn.is_stale = True

    @property
    def holds_columns(self) -> bool:
        """A table may look otherwise than when it is built afresh."""
        return self._columns.is_any_held

    def hold_columns(self, *, is_held: bool) -> frozenset[Key]:
        """Whether columns of tables stay as wide as they are shown; gives what has another height now."""
        messages = self._columns.hold(is_held=is_held)
        changed = {key for key, drawn in self._kept.items() if key[0] in messages and drawn.built.has_table}
        for key in changed:
            self._kept[key].is_stale = True
        return frozenset(changed)

    def peek(self, message_key: int, segment: int) -> Drawn | None:
        """A document if it is alive, as it is."""
        return self._kept.get((message_key, segment))

    def shows_nothing(self, model: TranscriptModel, message: int, index: int) -> bool:
        """Whether a segment is known to have no height, without a document."""
        environment = model.environment(message)
        if environment is None or model.is_raw(message):
            return False
        return environment.shows_nothing(model.segments(message)[index])

    def get(self, model: TranscriptModel, message: int, index: int) -> Drawn:
        """The document of a segment, built or brought up to date if need be."""
        segment = model.segments(message)[index]
        key = (model.key(message), index)
        drawn = self._kept.get(key)
        if drawn is None:
            drawn = Drawn(segment, SegmentDocument(), BuiltSegment(0, 0, 0, 0, is_empty=True))
            self._kept[key] = drawn
            self._build(model, message, key, drawn)
            if len(self._kept) > self._limit:
                oldest, _ = self._kept.popitem(last=False)
                self._jobs.pop(oldest, None)
            return drawn
        self._kept.move_to_end(key)
        if drawn.segment is not segment or drawn.is_stale:
            self._bring_up_to_date(model, message, key, drawn, segment)
        return drawn

    def _bring_up_to_date(
        self, model: TranscriptModel, message: int, key: Key, drawn: Drawn, segment: Segment
    ) -> None:
        before = drawn.segment
        if not drawn.is_stale and before == segment:
            drawn.segment = segment
            return
        if not drawn.is_stale and segment.kind is SegmentKind.CODE:
            longer = extend_code(drawn.document, before, segment, drawn.built, self._style)
            if longer is not None:
                drawn.built, drawn.segment = longer, segment
                self._touch(drawn)
                self._colour_open(key, drawn)
                return
        drawn.segment = segment
        self._build(model, message, key, drawn)

    def _build(self, model: TranscriptModel, message: int, key: Key, drawn: Drawn) -> None:
        drawn.is_stale = False
        self._jobs.pop(key, None)
        if drawn.built.has_table:
            self._columns.note(key, drawn.document)
        # A document that was laid out is laid out again at every edit (a table: a millisecond each).
        drawn.document = SegmentDocument()
        environment = model.environment(message)
        if model.message(message).kind is MessageKind.USER:
            self._build_bubble(drawn)
        elif environment is None or model.is_raw(message):
            margin = max(0, self._column - self._style.measure)
            drawn.left, drawn.width = 0, self._column
            drawn.built = build_plain(drawn.document, drawn.segment, self._style, self._column, margin)
        else:
            self._build_answer(drawn, key, environment)
            segments = model.segments(message)
            drawn.built = self._columns.apply(key, segments, drawn.document, drawn.built, self._column)
        self._touch(drawn)

    def _build_bubble(self, drawn: Drawn) -> None:
        widest = self._bubble - 2 * BUBBLE_SIDE
        segment = drawn.segment
        built = build_plain(drawn.document, segment, self._style, widest)
        is_whole = not segment.continues and not segment.goes_on
        drawn.width = shrink_to_fit(drawn.document, widest) if is_whole else widest
        drawn.left = self._column - BUBBLE_SIDE - drawn.width
        above = 0 if segment.continues else BUBBLE_EDGE
        below = 0 if segment.goes_on else BUBBLE_EDGE
        drawn.built = BuiltSegment(0, above, below, drawn.width, is_empty=built.is_empty)

    def _build_answer(self, drawn: Drawn, key: Key, environment: MarkdownEnvironment) -> None:
        drawn.left, drawn.width = 0, self._column
        drawn.built = build(drawn.document, drawn.segment, environment, self._style, self._column, self._math)
        if any(formula.is_drawn for formula in drawn.built.formulas):
            # A formula fills its line to the top, and text is painted a little higher than it is laid out.
            room = drawn.built.room_above + ceil(_FORMULA_ROOM * self._style.reading_size / _READING_SIZE)
            drawn.built = replace(drawn.built, room_above=room)
        if drawn.segment.closed:
            self._begin_colouring(key, drawn)

    def _touch(self, drawn: Drawn) -> None:
        self._revision += 1
        drawn.revision = self._revision
        drawn.measure()

    # Colours of code.

    def _begin_colouring(self, key: Key, drawn: Drawn) -> None:
        if any(box.language for box in drawn.built.code_boxes):
            self._jobs[key] = self._steps(drawn)

    def _colour_open(self, key: Key, drawn: Drawn) -> None:
        now = perf_counter()
        if key not in self._jobs and now - self._coloured_open_at >= _OPEN_CODE_SECONDS:
            self._coloured_open_at = now
            self._begin_colouring(key, drawn)

    def _steps(self, drawn: Drawn) -> Iterator[None]:
        document = drawn.document
        for box in drawn.built.code_boxes:
            language = drawn.segment.language or box.language
            yield from self._highlighter.steps(document, language, box.first_block, box.last_block)

    def colour(self, deadline: float) -> frozenset[Key]:
        """Colour code until `deadline` (time.perf_counter); gives what looks different now."""
        changed = set()
        while self._jobs:
            key, job = next(iter(self._jobs.items()))
            drawn = self._kept[key]
            is_over = False
            for _ in job:
                changed.add(key)
                if perf_counter() >= deadline:
                    is_over = True
                    break
            else:
                del self._jobs[key]
            if key in changed:
                self._revision += 1
                drawn.revision = self._revision
            if is_over or perf_counter() >= deadline:
                break
        return frozenset(changed)
