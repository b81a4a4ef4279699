"""The field above the list that filters titles.

Invariant: Esc takes back what was typed and, once nothing is, leads away; a run is stopped by it only from an
empty field.
"""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

_TO_LIST = (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FilterField(QLineEdit):
    """Lives as long as its panel."""

    list_wanted = Signal()  # the keyboard goes on in the list
    left = Signal()

    def event(self, event: QEvent) -> bool:
        """Esc is the field's own as long as it has something to clear."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self.text()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc, and what leads to the list."""
        if event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                self.left.emit()
        elif event.key() in _TO_LIST:
            self.list_wanted.emit()
        else:
            super().keyPressEvent(event)
