"""Keeps a window in the theme and the sizes that the system or the user chose.

Invariant: after each change of the system's colour scheme, of a size or of the zoom the window is polished
once, with one theme's palette and style sheet; who paints or measures by itself hears of it by `changed`.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.theme.focus_ring import FocusRing
from sophos_desktop.shell.theme.fonts import application_font
from sophos_desktop.shell.theme.look_style import LookStyle
from sophos_desktop.shell.theme.palette import palette
from sophos_desktop.shell.theme.style_sheet import style_sheet
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.theme.zoom import FULL_ZOOM, next_zoom, within_bounds

Sheet = Callable[[Tokens], str]
"""Rules of a style sheet for some part of the window: a pure function of the tokens."""


class Theme(QObject):
    """The theme of one window; lives as long as the window, on the GUI thread."""

    changed = Signal()
    sizes_changed = Signal()  # type and measures; right before `changed`, and not at every one of these

    def __init__(self, window: QWidget, sheets: Sequence[Sheet] = ()) -> None:
        """Style `window` now and at each change, by the theme's own rules and then those of `sheets`: a part
        that set a sheet of its own would be polished twice."""
        super().__init__(window)
        self._window = window
        self._sheets: tuple[Sheet, ...] = (style_sheet, *sheets)
        self._choice = "system"
        self._applied: Tokens | None = None
        self._interface_size = TYPE.interface.size
        self._reading_size = TYPE.reading.size
        self._zoom_percent = FULL_ZOOM
        self.tokens = LIGHT
        if not isinstance(QApplication.style(), LookStyle):
            QApplication.setStyle(LookStyle())
        self.ring = FocusRing(window)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_color_scheme_changed)
        self._apply()

    def choose(self, choice: str) -> None:
        """Take `system`, `light` or `dark`; anything else counts as `system`."""
        self._choice = choice
        self._apply()

    def take(self, choice: str, interface_size: int, reading_size: int) -> None:
        """All that the settings say: the theme, and the two sizes in pixels without the zoom."""
        self._interface_size, self._reading_size = interface_size, reading_size
        self.choose(choice)

    # Sizes

    @property
    def zoom_percent(self) -> int:
        """What both sizes are multiplied by."""
        return self._zoom_percent

    @property
    def reading_scale(self) -> float:
        """How many times as large as at 100 % answers are."""
        return self._reading_size * self._zoom_percent / FULL_ZOOM / TYPE.reading.size

    def choose_zoom(self, percent: int) -> None:
        """Take a zoom, within its bounds."""
        self._zoom_percent = within_bounds(percent)
        self._apply()

    def zoom_in(self) -> None:
        """One step larger."""
        self.choose_zoom(next_zoom(self._zoom_percent, is_larger=True))

    def zoom_out(self) -> None:
        """One step smaller."""
        self.choose_zoom(next_zoom(self._zoom_percent, is_larger=False))

    def reset_zoom(self) -> None:
        """The sizes of the settings."""
        self.choose_zoom(FULL_ZOOM)

    def _on_color_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        self._apply()

    def _wanted(self) -> Tokens:
        interface = self._interface_pixels / TYPE.interface.size
        return self._wanted_colours().at_sizes(interface, self.reading_scale)

    @property
    def _interface_pixels(self) -> int:
        return max(1, round(self._interface_size * self._zoom_percent / FULL_ZOOM))

    def _wanted_colours(self) -> Tokens:
        if self._choice == "dark":
            return DARK
        if self._choice == "light":
            return LIGHT
        is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return DARK if is_dark else LIGHT

    def _apply(self) -> None:
        self.tokens = self._wanted()
        if self.tokens == self._applied:
            return
        before, self._applied = self._applied, self.tokens
        if QApplication.font().pixelSize() != self._interface_pixels:
            QApplication.setFont(application_font(self._interface_pixels))
        made = palette(self.tokens)
        if QApplication.palette() != made:
            QApplication.setPalette(made)  # for dialogs: a window of its own inherits no palette
        self._window.setPalette(made)
        self._window.setStyleSheet("\n".join(sheet(self.tokens) for sheet in self._sheets))
        if before is None or (before.type, before.measures) != (self.tokens.type, self.tokens.measures):
            self.sizes_changed.emit()
        self.changed.emit()
