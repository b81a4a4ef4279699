"""Counts the lines that came since the reader left the end of a conversation.

Invariant: nothing is counted while the end is in the view, and nothing before something came: what is only
measured more exactly is not new, and neither is room at the end.
"""

from typing import Final

from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel
from sophos_desktop.shell.transcript.view.layout import TranscriptLayout

END_ROOM: Final = "end room"  # the id of an entry that is empty room


class News:
    """Lives as long as its view."""

    def __init__(self, layout: TranscriptLayout) -> None:
        """Nothing new."""
        self._layout = layout
        self._left_at: tuple[int, int] | None = None  # the last message then, the height from it on
        self._has_come = False
        self._told = 0
        self.lines = 0

    def watch(self, model: TranscriptModel) -> None:
        """Hear of what comes; called once."""
        model.grew.connect(self._on_grew)
        model.inserted.connect(self._on_inserted)

    def _on_grew(self, message: int, _segments: object) -> None:
        self._has_come = self._has_come or message >= self._end - 1

    def _on_inserted(self, first: int, last: int) -> None:
        # What is put in further up (a notice of an old run) is not new.
        self._has_come = self._has_come or (first < self._end <= last + 1)

    def forget(self) -> None:
        """Another conversation."""
        self._left_at = None
        self._has_come = False
        self.lines = 0

    def look(self, *, is_at_end: bool) -> bool:
        """Count again; True if the number is not the one that was told last."""
        if is_at_end or not len(self._layout.model):
            self.forget()
        elif self._left_at is None or not self._has_come:
            last = max(0, self._end - 1)
            self._left_at = (last, self._height_from(last))
            self.lines = 0
        else:
            message, height = self._left_at
            line = self._layout.documents.style.reading_line
            self.lines = max(0, self._height_from(message) - height) // line
        was, self._told = self._told, self.lines
        return self.lines != was

    @property
    def _end(self) -> int:
        """How many messages there are, without room."""
        model = self._layout.model
        count = len(model)
        return count - 1 if count and model.message(count - 1).id == END_ROOM else count

    def _height_from(self, message: int) -> int:
        heights = self._layout.rows.heights
        return heights.top(self._end) - heights.top(min(message, self._end))
