"""The selection across messages: by mouse, by keyboard, and what of it is copied.

Invariant: it holds places in the text, not pixels, so scrolling and resizing leave it alone; while there is
one, the view is held and never follows the end; while the text is written on, the ends stay on their
characters. Anchor and caret may be in any order.
"""

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.transcript.copying.clipboard import (
    Span,
    markdown_steps,
    message_span,
    text_steps,
    whole_span,
)
from sophos_desktop.shell.transcript.model.positions import Highlight, TextPosition
from sophos_desktop.shell.transcript.selecting.caret_moves import Move, moved
from sophos_desktop.shell.transcript.selecting.copy_job import CopyJob, Steps, copied_at_once, read_at_once
from sophos_desktop.shell.transcript.selecting.kept_ends import KeptEnds
from sophos_desktop.shell.transcript.selecting.selection_units import Unit, around
from sophos_desktop.shell.transcript.view.scratch import ScratchDocuments
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

LAYER = "selection"
HELD = "selection"
_AUTOSCROLL_MILLISECONDS = 25
_FASTEST_PIXELS = 60
_Key = QKeySequence.StandardKey


class Selection(QObject):
    """Lives as long as its view, on the GUI thread; it is the view's mouse handler."""

    changed = Signal()
    copied = Signal()  # the clipboard has it: a long text takes a while

    def __init__(self, view: TranscriptView) -> None:
        """Nothing is selected."""
        super().__init__(view)
        self._view = view
        self._scratch = ScratchDocuments(view)
        self._anchor: TextPosition | None = None
        self._caret: TextPosition | None = None
        self._first: Span | None = None  # the word or block that a drag began with
        self._unit = Unit.CHARACTER
        self._is_dragging = False
        self._pointer = QPointF()
        self._pressed_at = QPointF(-1e6, -1e6)
        self._double_click_timer = QTimer(self)
        self._double_click_timer.setSingleShot(True)
        self._autoscroll = QTimer(self)
        self._autoscroll.setInterval(_AUTOSCROLL_MILLISECONDS)
        self._autoscroll.timeout.connect(self._on_autoscroll)
        self._job = CopyJob(view.model, self._scratch.document, self)
        self._job.done.connect(self.copied)
        self._kept = KeptEnds(view.model, self._scratch.document)
        self._is_unsettled = False  # the text at an end was drawn anew
        view.set_mouse_handler(self)
        view.installEventFilter(self)
        self._watch_model()

    def _watch_model(self) -> None:
        model = self._view.model
        model.was_reset.connect(self.clear)
        model.inserted.connect(self._on_inserted)
        model.removed.connect(self._on_removed)
        model.changed.connect(self._on_changed)
        model.grew.connect(self._on_grew)
        self._view.layoutChanged.connect(self._on_layout_changed)

    # What is selected.

    @property
    def span(self) -> Span | None:
        """From the first to the last place; None if nothing is selected."""
        self._settle()
        if self._anchor is None or self._caret is None or self._anchor == self._caret:
            return None
        return Span(min(self._anchor, self._caret), max(self._anchor, self._caret))

    @property
    def caret(self) -> TextPosition | None:
        """Where the moving end is."""
        self._settle()
        return self._caret

    @property
    def current_message(self) -> int | None:
        """The message that the caret is in, or the first that is seen."""
        if self._caret is not None and self._caret.message < len(self._view.model):
            return self._caret.message
        seen = self._view.transcript_layout.visible_messages
        return seen.start if len(seen) else None

    def text(self) -> str:
        """What is selected, as plain text, at once."""
        return self._copied(text_steps)

    def markdown(self) -> str:
        """What is selected, as Markdown, at once."""
        return self._copied(markdown_steps)

    def _copied(self, steps: Steps) -> str:
        if self.span is not None:
            read_at_once(self._view.model, steps, self.span)
        span = self.span
        return "" if span is None else copied_at_once(self._view.model, self._scratch.document, steps, span)

    def select(self, anchor: TextPosition, caret: TextPosition) -> None:
        """Select from `anchor` to `caret`."""
        self._anchor, self._caret = anchor, caret
        self._show()

    def select_all(self) -> None:
        """Everything in the conversation."""
        span = whole_span(self._view.model)
        if span is not None:
            self.select(span.start, span.end)

    def select_message(self, message: int) -> None:
        """All of one message."""
        span = message_span(self._view.model, message)
        if span is not None:
            self.select(span.start, span.end)

    def clear(self) -> None:
        """Select nothing."""
        self._anchor = self._caret = self._first = None
        self._is_dragging = False
        self._autoscroll.stop()
        self._show()

    def _show(self) -> None:
        self._is_unsettled = False
        self._kept.hold([end for end in (self._anchor, self._caret) if end is not None])
        span, colour = self.span, self._view.looks.tokens.accent_line
        highlights = [] if span is None else [Highlight(span.start, span.end, colour)]
        self._view.set_highlights(LAYER, highlights)
        self._view.set_held(HELD, is_held=span is not None or self._is_dragging)
        self.changed.emit()

    def refresh_colours(self) -> None:
        """Another theme is in force."""
        self._settle()
        self._show()

    # The mouse.

    def press(self, event: QMouseEvent) -> None:
        """Put the caret; with Shift move it; a third press selects the paragraph."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._settle()
        point = event.position()
        position = self._view.geometry_of_text.position_at(point)
        if position is None:
            return
        near = (point - self._pressed_at).manhattanLength() < QApplication.startDragDistance()
        if self._double_click_timer.isActive() and near:
            self._begin(position, Unit.BLOCK)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._anchor is not None:
            self._unit = Unit.CHARACTER
            self._first = None
            self._caret = position
            self._is_dragging = True
        else:
            self._unit, self._first = Unit.CHARACTER, None
            self._anchor = self._caret = position
            self._is_dragging = True
        self._show()

    def double_click(self, event: QMouseEvent) -> None:
        """Select the word; a drag goes on by words."""
        position = self._view.geometry_of_text.position_at(event.position())
        if position is not None and event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = event.position()
            self._double_click_timer.start(QApplication.doubleClickInterval())
            self._begin(position, Unit.WORD)
            self._show()

    def _begin(self, position: TextPosition, unit: Unit) -> None:
        self._unit = unit
        self._first = self._around(position, unit)
        self._anchor, self._caret = self._first.start, self._first.end
        self._is_dragging = True

    def move(self, event: QMouseEvent) -> None:
        """Select while the button is held; beyond the edges the view moves on."""
        if not self._is_dragging or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        self._pointer = event.position()
        self._drag_to(self._pointer)
        if self._pixels_beyond():
            if not self._autoscroll.isActive():
                self._autoscroll.start()
        else:
            self._autoscroll.stop()

    def release(self, event: QMouseEvent) -> None:
        """The drag is over."""
        self._settle()
        if event.button() == Qt.MouseButton.LeftButton and self._is_dragging:
            self._is_dragging = False
            self._autoscroll.stop()
            clipboard = QGuiApplication.clipboard()
            if clipboard.supportsSelection() and self.span is not None:
                put = partial(clipboard.setText, mode=clipboard.Mode.Selection)
                self._job.start(text_steps, lambda: self.span, put)
            self._show()

    def _drag_to(self, point: QPointF) -> None:
        self._settle()
        position = self._view.geometry_of_text.position_at(point)
        if position is None or self._anchor is None:
            return
        if self._first is None:
            self._caret = position
        else:
            here = self._around(position, self._unit)
            if position < self._first.start:
                self._anchor, self._caret = self._first.end, here.start
            else:
                self._anchor, self._caret = self._first.start, max(self._first.end, here.end)
        self._show()

    def _pixels_beyond(self) -> int:
        """How far the pointer is above (negative) or below the view; faster the farther."""
        y, height = self._pointer.y(), self._view.viewport().height()
        beyond = min(0.0, y) + max(0.0, y - height + 1)
        return max(-_FASTEST_PIXELS, min(_FASTEST_PIXELS, round(beyond)))

    def _on_autoscroll(self) -> None:
        pixels = self._pixels_beyond()
        if not pixels or not self._is_dragging:
            self._autoscroll.stop()
            return
        self._view.scroll_by(pixels)
        edge = 0.0 if pixels < 0 else float(self._view.viewport().height() - 1)
        self._drag_to(QPointF(self._pointer.x(), edge))

    def _around(self, position: TextPosition, unit: Unit) -> Span:
        return around(self._scratch.document(position.message, position.segment), position, unit)

    # The keyboard.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the view."""
        if isinstance(event, QKeyEvent) and watched is self._view:
            if event.type() == QEvent.Type.ShortcutOverride and self._is_ours(event):
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and self._on_key(event):
                return True
        return super().eventFilter(watched, event)

    def _is_ours(self, event: QKeyEvent) -> bool:
        is_copy = event.matches(_Key.Copy) or _is_copy_markdown(event)
        return event.matches(_Key.SelectAll) or (is_copy and self.span is not None)

    def _on_key(self, event: QKeyEvent) -> bool:
        if event.matches(_Key.SelectAll):
            self.select_all()
        elif event.matches(_Key.Copy) and self.span is not None:
            self.copy_text()
        elif _is_copy_markdown(event) and self.span is not None:
            self.copy_markdown()
        elif event.key() == Qt.Key.Key_Escape and self.span is not None:
            self.clear()
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            move = Move.of(event)
            return move is not None and self._extend(move)
        else:
            return False
        return True

    def _extend(self, move: Move) -> bool:
        """Move the caret and keep the anchor; the first time from the top of the view."""
        self._settle()
        if self._caret is None or self._anchor is None:
            start = self._view.geometry_of_text.position_at(QPointF(0, 0))
            if start is None:
                return False
            self._anchor = self._caret = start
        self._caret = moved(self._view.model, self._scratch.document, self._caret, move)
        self._show()
        self._view.scroll_to(self._caret)
        return True

    # Copying.

    def copy_text(self) -> None:
        """Put the plain text on the clipboard."""
        self._job.start(text_steps, lambda: self.span, QGuiApplication.clipboard().setText)

    def copy_markdown(self) -> None:
        """Put the Markdown on the clipboard."""
        self._job.start(markdown_steps, lambda: self.span, QGuiApplication.clipboard().setText)

    def copy_message(self, message: int, *, as_markdown: bool) -> None:
        """Put all of a message on the clipboard; its Markdown is the exact source."""
        model = self._view.model
        if as_markdown:
            QGuiApplication.clipboard().setText(model.source(message))
            return
        name = model.message(message).id

        def whole() -> Span | None:
            index = model.index_of(name)
            return None if index is None else message_span(model, index)

        self._job.start(text_steps, whole, QGuiApplication.clipboard().setText)

    # Changes of the conversation.

    def _on_inserted(self, first: int, last: int) -> None:
        if self._anchor is None or self._caret is None:
            return
        count = last - first + 1
        self._anchor, self._caret = (
            TextPosition(place.message + count, place.segment, place.character)
            if place.message >= first
            else place
            for place in (self._anchor, self._caret)
        )
        self._first = None
        self._settle()
        self._show()
        self._job.restart()

    def _on_removed(self, first: int, _last: int) -> None:
        if self._caret is not None and max(self._caret, self._anchor or self._caret).message >= first:
            self.clear()
        self._job.restart()

    def _on_changed(self, message: int) -> None:
        ends = (self._anchor, self._caret)
        if any(end is not None and end.message == message for end in ends):
            self._is_unsettled = True

    def _on_grew(self, message: int, segments: frozenset[int]) -> None:
        for end in (self._anchor, self._caret):
            if end is not None and end.message == message:
                is_behind = bool(segments) and end.segment > max(segments)
                self._is_unsettled |= end.segment in segments or is_behind

    def _on_layout_changed(self) -> None:
        """What is in the view has been drawn anew; what is not can wait until somebody asks."""
        ends = [end for end in (self._anchor, self._caret) if end is not None]
        if self._is_unsettled and any(
            placed.message == end.message and placed.part == end.segment
            for placed in self._view.transcript_layout.placed
            for end in ends
        ):
            self._settle()

    def _settle(self) -> None:
        """Find the ends again in what was drawn anew; nothing is selected if they are gone."""
        anchor, caret = self._anchor, self._caret
        if not self._is_unsettled or anchor is None or caret is None:
            return
        self._is_unsettled = False
        now_anchor = self._kept.again(0, anchor, is_start=anchor <= caret)
        now_caret = self._kept.again(1, caret, is_start=caret <= anchor)
        if now_anchor is None or now_caret is None or _order(now_anchor, now_caret) != _order(anchor, caret):
            self.clear()
        elif (now_anchor, now_caret) == (anchor, caret):
            self._kept.hold([anchor, caret])
        else:
            self._anchor, self._caret, self._first = now_anchor, now_caret, None
            self._job.restart()
            self._show()


def _order(one: TextPosition, other: TextPosition) -> int:
    return (one > other) - (one < other)


def _is_copy_markdown(event: QKeyEvent) -> bool:
    wanted = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return event.key() == Qt.Key.Key_C and event.modifiers() == wanted
