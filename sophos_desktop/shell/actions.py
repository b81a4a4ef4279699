"""The commands of the window as QActions.

Invariant: each has an object name, and its enabled state follows `ActionState` alone. Keys are the
platform's own where it has them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

from sophos_desktop.shell.theme.icons import HasTokens, Mark, icon
from sophos_desktop.shell.widgets.command import command

_Key = QKeySequence.StandardKey
_MARKS: Final = {
    "new_chat": Mark.NEW,
    "rename": Mark.EDIT,
    "delete": Mark.DELETE,
    "export_markdown": Mark.FILE,
    "export_here": Mark.FILE,
    "export_jsonl": Mark.DATA,
    "settings": Mark.SETTINGS,
    "data_folder": Mark.DATA,
    "zoom_in": Mark.ADD,
    "zoom_out": Mark.MINUS,
    "resume": Mark.RESUME,
    "stop": Mark.STOPPED,
    "attach": Mark.ATTACH,
    "choose_model": Mark.MODEL,
    "focus_composer": Mark.WRITING,
    "focus_trace": Mark.STEPS,
    "servers": Mark.SERVERS,
    "permissions": Mark.SECRET,
    "doctor": Mark.DONE,
    "keyboard": Mark.KEYBOARD,
    "about": Mark.NOTICE,
}


@dataclass(frozen=True, slots=True)
class ActionState:
    """What can be done now. `is_idle`: no run of this process works on the open conversation."""

    is_open: bool = False
    has_conversation: bool = False
    is_idle: bool = True
    is_exporting: bool = False
    can_stop: bool = False
    can_resume: bool = False


class Actions:
    """Lives as long as its window, which owns the QActions."""

    def __init__(self, parent: QObject, theme: HasTokens) -> None:
        """What needs the core is off until `update`."""
        make = partial(command, parent)
        self.new_chat = make("actionNewChat", "&New Chat", "Ctrl+N", _Key.New)
        self.rename = make("actionRename", "Rena&me…", "F2")
        self.delete = make("actionDelete", "&Delete…", "Del", _Key.Delete)
        self.export_markdown = make("actionExportMarkdown", "As &Markdown…", "Ctrl+Shift+E")
        # The same command where no heading says what is done; its key is that one's.
        self.export_here = make("actionExportHere", "&Export as Markdown…")
        self.export_jsonl = make("actionExportJsonl", "Checkpoints as &JSONL…", "Ctrl+Alt+E")
        self.export_all_markdown = make("actionExportAllMarkdown", "&All as Markdown…")
        self.export_all_jsonl = make("actionExportAllJsonl", "All &Checkpoints as JSONL…")
        self.settings = make("actionSettings", "&Settings…", "Ctrl+,", _Key.Preferences)
        self.data_folder = make("actionOpenDataFolder", "&Open Data Folder")
        self.quit = make("actionQuit", "&Quit", "Ctrl+Q", _Key.Quit)
        self.toggle_list = make("actionToggleList", "&Conversation List", "Ctrl+Shift+L")
        self.zoom_in = make("actionZoomIn", "Zoom &In", "Ctrl++", _Key.ZoomIn)
        self.zoom_out = make("actionZoomOut", "Zoom &Out", "Ctrl+-", _Key.ZoomOut)
        self.zoom_reset = make("actionZoomReset", "&Actual Size", "Ctrl+0")
        # On most keyboards the plus needs Shift, and Ctrl with the key of the plus is what people press.
        self.zoom_in.setShortcuts([*self.zoom_in.shortcuts(), QKeySequence("Ctrl+=")])
        self.resume = make("actionResume", "&Resume", "Ctrl+R")
        self.stop = make("actionStop", "&Stop", "Esc", _Key.Cancel)
        self.attach = make("actionAttach", "&Attach Files…", "Ctrl+Shift+A")
        self.choose_model = make("actionChooseModel", "Choose Mo&del…", "Ctrl+Shift+M")
        self.focus_list = make("actionFocusList", "Go to &List", "Ctrl+L")
        self.focus_composer = make("actionFocusComposer", "Go to &Message", "Ctrl+M")
        self.focus_trace = make("actionFocusTrace", "Go to &Trace", "Ctrl+J")
        self.servers = make("actionServers", "Tool &Servers…", "Ctrl+T")
        self.permissions = make("actionToolPermissions", "Tool &Permissions…")
        self.doctor = make("actionDoctor", "&Check the Installation…")
        self.keyboard = make("actionKeyboard", "&Keyboard Shortcuts", "F1", _Key.HelpContents)
        self.about = make("actionAbout", "&About Sophos Desktop")
        self.export_markdown.setIconText("Export as Markdown")
        self.export_jsonl.setIconText("Export Checkpoints as JSONL")
        self.toggle_list.setCheckable(True)
        self.toggle_list.setChecked(True)
        # In the text fields Del and F2 are the field's own keys: these two need the list's focus.
        for action in (self.rename, self.delete):
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
        for name, mark in _MARKS.items():
            getattr(self, name).setIcon(icon(mark, theme))
        self.update(ActionState())

    def __iter__(self) -> Iterator[QAction]:
        """All actions."""
        return (value for value in vars(self).values() if isinstance(value, QAction))

    def update(self, state: ActionState) -> None:
        """Enable what can be done."""
        has_conversation = state.is_open and state.has_conversation
        tools = (self.servers, self.permissions, self.doctor)
        beside_message = (self.attach, self.choose_model)
        for action in (self.new_chat, self.settings, self.data_folder, *beside_message, *tools):
            action.setEnabled(state.is_open)
        self.rename.setEnabled(has_conversation)
        self.delete.setEnabled(has_conversation and state.is_idle)
        for action in (self.export_markdown, self.export_here, self.export_jsonl):
            action.setEnabled(has_conversation and not state.is_exporting)
        for action in (self.export_all_markdown, self.export_all_jsonl):
            action.setEnabled(state.is_open and not state.is_exporting)
        self.resume.setEnabled(state.can_resume)
        self.stop.setEnabled(state.can_stop)
