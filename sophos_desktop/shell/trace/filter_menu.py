"""The menu that chooses what the trace shows.

Invariant: what it tells is what its marks say.
"""

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.trace.shown import Shown
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu

_KINDS = {
    "model": "&Model",
    "tools": "&Tools",
    "questions": "&Questions",
    "notices": "&Notices",
}


class FilterMenu(QObject):
    """Belongs to the dock."""

    changed = Signal(object)  # Shown

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Everything is shown."""
        super().__init__(parent)
        self._menu = FloatingMenu("Show in the trace", theme, parent)
        self._menu.setObjectName("traceFilterMenu")
        self._kinds = {kind: self._entry(kind, text, is_on=True) for kind, text in _KINDS.items()}
        self._only_failures = self._entry("failures", "Only &Failures", is_on=False)
        self._menu.add_entries((*self._kinds.values(), None, self._only_failures))

    def _entry(self, name: str, text: str, *, is_on: bool) -> QAction:
        action = QAction(text, self)
        action.setObjectName(f"actionTraceShow{name.capitalize()}")
        action.setCheckable(True)
        action.setChecked(is_on)
        action.triggered.connect(lambda _checked=False: self.changed.emit(self.shown))
        return action

    @property
    def shown(self) -> Shown:
        """What its marks say."""
        chosen = {kind: action.isChecked() for kind, action in self._kinds.items()}
        return Shown(**chosen, only_failures=self._only_failures.isChecked())

    def open_at(self, button: QWidget) -> None:
        """Open it below a button, its right edge at the button's."""
        corner = button.mapToGlobal(QPoint(button.width(), button.height()))
        self._menu.popup(corner - QPoint(self._menu.sizeHint().width(), 0))
