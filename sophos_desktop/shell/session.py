"""What happens when the desktop's session ends or saves itself.

Invariant: no dialog and no waiting in Qt's calls: the session's end starts the staged shutdown, a mere save
writes drafts and layout. Whoever logs out is never asked and never refused.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication, QSessionManager


class SessionEnd(QObject):
    """Lives as long as the program, between its making and `close`."""

    def __init__(
        self, quit_: Callable[[str], None], save: Callable[[], None], parent: QObject | None = None
    ) -> None:
        """`quit_` asks for the staged shutdown with a reason, `save` writes what is unsaved."""
        super().__init__(parent)
        self._quit = quit_
        self._save = save
        self._is_ending = False
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        self._application = application
        # The manager cannot be copied into a queue: both are called directly.
        application.commitDataRequest.connect(self.on_commit, Qt.ConnectionType.DirectConnection)
        application.saveStateRequest.connect(self.on_save, Qt.ConnectionType.DirectConnection)

    def close(self) -> None:
        """Hear no more."""
        self._application.commitDataRequest.disconnect(self.on_commit)
        self._application.saveStateRequest.disconnect(self.on_save)

    def on_commit(self, _manager: QSessionManager) -> None:
        """The session ends. The system may ask more than once; that must not hurry the shutdown."""
        if not self._is_ending:
            self._is_ending = True
            self._quit("the end of the session")

    def on_save(self, _manager: QSessionManager) -> None:
        """The session saves itself and goes on."""
        if not self._is_ending:
            self._save()
