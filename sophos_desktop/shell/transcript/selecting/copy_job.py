"""Copies what may be megabytes, in slices, and reads first what was never read of it.

Invariant: what is put on the clipboard is all that was selected when it was done; a conversation that moves
meanwhile begins the work again.
"""

from collections.abc import Callable, Iterator
from time import perf_counter

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from sophos_desktop.shell.transcript.copying.clipboard import DocumentOf, Span, markdown_steps
from sophos_desktop.shell.transcript.model.positions import TextPosition
from sophos_desktop.shell.transcript.model.transcript_model import MessageKind, TranscriptModel
from sophos_desktop.shell.transcript.selecting.kept_ends import source_place

_AT_ONCE_SECONDS = 0.04
_SLICE_SECONDS = 0.008
_READ_SECONDS = 0.006

Steps = Callable[[TranscriptModel, DocumentOf, Span], Iterator[str]]


class CopyJob(QObject):
    """Lives as long as its selection, on the GUI thread; one copy at a time."""

    done = Signal()  # what was asked for has been put

    def __init__(self, model: TranscriptModel, document_of: DocumentOf, parent: QObject) -> None:
        """Nothing to copy."""
        super().__init__(parent)
        self._model = model
        self._document_of = document_of
        self._steps: Iterator[str] | None = None
        self._begin: Callable[[], Iterator[str]] | None = None
        self._put: Callable[[str], object] | None = None
        self._pieces: list[str] = []
        self._is_gone = False
        self._is_busy = False
        self._timer = QTimer(self)
        self._timer.setInterval(1)
        self._timer.timeout.connect(lambda: self._go_on(_SLICE_SECONDS))

    def start(self, steps: Steps, span_of: Callable[[], Span | None], put: Callable[[str], object]) -> None:
        """Copy what `span_of` says; it is asked again when what was read on has moved it."""
        self._begin = lambda: self._all_steps(steps, span_of)
        self._put = put
        self._steps, self._pieces = self._begin(), []
        self._go_on(_AT_ONCE_SECONDS)
        if self._steps is not None:
            self._timer.start()
            self._show_busy(is_busy=True)

    def restart(self) -> None:
        """The places of what is copied mean something else now."""
        if self._steps is not None and self._begin is not None:
            self._steps, self._pieces = self._begin(), []

    def stop(self) -> None:
        """What was to be copied is gone."""
        self._steps, self._pieces = None, []
        self._timer.stop()
        self._show_busy(is_busy=False)

    def _show_busy(self, *, is_busy: bool) -> None:
        """The pointer says that the clipboard does not have it yet."""
        if is_busy != self._is_busy:
            self._is_busy = is_busy
            if is_busy:
                QGuiApplication.setOverrideCursor(Qt.CursorShape.BusyCursor)
            else:
                QGuiApplication.restoreOverrideCursor()

    def _go_on(self, seconds: float) -> None:
        deadline = perf_counter() + seconds
        while self._steps is not None and perf_counter() < deadline:
            steps = self._steps
            piece = next(steps, None)
            if steps is not self._steps:
                continue  # reading on made it begin again
            if piece is not None:
                self._pieces.append(piece)
                continue
            text = "".join(self._pieces).strip("\n")
            self.stop()
            if self._put is not None and not self._is_gone:
                self._put(text)
                self.done.emit()

    def _all_steps(self, steps: Steps, span_of: Callable[[], Span | None]) -> Iterator[str]:
        span = span_of()
        if span is not None:
            for _ in _reading_steps(self._model, span, as_markdown=steps is markdown_steps):
                yield ""
            span = span_of()
        self._is_gone = span is None
        if span is not None:
            yield from _pieces(self._model, self._document_of, steps, span)


def copied_at_once(model: TranscriptModel, document_of: DocumentOf, steps: Steps, span: Span) -> str:
    """What a span says, after `read_at_once`."""
    return "".join(_pieces(model, document_of, steps, span)).strip("\n")


def read_at_once(model: TranscriptModel, steps: Steps, span: Span) -> None:
    """Read what must be read to copy a span; takes half a second for a megabyte."""
    for _ in _reading_steps(model, span, as_markdown=steps is markdown_steps):
        pass


def _pieces(model: TranscriptModel, document_of: DocumentOf, steps: Steps, span: Span) -> Iterator[str]:
    message = span.start.message
    if _is_part_of_one(span, message, model) and model.is_raw(message):
        # What is shown of an unread answer is its source.
        first = source_place(model, document_of, span.start)
        yield model.source(message)[first : source_place(model, document_of, span.end)]
    else:
        yield from steps(model, document_of, span)


def _reading_steps(model: TranscriptModel, span: Span, *, as_markdown: bool) -> Iterator[None]:
    for message in range(span.start.message, min(span.end.message, len(model) - 1) + 1):
        if _must_be_read(model, span, message, as_markdown=as_markdown):
            while message < len(model) and not model.read_on(message, _READ_SECONDS):
                yield


def _must_be_read(model: TranscriptModel, span: Span, message: int, *, as_markdown: bool) -> bool:
    if model.message(message).kind is not MessageKind.ANSWER:
        return False
    model.segments(message)  # begins to read
    if model.is_read(message):
        return False
    if model.is_raw(message) and _is_part_of_one(span, message, model):
        return False
    return not (as_markdown and _is_whole(span, message, model))


def _is_part_of_one(span: Span, message: int, model: TranscriptModel) -> bool:
    """Whether less than a message is selected, and nothing beside it."""
    is_here = span.start.message == message == span.end.message
    return is_here and message < len(model) and not _is_whole(span, message, model)


def _is_whole(span: Span, message: int, model: TranscriptModel) -> bool:
    is_from_start = span.start <= TextPosition(message, 0, 0)
    return is_from_start and span.end >= TextPosition(message, len(model.segments(message)), 0)
