"""A row of parts that goes on in the next line where it would not fit.

Invariant: nothing is cut off while the widest part fits; hidden parts take no space.
"""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

_GAP = 8


class WrappingRow(QLayout):
    """Belongs to its widget."""

    def __init__(
        self, parent: QWidget, *, gap: int = _GAP, line_gap: int = _GAP, is_last_aside: bool = False
    ) -> None:
        """Empty. `gap` and `line_gap`: pixels between parts and between lines; `is_last_aside`: the last part
        stands at the right."""
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self._gap, self._line_gap, self._is_last_aside = gap, line_gap, is_last_aside
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
        width = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
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
        top = rect.top()
        for number, line in enumerate(self._lines(rect.width())):
            top += self._line_gap if number else 0
            high = max(item.sizeHint().height() for item in line)
            left = rect.left()
            for item in line:
                size = item.sizeHint()
                is_aside = self._is_last_aside and len(self._items) > 1 and item is self._items[-1]
                at = rect.left() + rect.width() - size.width() if is_aside else left
                if is_real:
                    item.setGeometry(QRect(QPoint(at, top + (high - size.height()) // 2), size))
                left = at + size.width() + self._gap
            top += high
        return top - rect.top()

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        """The parts that stand beside each other, line by line."""
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._shown():
            wide = item.sizeHint().width()
            if not lines or left + wide > width:
                lines.append([])
                left = 0
            lines[-1].append(item)
            left += wide + self._gap
        return lines
