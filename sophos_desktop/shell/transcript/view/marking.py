"""What is painted on parts besides their text, and which part looks different because of it.

Invariant: plain state of the view; a part's `signature` changes whenever its marks do.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from PySide6.QtCore import QRectF

from sophos_desktop.shell.transcript.model.positions import Highlight
from sophos_desktop.shell.transcript.view.geometry import Geometry, TextPart
from sophos_desktop.shell.transcript.view.hit_areas import Hit
from sophos_desktop.shell.transcript.view.painting import Marks
from sophos_desktop.shell.transcript.view.sideways import Group, Sideways


class Marking:
    """Lives as long as its view."""

    def __init__(self, geometry: Geometry, sideways: Sideways) -> None:
        """Nothing is marked."""
        self._geometry = geometry
        self._sideways = sideways
        self._layers: dict[str, tuple[Highlight, ...]] = {}
        self.hovered: Hit | None = None
        self.hovered_bar: Group | None = None
        self.copied: tuple[int, int, int] | None = None  # the message's key, segment, code box
        self.caret: tuple[int, int] | None = None  # the message's key, segment
        self.caret_is_lit = True

    def set_highlights(self, layer: str, highlights: Sequence[Highlight]) -> bool:
        """Replace a layer; True if that changed anything."""
        new = tuple(highlights)
        if self._layers.get(layer, ()) == new:
            return False
        self._layers[layer] = new
        return True

    def clear_highlights(self) -> None:
        """The places mean nothing any more."""
        self._layers = dict.fromkeys(self._layers, ())

    def _of(self, message: int, segment: int) -> Iterable[Highlight]:
        here = (message, segment)
        for each in chain.from_iterable(self._layers.values()):
            start, end = each.start, each.end
            if (start.message, start.segment) <= here <= (end.message, end.segment):
                yield each

    def signature(self, part: TextPart) -> tuple[object, ...]:
        """What the marks of a part depend on."""
        placed = part.placed
        key = (placed.key, placed.part)
        hovered = self.hovered
        is_hovered = hovered is not None and (hovered.message, hovered.part) == (placed.message, placed.part)
        return (
            tuple(self._of(placed.message, placed.part)),
            hovered if is_hovered else None,
            self.copied if self.copied is not None and self.copied[:2] == key else None,
            self.caret_is_lit if self.caret == key else None,
            part.offset,
            part.group is not None and part.group == self.hovered_bar,
            self._sideways.widest(part.group) if part.group is not None else 0,
        )

    def marks(self, part: TextPart, caret: QRectF | None) -> Marks:
        """The marks of a part; `caret` is where it would be."""
        placed = part.placed
        key = (placed.key, placed.part)
        grounds = [
            (area, each.colour, each.frame)
            for each in self._of(placed.message, placed.part)
            for area in self._geometry.within(part, each.start, each.end)
        ]
        hovered = self.hovered
        is_hovered = hovered is not None and (hovered.message, hovered.part) == (placed.message, placed.part)
        return Marks(
            grounds=grounds,
            caret=caret if self.caret == key and self.caret_is_lit else None,
            copied=self.copied[2] if self.copied is not None and self.copied[:2] == key else None,
            hovered=hovered if is_hovered else None,
            widest=self._sideways.widest(part.group) if part.group is not None else 0,
            bar_is_hovered=part.group is not None and part.group == self.hovered_bar,
        )
