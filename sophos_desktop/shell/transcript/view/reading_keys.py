"""How far a key moves the reader. Pure; pixels."""

from enum import Enum, auto

from PySide6.QtCore import Qt

LINE_PIXELS = 48
_KEPT_OF_PAGE = 48


class Move(Enum):
    """Where a key leads that does not say how far."""

    TO_BEGINNING = auto()
    TO_END = auto()


def page_pixels(height: int) -> int:
    """A page of a view of `height`: two lines of it stay in the view."""
    return height - _KEPT_OF_PAGE


def reading_move(key: Qt.Key, height: int) -> Move | int | None:
    """How far down, or where; None if the key moves nothing."""
    page = page_pixels(height)
    moves: dict[Qt.Key, Move | int] = {
        Qt.Key.Key_Up: -LINE_PIXELS,
        Qt.Key.Key_Down: LINE_PIXELS,
        Qt.Key.Key_PageUp: -page,
        Qt.Key.Key_PageDown: page,
        Qt.Key.Key_Space: page,
        Qt.Key.Key_Home: Move.TO_BEGINNING,
        Qt.Key.Key_End: Move.TO_END,
    }
    return moves.get(key)
