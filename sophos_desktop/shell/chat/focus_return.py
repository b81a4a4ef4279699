"""Puts the focus into the composer when the part that had it goes.

Invariant: only a focus that would be lost is moved; Qt would hand it to what stands next, a list or a tree.
"""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from sophos_desktop.shell.widgets.foldaway import Foldaway


class FocusReturn(QObject):
    """Lives as long as its parent, on the GUI thread."""

    def __init__(self, home: QWidget, parent: QObject) -> None:
        """`home` gets the focus."""
        super().__init__(parent)
        self._home = home

    def watch(self, part: QWidget) -> None:
        """`part`, or a button of it, may hide itself while it has the focus."""
        inner = part.inside if isinstance(part, Foldaway) else part
        for one in (part, *inner.findChildren(QAbstractButton)):
            one.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """It is about to go: the event comes before Qt looks for another place."""
        if event.type() == QEvent.Type.Hide and isinstance(watched, QWidget):
            focused = QApplication.focusWidget()
            is_lost = focused is not None and (watched is focused or watched.isAncestorOf(focused))
            if is_lost and self._home.isVisible() and not event.spontaneous():
                self._home.setFocus()
        return super().eventFilter(watched, event)
