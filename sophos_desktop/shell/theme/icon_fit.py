"""Keeps a button with its icon, and the mark in a field, as large as the interface's type asks for.

Invariant: it belongs to its widget and goes with it; sizes are taken again at each change of theme or zoom.
"""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QAction, QColor, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget

from sophos_desktop.shell.theme.icons import HasTokens, Mark, mark_size, paint_mark

Sides = Callable[[], tuple[int, int]]

_CLEAR_ACTION = "_q_qlineeditclearaction"
_MARK, _MARK_LEFT, _MARK_GAP = 16, 9, 7  # with the field's own the words begin 8 behind the mark


class TellsChanges(Protocol):
    """The theme, as far as it matters here."""

    @property
    def sizes_changed(self) -> SignalInstance:
        """Type and measures are others now."""


class IconFit(QObject):
    """Lives as long as its button, on the GUI thread."""

    def __init__(
        self, button: QAbstractButton, icon_size: int, theme: TellsChanges, sides: Sides | None = None
    ) -> None:
        """`icon_size` in pixels at 100 %; `sides` gives the button's width and height now, in pixels."""
        super().__init__(button)
        self._button = button
        self._icon_size = icon_size
        self._sides = sides
        theme.sizes_changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        side = mark_size(self._icon_size)
        self._button.setIconSize(QSize(side, side))
        if self._sides is not None:
            self._button.setFixedSize(*self._sides())


def set_clear_icon(field: QLineEdit, made: QIcon) -> None:
    """Give the button that empties a field another icon than Qt's filled one."""
    action = field.findChild(QAction, _CLEAR_ACTION)
    if action is not None:  # its name is Qt's own affair
        action.setIcon(made)


class ChangingTokens(HasTokens, TellsChanges, Protocol):
    """The theme, as far as a mark in a field needs it."""

    @property
    def changed(self) -> SignalInstance:
        """Colours or sizes are others now."""


class FieldMark(QWidget):
    """A mark before the words of a field; Qt draws the icon of a field's action in one size only."""

    def __init__(self, mark: Mark, field: QLineEdit, theme: ChangingTokens) -> None:
        """Makes room for itself in `field`."""
        super().__init__(field)
        self.setObjectName(field.objectName() + "Mark")
        self._mark = mark
        self._field = field
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        field.installEventFilter(self)
        theme.sizes_changed.connect(self._fit)
        theme.changed.connect(self.update)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the middle of a field of another height."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        side = mark_size(_MARK)
        self.setFixedSize(side, side)
        self._field.setTextMargins(side + _MARK_GAP, 0, 0, 0)
        self._place()

    def _place(self) -> None:
        self.move(_MARK_LEFT, (self._field.height() - self.height()) // 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The mark."""
        painter = QPainter(self)
        paint_mark(painter, self._mark, QRectF(self.rect()), QColor(self._theme.tokens.text_2))
        painter.end()
