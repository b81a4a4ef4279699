"""The caret at the end of an answer that is being written.

Invariant: it blinks as the system's carets do, and is lit whenever something was just written.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from sophos_desktop.shell.transcript.view.marking import Marking

if TYPE_CHECKING:
    from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView


class WritingCaret(QObject):
    """Lives as long as its view."""

    def __init__(self, view: "TranscriptView", marking: Marking) -> None:
        """Nothing is being written."""
        super().__init__(view)
        self._view = view
        self._marking = marking
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_blink)

    def place(self) -> None:
        """Find out where it is now."""
        model, rows = self._view.model, self._view.transcript_layout.rows
        last = len(model) - 1
        place = None
        if last >= 0 and model.is_open(last) and not model.is_raw(last):
            count = rows.row(last).text_count
            place = (model.key(last), count - 1) if count else None
        self._marking.caret = place
        milliseconds = QApplication.cursorFlashTime() // 2
        if place is None:
            self.light()
        elif milliseconds > 0 and not self._timer.isActive():
            self._timer.start(milliseconds)

    def light(self) -> None:
        """Something was written."""
        self._marking.caret_is_lit = True
        self._timer.stop()

    def _on_blink(self) -> None:
        self._marking.caret_is_lit = not self._marking.caret_is_lit
        self._view.schedule()
