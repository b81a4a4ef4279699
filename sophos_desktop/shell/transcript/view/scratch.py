"""Builds documents of segments that are not in the view, for whoever reads the whole conversation.

Invariant: the view's own documents stay as they are; at most a few others are alive.
"""

from PySide6.QtGui import QTextDocument

from sophos_desktop.shell.transcript.drawing.documents import Documents, Drawn
from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView

_LIMIT = 4


class ScratchDocuments:
    """Lives as long as its view."""

    def __init__(self, view: TranscriptView) -> None:
        """Builds nothing yet."""
        self._view = view
        self._documents = Documents(view.looks.style, _LIMIT)
        view.model.was_reset.connect(self._documents.clear)

    def drawn(self, message: int, segment: int) -> Drawn:
        """A segment as the view would show it; do not keep it."""
        view, model = self._view, self._view.model
        shown = view.transcript_layout.documents
        drawn = shown.peek(model.key(message), segment)
        if drawn is not None and not drawn.is_stale and drawn.segment is model.segments(message)[segment]:
            return drawn
        if self._documents.style is not shown.style:
            self._documents.set_style(shown.style)
        # How wide a bubble is changes nothing of what it says.
        self._documents.set_widths(shown.column, shown.column)
        return self._documents.get(model, message, segment)

    def document(self, message: int, segment: int) -> QTextDocument:
        """The document of a segment; do not keep it."""
        return self.drawn(message, segment).document
