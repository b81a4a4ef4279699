"""Collects garbage on the GUI thread only.

Invariant: while a `GuiCollector` is active, no other thread runs Python's cycle collector. Python runs it on
whichever thread allocates, and a Qt object that is deleted there takes the process down.
"""

import gc

from PySide6.QtCore import QObject, QTimer

_LOOK_MILLISECONDS = 1_000


class GuiCollector(QObject):
    """Lives as long as the window, on the GUI thread, between `start` and `stop`."""

    def __init__(self, parent: QObject) -> None:
        """Does nothing before `start`."""
        super().__init__(parent)
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
                gc.collect(generation)
                return
