"""A window beside the main window: content, and a footer with Close.

Invariant: it blocks nothing (non-modal, no nested loop), is made once, and is only hidden when it is closed,
so that work it started may end after that.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget


class PlainDialog(QDialog):
    """Lives as long as its window."""

    shown = Signal()
    hidden = Signal()

    def __init__(self, name: str, title: str, parent: QWidget, width: int, height: int) -> None:
        """`name` is the object name. `body` takes the content, `foot` what stands beside Close."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setModal(False)
        self.resize(width, height)
        content = QWidget(self)
        content.setObjectName("dialogBody")
        content.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.body = QVBoxLayout(content)
        self.body.setContentsMargins(20, 16, 20, 16)
        self.body.setSpacing(12)
        self.note = QLabel(self)
        self.note.setObjectName(name + "Note")
        self.note.setProperty("part", "note")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.close_button = QPushButton("Close", self)
        self.close_button.setObjectName(name + "Close")
        self.close_button.setAccessibleName("Close")
        self.close_button.setAutoDefault(False)  # Enter in a field must not close the window
        self.close_button.clicked.connect(self.close)
        self.foot = QHBoxLayout()
        self.foot.setContentsMargins(16, 12, 16, 12)
        self.foot.setSpacing(8)
        self.foot.addWidget(self.note, 1)
        self.foot.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(content, 1)
        column.addLayout(self.foot)

    def add_button(self, name: str, text: str) -> QPushButton:
        """A button before Close."""
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        self.foot.insertWidget(self.foot.count() - 1, button)
        return button

    def bring_up(self) -> None:
        """Show it, or bring it to the front."""
        self.show()
        self.raise_()
        self.activateWindow()

    def showEvent(self, event: QShowEvent) -> None:
        """Tell who fills it."""
        super().showEvent(event)
        self.shown.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Tell who fills it."""
        super().hideEvent(event)
        self.hidden.emit()
