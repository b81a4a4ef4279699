"""The windows of the Help menu: the keys, and what this program is.

Invariant: the keys are read from the actions and the settings when the window is shown, so that the list is
never wrong.
"""

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QFrame, QLabel, QTreeWidget, QTreeWidgetItem, QWidget

from sophos_desktop import __version__
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog

_ABOUT = """An agent on your own machine that cannot lose your work.

Sophos Desktop is free software under the MIT licence.
It uses Qt for Python (PySide6) under the GNU Lesser General Public Licence 3; its libraries are separate \
files and can be replaced.
It is built on LangGraph, LangChain and the Model Context Protocol SDK (MIT), SQLAlchemy (MIT), SQLite \
(public domain), httpx (BSD), pydantic (MIT) and llama.cpp (MIT)."""

_SENDING = {"enter": ("Enter", "Shift+Enter"), "ctrl-enter": ("Ctrl+Enter", "Enter")}  # by `ui.send_key`
_BETWEEN = 24  # the words and the keys


class KeyboardDialog(PlainDialog):
    """Lives as long as its window."""

    def __init__(
        self, actions: Callable[[], Iterable[QAction]], core: Callable[[], Core | None], parent: QWidget
    ) -> None:
        """`actions` gives all commands, `core` the open core, or None."""
        super().__init__("keyboardDialog", "Keyboard Shortcuts", parent, 420, 520)
        self._actions = actions
        self._core = core
        table = self._table = QTreeWidget(self)
        table.setObjectName("keyboardList")
        table.setAccessibleName("Keyboard shortcuts")
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setColumnCount(2)
        table.setHeaderHidden(True)
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAllColumnsShowFocus(True)
        self.body.addWidget(table)
        self.shown.connect(self._fill)

    def _fill(self) -> None:
        core, table = self._core(), self._table
        send_key = "enter" if core is None else core.settings.current.ui.send_key
        send, break_ = _SENDING[send_key]
        writing = [("Send the message", send), ("Break the line", break_)]
        keys = [*writing, ("Read a message with a caret", "F7"), *keys_of(self._actions())]
        table.clear()
        rows = [QTreeWidgetItem([what, key]) for what, key in keys]
        table.addTopLevelItems(rows)
        table.resizeColumnToContents(0)
        table.setColumnWidth(0, table.columnWidth(0) + _BETWEEN)
        table.setCurrentItem(rows[0])


def keys_of(actions: Iterable[QAction]) -> list[tuple[str, str]]:
    """Each command that has a key, and the key in the platform's words."""
    return [
        (
            action.iconText().replace("&", "").removesuffix("…"),
            action.shortcut().toString(QKeySequence.SequenceFormat.NativeText),
        )
        for action in actions
        if not action.shortcut().isEmpty()
    ]


class AboutDialog(PlainDialog):
    """Lives as long as its window."""

    def __init__(self, parent: QWidget) -> None:
        """Version and licences."""
        super().__init__("aboutDialog", "About Sophos Desktop", parent, 460, 300)
        title = QLabel(f"Sophos Desktop {__version__}", self)
        title.setObjectName("aboutTitle")
        title.setProperty("part", "dialogTitle")
        text = QLabel(_ABOUT, self)
        text.setObjectName("aboutText")
        text.setWordWrap(True)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.body.addWidget(title)
        self.body.addWidget(text)
        self.body.addStretch(1)
