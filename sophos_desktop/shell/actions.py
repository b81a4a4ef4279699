"""The commands of the window as QActions.

Invariant: each has an object name, and its enabled state follows `ActionState` alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence


@dataclass(frozen=True, slots=True)
class ActionState:
    """What can be done now."""

    is_open: bool = False
    has_conversation: bool = False
    can_stop: bool = False
    can_resume: bool = False


class Actions:
    """Lives as long as its window, which owns the QActions."""

    def __init__(self, parent: QObject) -> None:
        """Everything but Quit and About is off until `update`."""
        self._parent = parent
        self.new_chat = self._make("actionNewChat", "&New Chat", "Ctrl+N")
        self.rename = self._make("actionRename", "&Rename…", "F2")
        self.delete = self._make("actionDelete", "&Delete…", "Del")
        self.quit = self._make("actionQuit", "&Quit", "Ctrl+Q")
        self.resume = self._make("actionResume", "&Resume", "Ctrl+R")
        self.stop = self._make("actionStop", "&Stop", "Esc")
        self.focus_list = self._make("actionFocusList", "Go to &List", "Ctrl+L")
        self.focus_composer = self._make("actionFocusComposer", "Go to &Message", "Ctrl+M")
        self.about = self._make("actionAbout", "&About Sophos Desktop", "")
        # In the text fields Del and F2 are the field's own keys: these two need the list's focus.
        for action in (self.rename, self.delete):
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
        self.update(ActionState())

    def __iter__(self) -> Iterator[QAction]:
        """All actions."""
        return (value for value in vars(self).values() if isinstance(value, QAction))

    def _make(self, name: str, text: str, keys: str) -> QAction:
        action = QAction(text, self._parent)
        action.setObjectName(name)
        if keys:
            action.setShortcut(QKeySequence(keys))
        return action

    def update(self, state: ActionState) -> None:
        """Enable what can be done."""
        self.new_chat.setEnabled(state.is_open)
        self.rename.setEnabled(state.is_open and state.has_conversation)
        self.delete.setEnabled(state.is_open and state.has_conversation)
        self.resume.setEnabled(state.can_resume)
        self.stop.setEnabled(state.can_stop)
