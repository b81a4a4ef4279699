"""The windows beside the main window: settings, servers, permissions, checks, keys, about.

Invariant: each is imported and made when it is first asked for, so that the main window is painted sooner;
there is one of each; none blocks anything.
"""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog


class ToolDialogs(QObject):
    """Lives as long as its window."""

    setting_changed = Signal(str)  # key

    def __init__(
        self,
        window: QWidget,
        core: Callable[[], Core | None],
        owner: TaskOwner,
        theme: Theme,
        actions: Callable[[], Iterable[QAction]],
    ) -> None:
        """`core` gives the open core, or None; `actions` all commands."""
        super().__init__(window)
        self._window = window
        self._core = core
        self._owner = owner
        self._theme = theme
        self._actions = actions
        self._made: dict[str, PlainDialog] = {}

    def show_settings(self) -> None:
        """The form of the effective settings."""
        self._show("settings", self._make_settings)

    def _make_settings(self) -> PlainDialog:
        from sophos_desktop.shell.preferences.settings_dialog import SettingsDialog

        made = SettingsDialog(self._core, self._window)
        made.changed.connect(self.setting_changed)
        return made

    def show_servers(self) -> None:
        """The tool servers."""
        self._show("servers", self._make_servers)

    def _make_servers(self) -> PlainDialog:
        from sophos_desktop.shell.diagnostics.servers_dialog import ServersDialog

        return ServersDialog(self._core, self._owner, self._theme, self._window)

    def show_permissions(self) -> None:
        """What was decided about tools for good."""
        self._show("permissions", self._make_permissions)

    def _make_permissions(self) -> PlainDialog:
        from sophos_desktop.shell.diagnostics.permissions_dialog import PermissionsDialog

        return PermissionsDialog(self._core, self._owner, self._theme, self._window)

    def show_doctor(self) -> None:
        """The checks of the installation."""
        self._show("doctor", self._make_doctor)

    def _make_doctor(self) -> PlainDialog:
        from sophos_desktop.shell.diagnostics.doctor_dialog import DoctorDialog

        return DoctorDialog(self._core, self._owner, self._theme, self._window)

    def show_keyboard(self) -> None:
        """All keys."""
        self._show("keyboard", self._make_keyboard)

    def _make_keyboard(self) -> PlainDialog:
        from sophos_desktop.shell.diagnostics.help_dialogs import KeyboardDialog

        return KeyboardDialog(self._actions, self._core, self._window)

    def show_about(self) -> None:
        """Version and licences."""
        self._show("about", self._make_about)

    def _make_about(self) -> PlainDialog:
        from sophos_desktop.shell.diagnostics.help_dialogs import AboutDialog

        return AboutDialog(self._window)

    def _show(self, name: str, make: Callable[[], PlainDialog]) -> None:
        if name not in self._made:
            self._made[name] = make()
        self._made[name].bring_up()

    def close_all(self) -> None:
        """The core is about to close."""
        for dialog in self._made.values():
            dialog.close()
