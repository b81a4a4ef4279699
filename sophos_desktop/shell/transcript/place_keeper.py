"""Remembers which character is at the top, so that it is there again when all heights have changed.

Invariant: until the reader moves, it is the same character at the same height, however often the width or the
zoom changes: there and back again gives the same picture.
"""

from sophos_desktop.shell.transcript.geometry import Geometry
from sophos_desktop.shell.transcript.layout import TranscriptLayout
from sophos_desktop.shell.transcript.positions import TextPosition


class PlaceKeeper:
    """Lives as long as its view."""

    def __init__(self, layout: TranscriptLayout, geometry: Geometry) -> None:
        """Remembers nothing."""
        self._layout = layout
        self._geometry = geometry
        self._kept: tuple[TextPosition, int] | None = None  # a character and the top of its line

    def forget(self) -> None:
        """The reader has moved."""
        self._kept = None

    def keep(self) -> None:
        """Remember what is at the top, unless something is remembered."""
        if self._kept is not None or self._layout.follows_end:
            return
        for placed in self._layout.placed:
            part = self._geometry.text_part(placed)
            if part is None or placed.bottom <= 0:
                continue
            place = self._geometry.first_visible(part)
            line = self._geometry.line_top(place)
            if line is not None:
                gap = self._layout.rows.gap(placed.message, placed.part)
                self._kept = (place, placed.top - gap + line)
            return

    def restore(self) -> None:
        """Put what is remembered where it was."""
        if self._kept is None or self._layout.follows_end:
            return
        place, y = self._kept
        line = self._geometry.line_top(place)
        if line is not None:
            self._layout.go_to(place.message, place.segment, y - line)
