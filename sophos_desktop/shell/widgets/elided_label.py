"""One line of plain words that ends in dots where it does not fit.

Invariant: the whole is its tooltip and its accessible name, however little is shown.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from sophos_desktop.shell.widgets.plain_tip import plain_tip


class ElidedLabel(QLabel):
    """Takes the width that is left over."""

    def __init__(self, name: str, parent: QWidget) -> None:
        """`name` is the object name; says nothing yet."""
        super().__init__(parent)
        self.whole = ""
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, text: str) -> None:
        """Show as much of `text` as fits."""
        self.whole = text
        self.setToolTip(plain_tip(text))
        self.setAccessibleName(text)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less of it fits."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        fitting = self.fontMetrics().elidedText(self.whole, Qt.TextElideMode.ElideRight, self.width())
        if fitting != self.text():
            self.setText(fitting)
