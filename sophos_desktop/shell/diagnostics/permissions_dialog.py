"""What was decided about tools for good, to be seen and taken back; and what holds for all others.

Invariant: it shows what the core says now, each time it is opened and after each change, of other processes
too; what is taken back holds from the next call on.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.policy import Permission, Policy
from sophos_desktop.foundation.clock import from_text
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.diagnostics.default_words import default_words
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog

_MARKS = {
    Policy.ALLOW: (Mark.DONE, "success"),
    Policy.ASK: (Mark.WAITING, "warning"),
    Policy.DENY: (Mark.DENIED, "danger"),
}
_WORDS = {Policy.ALLOW: "always allowed", Policy.ASK: "always asked about", Policy.DENY: "forbidden"}


def permission_words(permission: Permission, zone_of: datetime) -> str:
    """One decision in two lines; times in the zone of `zone_of`."""
    tool = permission.tool or "all tools"
    scope = f" for {permission.scope}" if permission.scope else ""
    when = ""
    if permission.decided_at:
        moment = from_text(permission.decided_at).astimezone(zone_of.tzinfo)
        when = f"\nDecided on {moment:%Y-%m-%d at %H:%M}"
    return f"{permission.server} · {tool}: {_WORDS[permission.decision]}{scope}{when}"


class PermissionsDialog(PlainDialog):
    """Lives as long as its window."""

    def __init__(
        self, core: Callable[[], Core | None], owner: TaskOwner, theme: Theme, parent: QWidget
    ) -> None:
        """`core` gives the open core, or None."""
        super().__init__("permissionsDialog", "Tool Permissions", parent, 560, 460)
        self._open_core = core
        self._owner = owner
        self._theme = theme
        self._permissions: list[Permission] = []
        self._is_shown_once = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self._list = QListWidget(self)
        self._list.setObjectName("permissionList")
        self._list.setAccessibleName("What was decided for good")
        self._list.setIconSize(QSize(16, 16))
        self._list.setWordWrap(True)
        self._list.currentRowChanged.connect(self._on_row_changed)
        self._take_back = self.add_button("permissionTakeBackButton", "Take back")
        self._take_back.setAccessibleDescription("It is asked about again, from the next call on")
        self._take_back.clicked.connect(self._on_take_back)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self._list)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._on_take_back)
        self._defaults = QLabel(self)
        self._defaults.setObjectName("permissionDefaults")
        self._defaults.setTextFormat(Qt.TextFormat.PlainText)
        self._defaults.setWordWrap(True)
        self._defaults.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._defaults.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.body.addWidget(self._section("Decided for good"))
        self.body.addWidget(self._list, 1)
        self.body.addWidget(self._section("What holds for all other calls"))
        self.body.addWidget(self._defaults)
        self.shown.connect(self._on_shown)
        self.hidden.connect(self._on_hidden)

    def _section(self, text: str) -> QLabel:
        label = QLabel(text, self)
        label.setProperty("part", "section")
        return label

    def _on_shown(self) -> None:
        core = self._open_core()
        if core is not None:
            self._unsubscribe = core.neighbours.subscribe(self.refresh)
        self._is_shown_once = False
        self.refresh()

    def _on_hidden(self) -> None:
        self._unsubscribe()
        self._unsubscribe = lambda: None

    def refresh(self) -> None:
        """Read what holds now."""
        core = self._open_core()
        if core is not None:
            self._owner.spawn(self._read(core), "tool permissions")

    async def _read(self, core: Core) -> None:
        try:
            permissions = list(await core.decisions.permissions())
            # It reads files.
            entries = (await asyncio.to_thread(core.mcp.load)).servers
        except SophosError as error:
            self.note.setText(error.message)
            return
        general = str(core.settings.current.tools.approval)
        lines = []
        for entry in entries:
            if not entry.disabled:
                is_trusted = core.trust.of(entry.name).counts
                words = default_words(
                    entry.name,
                    entry.approval,
                    general,
                    is_built_in=entry.built_in,
                    is_trusted=is_trusted,
                )
                lines.append(f"{entry.name}: {words}")
        self._defaults.setText("\n".join(lines) or "No tool server is configured.")
        self._show(permissions)

    def _show(self, permissions: list[Permission]) -> None:
        if self._is_shown_once and permissions == self._permissions:  # something else changed
            self._on_row_changed(self._list.currentRow())
            return
        row, now = max(0, self._list.currentRow()), datetime.now().astimezone()
        self._permissions, self._is_shown_once = permissions, True
        self._list.clear()
        for permission in permissions:
            mark, colour = _MARKS[permission.decision]
            shown = icon(mark, self._theme, colour, {QIcon.Mode.Selected: colour})
            self._list.addItem(QListWidgetItem(shown, permission_words(permission, now)))
        self._list.setCurrentRow(min(row, len(permissions) - 1))
        self.note.setText("" if permissions else "Nothing was decided for good.")
        self._on_row_changed(self._list.currentRow())

    def _on_row_changed(self, row: int) -> None:
        self._take_back.setEnabled(0 <= row < len(self._permissions))

    def _on_take_back(self) -> None:
        row, core = self._list.currentRow(), self._open_core()
        if core is not None and 0 <= row < len(self._permissions):
            self._take_back.setEnabled(False)
            self._owner.spawn(self._forget(core, self._permissions[row]), "take a permission back")

    async def _forget(self, core: Core, permission: Permission) -> None:
        try:
            await core.decisions.forget(permission.server, permission.tool, permission.scope)
        except SophosError as error:
            self.tell(error.message)
            self._on_row_changed(self._list.currentRow())
            return
        await self._read(core)
