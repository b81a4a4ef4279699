"""Tells a view's layout of everything that happens to its model.

Invariant: the layout hears of each change before the view lays out again. Where messages or segments come to
have other numbers that is at once: a paint event in between would paint what is not there any more.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from sophos_desktop.shell.transcript.model.transcript_model import TranscriptModel

if TYPE_CHECKING:
    from sophos_desktop.shell.transcript.view.place_keeper import PlaceKeeper
    from sophos_desktop.shell.transcript.view.transcript_view import TranscriptView


class ModelWatch(QObject):
    """Lives as long as its view; watches one model at a time."""

    def __init__(self, view: "TranscriptView", place: "PlaceKeeper") -> None:
        """Watches the view's first, empty model; `place` is told before anything is laid out anew."""
        super().__init__(view)
        self._view = view
        self._place = place
        self._layout = view.transcript_layout
        self.model = view.model
        self._connect()

    def watch(self, model: TranscriptModel) -> None:
        """Watch another model."""
        old = self.model
        old.was_reset.disconnect(self._on_reset)
        old.inserted.disconnect(self._on_inserted)
        old.removed.disconnect(self._on_removed)
        old.changed.disconnect(self._on_changed)
        old.grew.disconnect(self._on_grew)
        self.model = model
        self._connect()

    def _connect(self) -> None:
        self.model.was_reset.connect(self._on_reset)
        self.model.inserted.connect(self._on_inserted)
        self.model.removed.connect(self._on_removed)
        self.model.changed.connect(self._on_changed)
        self.model.grew.connect(self._on_grew)

    def _on_reset(self) -> None:
        self._view.show_from_end()

    def _on_inserted(self, first: int, last: int) -> None:
        self._layout.insert(first, last)
        self._view.refresh()

    def _on_removed(self, first: int, last: int) -> None:
        self._layout.remove(first, last)
        self._view.cards.forget_missing(self.model)
        self._view.refresh()

    def _on_changed(self, message: int) -> None:
        self._place.note(message, None)
        self._layout.replace(message)
        self._view.refresh()

    def _on_grew(self, message: int, changed: frozenset[int]) -> None:
        self._place.note(message, changed)
        self._layout.grow(message, changed)
        self._view.light_caret()
        self._view.schedule()
