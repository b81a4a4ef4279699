"""Keeps a window in the theme that the system or the user chose.

Invariant: after each change of the system's colour scheme the window is polished once, with one theme's
palette and style sheet; who paints by itself hears of it through `changed`.
"""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from sophos_desktop.shell.theme.focus_ring import FocusRing
from sophos_desktop.shell.theme.look_style import LookStyle
from sophos_desktop.shell.theme.palette import palette
from sophos_desktop.shell.theme.style_sheet import style_sheet
from sophos_desktop.shell.theme.tokens import DARK, LIGHT, Tokens


class Theme(QObject):
    """The theme of one window; lives as long as the window, on the GUI thread."""

    changed = Signal()

    def __init__(self, window: QWidget) -> None:
        """Style `window` now and at each change."""
        super().__init__(window)
        self._window = window
        self._choice = "system"
        self._applied: Tokens | None = None
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

    def _on_color_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        self._apply()

    def _wanted(self) -> Tokens:
        if self._choice == "dark":
            return DARK
        if self._choice == "light":
            return LIGHT
        is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return DARK if is_dark else LIGHT

    def _apply(self) -> None:
        self.tokens = self._wanted()
        if self.tokens is self._applied:
            return
        self._applied = self.tokens
        made = palette(self.tokens)
        if QApplication.palette() != made:
            QApplication.setPalette(made)  # for dialogs: a window of its own inherits no palette
        self._window.setPalette(made)
        self._window.setStyleSheet(style_sheet(self.tokens))
        self.changed.emit()
