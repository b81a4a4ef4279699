"""Collects garbage on the GUI thread only.

Invariant: while a `GuiCollector` is active, no other thread runs Python's cycle collector. Python runs it on
whichever thread allocates, and a Qt object that is deleted there takes the process down. A full collection,
which takes 20 to 30 ms with a long conversation, waits while an answer arrives, but not for ever.
"""

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

_LOOK_MILLISECONDS = 1_000
_MOST_PUT_OFF = 60  # looks: about a minute
_FULL = 2


def never_busy() -> bool:
    """Nothing would be disturbed."""
    return False


class GuiCollector(QObject):
    """Lives as long as the window, on the GUI thread, between `start` and `stop`."""

    def __init__(self, parent: QObject, is_busy: Callable[[], bool] = never_busy) -> None:
        """Does nothing before `start`. `is_busy`: a pause would be seen."""
        super().__init__(parent)
        self._is_busy = is_busy
        self._put_off = 0
        self._was_enabled = False
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MILLISECONDS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Switch the automatic collector off and look once a second instead."""
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Give the automatic collector back."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()

    def collect(self) -> None:
        """Collect the oldest generation that Python itself would collect by now."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if counts[generation] > thresholds[generation] > 0:
                if generation == _FULL and self._is_busy() and self._put_off < _MOST_PUT_OFF:
                    self._put_off += 1
                    continue
                if generation == _FULL:
                    self._put_off = 0
                gc.collect(generation)
                return
