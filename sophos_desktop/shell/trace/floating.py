"""Makes the floating trace dock a window as others are: with a title and a frame, beside what it is about.

Invariant: it never hides the composer, and is whole on its screen.
"""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QDockWidget, QWidget

_APART = 8
_FRAME_LINES = 6
_FRAME_TITLE = 32  # how much a window manager adds at the top, about
_WINDOW = Qt.WindowType
_FLAGS = (
    _WINDOW.Window
    | _WINDOW.CustomizeWindowHint
    | _WINDOW.WindowTitleHint
    | _WINDOW.WindowSystemMenuHint
    | _WINDOW.WindowCloseButtonHint
)


def give_frame(dock: QDockWidget) -> None:
    """Qt leaves a dock with a title of its own without a frame once it floats."""
    was_shown = not dock.isHidden()
    place = dock.geometry()
    dock.setWindowFlags(_FLAGS)  # hides it
    dock.setGeometry(place)
    dock.setVisible(was_shown)


def place_of(size: QSize, window: QRect, screen: QRect, composer_top: int) -> QRect:
    """Where a dock of that size floats, all in the screen's pixels: right of the window, or left of it if
    there is room, else over its right part, ending above the composer.

    `window` is the main window with its frame; `composer_top` is where the composer begins."""
    width = min(size.width(), screen.width())
    height = min(max(size.height(), window.height() * 2 // 3), screen.height() - _FRAME_TITLE - _FRAME_LINES)
    top = max(screen.top(), min(window.top(), screen.bottom() - height - _FRAME_TITLE)) + _FRAME_TITLE
    right = window.right() + 1 + _APART
    left = window.left() - width - _APART
    if right + width <= screen.right():
        return QRect(QPoint(right, top), QSize(width, height))
    if left >= screen.left():
        return QRect(QPoint(left, top), QSize(width, height))
    over = min(window.right(), screen.right()) - width - _APART
    bottom = max(top + _FRAME_TITLE, composer_top - _APART)
    return QRect(QPoint(max(screen.left(), over), top), QSize(width, min(height, bottom - top)))


def float_beside(dock: QDockWidget, window: QWidget) -> None:
    """Float it beside its window."""
    size = dock.size()
    composer = window.findChild(QWidget, "composer")
    below = window if composer is None else composer.parentWidget() or composer
    at = QPoint(0, window.height() * 2 // 3) if composer is None else QPoint(0, 0)
    top = below.mapToGlobal(at).y()
    dock.setFloating(True)
    dock.setGeometry(place_of(size, window.frameGeometry(), window.screen().availableGeometry(), top))
