"""A menu with round corners and a shadow, which fades in.

Invariant: its frame stands where a plain menu's would; the margin around it, which holds the shadow, is no
part of the menu: a click there closes it. Without a compositor it is a plain menu.
"""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QAbstractAnimation, QPoint, QPropertyAnimation, Qt
from PySide6.QtGui import QAction, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from sophos_desktop.shell.theme.compositing import is_composited, may_fade
from sophos_desktop.shell.theme.floating import MARGIN, paint_floating_frame
from sophos_desktop.shell.theme.follower import Theme

_PADDING: Final = 4  # between the frame's line and the entries
_FADE_MILLISECONDS: Final = 80
_Widget = Qt.WidgetAttribute
_Flag = Qt.WindowType


class FloatingMenu(QMenu):
    """Belongs to its parent; may be kept or made for each time."""

    def __init__(self, title: str, theme: Theme, parent: QWidget, *, hangs_from_bar: bool = False) -> None:
        """Empty. `hangs_from_bar`: it is one of the menus of a menu bar, not one of an entry."""
        super().__init__(title, parent)
        self._theme = theme
        self._hangs_from_bar = hangs_from_bar
        self._is_floating = is_composited()
        if self._is_floating:
            self.setAttribute(_Widget.WA_TranslucentBackground)
            flags = self.windowFlags() | _Flag.FramelessWindowHint | _Flag.NoDropShadowWindowHint
            self.setWindowFlags(flags)
        # Nothing of a menu may lie over the bar that it hangs from: there the pointer chooses another one.
        side, top = (MARGIN, 0 if self._hangs_from_bar else MARGIN) if self._is_floating else (0, 0)
        self._frame_margins = (side, top, side, side)
        self.setContentsMargins(*(margin + _PADDING for margin in self._frame_margins))

    def add_entries(self, entries: Sequence[QAction | None]) -> None:
        """Commands, with a line between two groups for None."""
        for action in entries:
            if action is None:
                self.addSeparator()
            else:
                self.addAction(action)

    def showEvent(self, event: QShowEvent) -> None:
        """Where the frame is to be, not its shadow; then fade in."""
        super().showEvent(event)
        if self._is_floating:
            self.move(self.pos() + self._shift())
        if may_fade(self):
            fade = QPropertyAnimation(self, b"windowOpacity", self)
            fade.setDuration(_FADE_MILLISECONDS)
            fade.setStartValue(0.0)
            fade.setEndValue(1.0)
            fade.start(QAbstractAnimation.DeletionPolicy.DeleteWhenStopped)

    def _shift(self) -> QPoint:
        above = self._opened_from()
        if above is not None:
            # Beside the entry that opened it, and the first entry as high as that one.
            entry = above.actionGeometry(self.menuAction())
            top = above.mapToGlobal(entry.topLeft()).y()
            is_right = self.x() >= above.x()
            first = self.contentsMargins().top()
            return QPoint(-MARGIN if is_right else MARGIN, top - first - self.y())
        return QPoint(-MARGIN, 0 if self._hangs_from_bar else -MARGIN)

    def _opened_from(self) -> QMenu | None:
        for thing in self.menuAction().associatedObjects():
            if isinstance(thing, QMenu) and thing.isVisible():
                return thing
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the shadow is a click beside the menu."""
        left, top, right, bottom = self._frame_margins
        if not self.rect().adjusted(left, top, -right, -bottom).contains(event.position().toPoint()):
            self.close()
            return
        super().mousePressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The frame, then the entries."""
        if self._is_floating:
            left, top, right, bottom = self._frame_margins
            painter = QPainter(self)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.fillRect(event.rect(), Qt.GlobalColor.transparent)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
            frame = self.rect().adjusted(left, top, -right, -bottom)
            paint_floating_frame(painter, frame, self._theme.tokens)
            painter.end()
        super().paintEvent(event)
