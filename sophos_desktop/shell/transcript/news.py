"""Counts the lines that came since the reader left the end of a conversation.

Invariant: nothing is counted while the end is in the view.
"""

from sophos_desktop.shell.transcript.layout import TranscriptLayout


class News:
    """Lives as long as its view."""

    def __init__(self, layout: TranscriptLayout) -> None:
        """Nothing new."""
        self._layout = layout
        self._left_at: tuple[int, int] | None = None  # the last message then, the height from it on
        self.lines = 0

    def forget(self) -> None:
        """Another conversation."""
        self._left_at = None
        self.lines = 0

    def look(self, *, is_at_end: bool) -> bool:
        """Count again; True if the number changed."""
        before = self.lines
        if is_at_end or not len(self._layout.model):
            self.forget()
        elif self._left_at is None:
            last = len(self._layout.model) - 1
            self._left_at = (last, self._height_from(last))
        else:
            message, height = self._left_at
            line = self._layout.documents.style.reading_line
            self.lines = max(0, self._height_from(message) - height) // line
        return self.lines != before

    def _height_from(self, message: int) -> int:
        heights = self._layout.rows.heights
        return heights.total - heights.top(min(message, len(heights)))
