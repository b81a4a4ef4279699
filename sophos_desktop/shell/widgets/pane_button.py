"""A small button that shows and hides a part of the window."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QToolButton, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap


class PaneButton(QToolButton):
    """Lives as long as its window; its state is that of its command."""

    def __init__(self, action: QAction, shape: Shape, theme: Theme, parent: QWidget) -> None:
        """Triggers `action`, a command that can be checked."""
        super().__init__(parent)
        self._shape = shape
        self._theme = theme
        what = action.text().replace("&", "")
        self.setObjectName(action.objectName().replace("action", "button"))
        self.setAccessibleName(f"Show or hide: {what}")
        self.setToolTip(f"{what} ({action.shortcut().toString()})")
        self.setProperty("quiet", "true")
        self.setCheckable(True)
        self.setChecked(action.isChecked())
        self.setFixedSize(24, 24)
        self.clicked.connect(action.trigger)
        action.toggled.connect(self.setChecked)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        icon = shape_pixmap(self._shape, 16, self._theme.tokens.text_2, self.devicePixelRatioF())
        self.setIcon(QIcon(icon))
        self.setIconSize(QSize(16, 16))
