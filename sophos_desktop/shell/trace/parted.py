"""Rows above, details below, and between them a line that can be taken by mouse and by keyboard.

Invariant: the line shows that it can be moved: a grip, a cursor, a frame while the keyboard is on it.
"""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle

from sophos_desktop.shell.theme.follower import Theme

_HEIGHT = 7
_GRIP_WIDTH, _GRIP_HEIGHT = 24, 2
_BY_KEY = 26  # a row
_FEWEST = 1


class Parted(QSplitter):
    """Lives as long as its dock."""

    def __init__(self, theme: Theme) -> None:
        """Without its two parts."""
        super().__init__(Qt.Orientation.Vertical)
        self.theme = theme
        self.setHandleWidth(_HEIGHT)

    def createHandle(self) -> QSplitterHandle:
        """The line."""
        return _Line(self)


class _Line(QSplitterHandle):
    def __init__(self, splitter: Parted) -> None:
        super().__init__(Qt.Orientation.Vertical, splitter)
        self._parted = splitter
        self.setAccessibleName("Height of the details, changed by Up and Down")
        self.setToolTip("Drag to change the height of the details")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down move it by a row."""
        ways = {Qt.Key.Key_Up: -_BY_KEY, Qt.Key.Key_Down: _BY_KEY}
        way = ways.get(Qt.Key(event.key()))
        if way is None:
            super().keyPressEvent(event)
        else:
            self.moveSplitter(max(_FEWEST, self.y() + way))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A line with a grip in its middle."""
        tokens, painter = self._parted.theme.tokens, QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens.window))
        painter.fillRect(0, 0, self.width(), 1, QColor(tokens.border))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        is_taken = self.hasFocus() or self.underMouse()
        painter.setBrush(QColor(tokens.accent if is_taken else tokens.border_control))
        left = (self.width() - _GRIP_WIDTH) / 2
        painter.drawRoundedRect(QRectF(left, 3, _GRIP_WIDTH, _GRIP_HEIGHT), 1, 1)
        painter.end()
