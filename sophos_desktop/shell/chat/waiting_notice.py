"""Tells the desktop that a run waits for the person while the window is not looked at.

Invariant: nothing of a conversation but its title leaves the window; nothing is told while the window is
the active one.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.run import RunStatus

_APP = "Sophos Desktop"
_LONGEST_TITLE = 80


def waiting_sentence(title: str) -> str:
    """What the notification says."""
    line = " ".join(title.split())
    if len(line) > _LONGEST_TITLE:
        line = line[: _LONGEST_TITLE - 1] + "…"
    return f"“{line}” waits for your decision" if line else "A conversation waits for your decision"


class WaitingNotice(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self, window: QWidget, mark: QIcon, open_conversation: Callable[[str], None], parent: QObject
    ) -> None:
        """`mark` stands in the tray; `open_conversation` is called with the one whose notification was
        clicked."""
        super().__init__(parent)
        self._window = window
        self._mark = mark
        self._open_conversation = open_conversation
        self._tray: QSystemTrayIcon | None = None
        self._last = ""

    def run_ended(self, conversation: Conversation) -> None:
        """A run of this process ended or paused."""
        run = conversation.last_run
        if run is not None and run.status is RunStatus.WAITING and not self._window.isActiveWindow():
            self._last = conversation.id
            self.notify(_APP, waiting_sentence(conversation.title))

    def notify(self, title: str, text: str) -> None:
        """By the system's tray if it has one, else by the window's entry in the task bar."""
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._shown_tray().showMessage(title, text)
        else:
            QApplication.alert(self._window)

    def _shown_tray(self) -> QSystemTrayIcon:
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._mark, self)
            self._tray.setToolTip(_APP)
            self._window.installEventFilter(self)
            self._tray.messageClicked.connect(self._on_clicked)
            self._tray.activated.connect(lambda _reason: self._on_clicked())
        self._tray.show()
        return self._tray

    def _on_clicked(self) -> None:
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()
        if self._last:
            self._open_conversation(self._last)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Looked at again: the icon has done its work."""
        if event.type() == QEvent.Type.WindowActivate and self._tray is not None:
            self._tray.hide()
        return super().eventFilter(watched, event)
