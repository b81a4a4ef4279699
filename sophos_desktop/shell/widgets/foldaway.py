"""A part of the window that is seldom seen, and costs the window nothing while it is not.

Invariant: what it holds belongs to the window only while it is shown. Qt polishes every widget of a window at
each change of theme or zoom, hidden or not; most of ours are hidden most of the time.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget


class Foldaway(QFrame):
    """Hidden, and folded away, until it is shown; its parts go into `inside`."""

    def __init__(self, parent: QWidget, flags: Qt.WindowType = Qt.WindowType.Widget) -> None:
        """Takes no room."""
        super().__init__(parent, flags)
        self.inside = QWidget()
        self.destroyed.connect(self.inside.deleteLater)  # nobody else owns it while it is folded away
        self._fold = QVBoxLayout(self)
        self._fold.setContentsMargins(0, 0, 0, 0)
        self.hide()

    def setVisible(self, visible: bool) -> None:  # noqa: FBT001 (Qt's own signature)
        """Unfold before it is shown, so that its size is known; fold once it is hidden."""
        if visible:
            self.unfold()
        super().setVisible(visible)
        if not visible and self.inside.parentWidget() is self:
            self._fold.removeWidget(self.inside)
            self.inside.setParent(None)

    def unfold(self) -> None:
        """Put what it holds into the window, at this place of the Tab chain too."""
        if self.inside.parentWidget() is self:
            return
        self._fold.addWidget(self.inside)
        self.inside.show()
        policy = self.focusPolicy()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # Qt orders only what can have the focus
        before: QWidget = self
        for part in _chain(self.inside):
            QWidget.setTabOrder(before, part)
            before = part
        self.setFocusPolicy(policy)


def _chain(top: QWidget) -> list[QWidget]:
    """What can have the focus in `top`, in the order of its making."""
    return [part for part in top.findChildren(QWidget) if part.focusPolicy() != Qt.FocusPolicy.NoFocus]
