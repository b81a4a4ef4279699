"""A title with a few letters behind it, or below it where both do not fit in one line.

Invariant: what stands behind the title begins a fixed gap after its last letter, at any width and size.
"""

from math import ceil

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QLayout, QLayoutItem

from sophos_desktop.shell.transcript.cards.parts import LinedLabel

_GAP = 8
_LEAST = 80


class TitleRow(QLayout):
    """Holds the two labels; the title wraps, what is behind it does not."""

    def __init__(self, title: LinedLabel, behind: LinedLabel) -> None:
        """Both have their parents already."""
        super().__init__()
        self.setContentsMargins(0, 0, 0, 0)
        self._title, self._behind = title, behind
        self._items: list[QLayoutItem] = []
        self.addWidget(title)
        self.addWidget(behind)

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
        """It takes the width there is."""
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        """A narrower row is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """How high it is."""
        return max(part.bottom() + 1 for part in self._places(QRect(0, 0, width, 0)))

    def sizeHint(self) -> QSize:
        """Both in one line."""
        behind = self._behind_size()
        return QSize(self._title_width() + behind.width(), self._title.heightForWidth(self._title_width()))

    def minimumSize(self) -> QSize:
        """A title can be narrow; how high the row is, its width tells."""
        return QSize(max(_LEAST, self._behind_size().width() - _GAP), self._title.minimumHeight())

    def setGeometry(self, rect: QRect) -> None:
        """Put both there."""
        super().setGeometry(rect)
        for item, place in zip(self._items, self._places(rect), strict=False):
            item.setGeometry(place)

    def _title_width(self) -> int:
        return ceil(QFontMetricsF(self._title.font()).horizontalAdvance(self._title.text())) + 1

    def _behind_size(self) -> QSize:
        """With the gap before it; nothing while it is hidden."""
        if self._behind.isHidden() or not self._behind.text():
            return QSize(0, 0)
        size = self._behind.sizeHint()
        return QSize(size.width() + _GAP, size.height())

    def _places(self, rect: QRect) -> tuple[QRect, QRect]:
        title, behind = self._title_width(), self._behind_size()
        if title + behind.width() <= rect.width():
            high = max(self._title.heightForWidth(title), behind.height())
            return (
                QRect(rect.left(), rect.top(), title, high),
                QRect(rect.left() + title + _GAP, rect.top(), behind.width() - _GAP, high),
            )
        high = self._title.heightForWidth(rect.width())
        return (
            QRect(rect.left(), rect.top(), rect.width(), high),
            QRect(rect.left(), rect.top() + high, behind.width() - _GAP, behind.height()),
        )
