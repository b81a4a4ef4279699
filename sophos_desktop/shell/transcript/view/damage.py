"""Decides what of the view is painted again.

Invariant: what is on the screen afterwards is what painting everything would give. Pixels that only moved up
are moved, not painted.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

PartKey = tuple[int, int]  # the message's key, a number of the part


@dataclass(frozen=True, slots=True)
class Look:
    """A part on the screen; the same `signature` means the same pixels."""

    top: int
    height: int
    signature: tuple[object, ...]


class Damage:
    """Knows what is on the screen; lives as long as its viewport.

    Qt 6.11 leaves out a raised letter or a formula of which nothing but the first row lies within what is
    painted. So the last row is painted once more when it moves up, and a view that moves down is painted as
    a whole, since no part of it ends where surely no letter begins.
    """

    def __init__(self, viewport: QWidget) -> None:
        """Nothing is on the screen."""
        self._viewport = viewport
        self._shown: dict[PartKey, Look] = {}
        self._size = viewport.size()
        self._is_void = True

    def forget(self) -> None:
        """Paint everything next time."""
        self._is_void = True

    def show(self, parts: Mapping[PartKey, Look]) -> int:
        """Bring the screen from what was shown to `parts`; gives the pixels that the view was moved by."""
        before, self._shown = self._shown, dict(parts)
        size = self._viewport.size()
        is_void = self._is_void or size != self._size
        self._is_void, self._size = False, size
        if is_void:
            self._viewport.update()
            return 0
        moved = self._common_move(before)
        if moved > 0:
            self._viewport.update()
            return moved
        if moved:
            self._viewport.scroll(0, moved)
            self._viewport.update(QRect(0, size.height() + moved - 1, size.width(), 1))
        for key in before.keys() | self._shown.keys():
            self._update(before.get(key), self._shown.get(key), moved)
        return moved

    def _common_move(self, before: Mapping[PartKey, Look]) -> int:
        """How far most of what stays has moved; 0 if it cannot be done by moving pixels."""
        moves: Counter[int] = Counter()
        for key, look in self._shown.items():
            old = before.get(key)
            if old is not None and old.signature == look.signature and old.height == look.height:
                moves[look.top - old.top] += look.height
        if not moves:
            return 0
        moved = moves.most_common(1)[0][0]
        on_device = moved * self._viewport.devicePixelRatioF()
        # Half a pixel of the device cannot be moved by.
        return moved if abs(moved) < self._viewport.height() and on_device == round(on_device) else 0

    def _update(self, before: Look | None, now: Look | None, moved: int) -> None:
        if before is not None and now is not None:
            is_same = before.signature == now.signature and before.height == now.height
            if is_same and now.top == before.top + moved:
                return
        for look, shift in ((before, moved), (now, 0)):
            if look is not None:
                self._viewport.update(QRect(0, look.top + shift, self._viewport.width(), look.height))
