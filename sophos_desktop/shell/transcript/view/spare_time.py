"""Does in slices what need not be done at once: reads huge answers, colours code, lays out what is near.

Invariant: a slice takes a few milliseconds; the timer runs only while there is something to do.
"""

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

_PAUSE_MILLISECONDS = 12
_READ_SECONDS = 0.005
_COLOUR_SECONDS = 0.003
_AHEAD_SECONDS = 0.004


class SpareTime(QObject):
    """Lives as long as its view."""

    def __init__(self, view: "TranscriptView") -> None:
        """Nothing to do."""
        super().__init__(view)
        self._view = view
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MILLISECONDS)
        self._timer.timeout.connect(self._work)

    @property
    def is_busy(self) -> bool:
        """There is something left to do."""
        return self._timer.isActive()

    def begin(self) -> None:
        """There may be something to do."""
        if not self._timer.isActive():
            self._timer.start()

    def _work(self) -> None:
        if self._read() or self._colour() or self._lay_out_ahead():
            self.begin()

    def _read(self) -> bool:
        model, layout = self._view.model, self._view.transcript_layout
        seen = dict.fromkeys(placed.message for placed in layout.placed)
        if len(model):
            seen[len(model) - 1] = None
        for message in seen:
            if not model.is_read(message):
                model.read_on(message, _READ_SECONDS)
                return True
        return False

    def _colour(self) -> bool:
        documents = self._view.transcript_layout.documents
        if not documents.has_jobs:
            return False
        if documents.colour(perf_counter() + _COLOUR_SECONDS):
            self._view.schedule()
        return True

    def _lay_out_ahead(self) -> bool:
        end = perf_counter() + _AHEAD_SECONDS
        layout = self._view.transcript_layout
        while layout.lay_out_ahead():
            if perf_counter() >= end:
                return True
        return False
