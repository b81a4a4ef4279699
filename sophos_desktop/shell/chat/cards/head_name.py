"""The name of a server or a tool in the head of a card, on one line.

Invariant: `text()` is the whole name, and so is the tooltip where only a part of it fits.
"""

from math import ceil

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.type_scale import TypeRole
from sophos_desktop.shell.transcript.cards.parts import LinedLabel
from sophos_desktop.shell.widgets.plain_tip import plain_tip

_LEAST = 40  # pixels, where there is no room for all


class HeadName(LinedLabel):
    """Gives way to the state beside it."""

    def __init__(self, name: str, part: str, role: TypeRole, theme: Theme, parent: QWidget) -> None:
        """`part`: what the style sheet calls it."""
        super().__init__(name, role, theme, parent)
        self.setProperty("part", part)

    def sizeHint(self) -> QSize:
        """The whole name."""
        self.ensurePolished()
        width = ceil(QFontMetricsF(self.font()).horizontalAdvance(self.text()))
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """A few letters."""
        whole = self.sizeHint()
        return QSize(min(whole.width(), _LEAST), whole.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less of it fits."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()
            self._elide()

    def _elide(self) -> None:
        name, room = self.text(), self.width()
        fits = room >= self.sizeHint().width()
        metrics = QFontMetricsF(self.font())
        QLabel.setText(self, name if fits else metrics.elidedText(name, Qt.TextElideMode.ElideRight, room))
        self.setToolTip("" if fits else plain_tip(name))
