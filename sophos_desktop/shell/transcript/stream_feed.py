"""Brings what arrives into the model, once a frame.

Invariant: pieces of an answer reach the model in their order, at most one update a frame however many they
are; the timer runs only while something waits.
"""

from PySide6.QtCore import QObject, Qt, QTimer

from sophos_desktop.shell.transcript.transcript_model import TranscriptModel

FRAME_MILLISECONDS = 16


class StreamFeed(QObject):
    """Lives as long as its model, on the GUI thread."""

    def __init__(self, model: TranscriptModel, parent: QObject | None = None) -> None:
        """Nothing waits."""
        super().__init__(parent)
        self._model = model
        self._waiting: dict[str, list[str]] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FRAME_MILLISECONDS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.flush)
        model.was_reset.connect(self._forget)

    @property
    def is_waiting(self) -> bool:
        """Something has not reached the model yet."""
        return bool(self._waiting)

    def push(self, message_id: str, text: str) -> None:
        """More of an open answer arrived; what belongs to no message or a closed one is dropped."""
        self._waiting.setdefault(message_id, []).append(text)
        if not self._timer.isActive():
            self._timer.start()

    def finish(self, message_id: str) -> None:
        """The answer has ended: bring what waits, and close it."""
        self.flush()
        index = self._model.index_of(message_id)
        if index is not None:
            self._model.close(index)

    def flush(self) -> None:
        """Bring everything that waits now."""
        self._timer.stop()
        waiting, self._waiting = self._waiting, {}
        for message_id, pieces in waiting.items():
            index = self._model.index_of(message_id)
            if index is not None and self._model.is_open(index):
                self._model.append(index, "".join(pieces))

    def _forget(self) -> None:
        self._timer.stop()
        self._waiting.clear()
