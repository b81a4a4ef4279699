"""A window beside the main window: content, and a footer with Close.

Invariant: it blocks nothing (non-modal, no nested loop), is made once, and is only hidden when it is closed,
so that work it started may end after that.
"""

from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sophos_desktop.shell.widgets.announcing import announce


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
        self.tab_order: list[QWidget] = []  # of the content; empty: as its parts were made
        self._content = content = QWidget(self)
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

    def tell(self, text: str) -> None:
        """What came of something that the person did: in the footer, and spoken."""
        self.note.setText(text)
        announce(self.note, text)

    def bring_up(self) -> None:
        """Show it, or bring it to the front; the keyboard begins at the content, not at Close."""
        is_new = not self.isVisible()
        self.show()
        content, foot = self.tab_order or _in_chain(self._content), self._foot_buttons()
        for before, after in pairwise([*content, *foot]):
            QWidget.setTabOrder(before, after)
        if is_new:
            can_be = (one for one in [*content, *foot] if one.isEnabled() and one.isVisibleTo(self))
            first = next(can_be, self.close_button)
            first.setFocus(Qt.FocusReason.TabFocusReason)
        self.raise_()
        self.activateWindow()

    def _foot_buttons(self) -> list[QWidget]:
        found = (self.foot.itemAt(place) for place in range(self.foot.count()))
        parts = [item.widget() for item in found if item is not None]
        return [part for part in parts if isinstance(part, QPushButton)]

    def showEvent(self, event: QShowEvent) -> None:
        """Tell who fills it."""
        super().showEvent(event)
        self.shown.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Tell who fills it."""
        super().hideEvent(event)
        self.hidden.emit()


def _in_chain(top: QWidget) -> list[QWidget]:
    """What the Tab key goes to in `top`, in the order of its making."""
    by_tab = Qt.FocusPolicy.TabFocus
    parts = [part for part in top.findChildren(QWidget) if part.focusPolicy() & by_tab]
    return [part for part in parts if part.window() is top.window()]  # a chooser's list is a window
