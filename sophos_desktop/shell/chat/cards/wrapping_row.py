"""A row of buttons that goes on in the next line where it would not fit, with one part at the right.

Invariant: nothing is cut off while the widest part fits; hidden parts take no space.
"""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

_GAP = 8


class WrappingRow(QLayout):
    """Belongs to its widget; the last part that is added stands at the right."""

    def __init__(self, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        """Called by `addWidget`."""
        self._items.append(item)

    def count(self) -> int:
        """How many parts."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """A part, or None."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take a part out, or None."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It wants no more than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """A narrower row is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """How high it is."""
        return self._place(QRect(0, 0, width, 0), is_real=False)

    def sizeHint(self) -> QSize:
        """All in one line."""
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + _GAP * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """The widest part."""
        sizes = [item.minimumSize() for item in self._shown()]
        return QSize(
            max((size.width() for size in sizes), default=0),
            max((size.height() for size in sizes), default=0),
        )

    def setGeometry(self, rect: QRect) -> None:
        """Put the parts there."""
        super().setGeometry(rect)
        self._place(rect, is_real=True)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, rect: QRect, *, is_real: bool) -> int:
        left, top, line = rect.left(), rect.top(), 0
        for item in self._shown():
            size = item.sizeHint()
            if left > rect.left() and left + size.width() > rect.left() + rect.width():
                left, top, line = rect.left(), top + line + _GAP, 0
            is_aside = len(self._items) > 1 and item is self._items[-1]
            at = rect.left() + rect.width() - size.width() if is_aside else left
            line = max(line, size.height())
            if is_real:
                dropped = (line - size.height()) // 2 if is_aside else 0
                item.setGeometry(QRect(QPoint(at, top + dropped), size))
            left = at + size.width() + _GAP
        return top + line - rect.top()
