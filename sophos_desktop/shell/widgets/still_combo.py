"""A closed list of choices that the wheel never changes.

Invariant: the wheel belongs to what scrolls around it, whether it has the keyboard or not: who scrolls a form
must not leave settings changed behind.
"""

from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox


class StillComboBox(QComboBox):
    """Belongs to its form."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave it to the form."""
        event.ignore()
