"""A small button that shows and hides a part of the window."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icon_fit import IconFit
from sophos_desktop.shell.theme.icons import icon
from sophos_desktop.shell.widgets.shapes import Shape

_ICON = 16


class PaneButton(QToolButton):
    """Lives as long as its window; its state is that of its command."""

    def __init__(self, action: QAction, shape: Shape, theme: Theme, parent: QWidget) -> None:
        """Triggers `action`, a command that can be checked."""
        super().__init__(parent)
        what = action.text().replace("&", "")
        self.setObjectName(action.objectName().replace("action", "button"))
        self.setAccessibleName(f"Show {what}")
        self.setToolTip(f"{what} ({action.shortcut().toString()})")
        self.setProperty("quiet", "true")
        self.setCheckable(True)
        self.setChecked(action.isChecked())
        self.setIcon(icon(shape, theme, "text"))
        IconFit(self, _ICON, theme, lambda: (theme.tokens.measures.toggle,) * 2)
        self.clicked.connect(action.trigger)
        action.toggled.connect(self.setChecked)
