"""Keeps a button, and the icon on it, as large as the interface's type asks for.

Invariant: it belongs to its button and goes with it; sizes are taken again at each change of theme or zoom.
"""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QSize, SignalInstance
from PySide6.QtWidgets import QAbstractButton

from sophos_desktop.shell.theme.icons import mark_size

Sides = Callable[[], tuple[int, int]]


class TellsChanges(Protocol):
    """The theme, as far as it matters here."""

    @property
    def changed(self) -> SignalInstance:
        """Colours or sizes are others now."""


class IconFit(QObject):
    """Lives as long as its button, on the GUI thread."""

    def __init__(
        self, button: QAbstractButton, icon_size: int, theme: TellsChanges, sides: Sides | None = None
    ) -> None:
        """`icon_size` in pixels at 100 %; `sides` gives the button's width and height now, in pixels."""
        super().__init__(button)
        self._button = button
        self._icon_size = icon_size
        self._sides = sides
        theme.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        side = mark_size(self._icon_size)
        self._button.setIconSize(QSize(side, side))
        if self._sides is not None:
            self._button.setFixedSize(*self._sides())
