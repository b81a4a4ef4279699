"""One file that went with a message: icon, name and size in a chip that opens it.

Invariant: its whole name and its size are its accessible name and its tooltip, however little is shown.
"""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QWidget

from sophos_desktop.core.domain.attaching import is_image
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.tool_parts import words_of_size
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height, wide
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.widgets.plain_tip import plain_tip

CHIP_HEIGHT = 28
_ICON = 14
_PADDING = 9  # the line is in it
_GAP = 7
_WIDEST_NAME = 220


class FileChip(QPushButton):
    """Belongs to the row of its message."""

    def __init__(self, attachment: AttachmentRef, theme: Theme, parent: QWidget) -> None:
        """Shown at once."""
        super().__init__(parent)
        self.setObjectName("attachedFile")
        self.setProperty("row", "true")
        self._theme = theme
        self._mark = Mark.IMAGE if is_image(attachment) else Mark.FILE
        self.name = " ".join(attachment.name.split()) or "file"
        self.size_words = words_of_size(attachment.size_bytes)
        self.setAccessibleName(f"Attachment {self.name}, {self.size_words}")
        self.setToolTip(plain_tip(f"{self.name}, {self.size_words}"))
        self.show()

    def sizeHint(self) -> QSize:
        """The name in full as far as that is reasonable."""
        metrics = QFontMetricsF(role_font(TYPE.small))
        name = min(metrics.horizontalAdvance(self.name), wide(_WIDEST_NAME))
        return QSize(round(name + self._beside(metrics)) + 2, row_height(CHIP_HEIGHT))

    def _beside(self, metrics: QFontMetricsF) -> float:
        """The width of all that is not the name."""
        return 2 * _PADDING + mark_size(_ICON) + 2 * _GAP + metrics.horizontalAdvance(self.size_words)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The ground as the style has it, then icon, name and size."""
        painter = QPainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        self.style().drawControl(QStyle.ControlElement.CE_PushButtonBevel, option, painter, self)
        font = role_font(TYPE.small)
        metrics, colour, side = QFontMetricsF(font), QColor(self._theme.tokens.text_2), mark_size(_ICON)
        paint_mark(painter, self._mark, QRectF(_PADDING, (self.height() - side) / 2, side, side), colour)
        room = self.width() - self._beside(metrics)
        name = metrics.elidedText(self.name, Qt.TextElideMode.ElideMiddle, max(0.0, room))
        left, height = float(_PADDING + side + _GAP), self.height()
        painter.setFont(font)
        painter.setPen(colour)
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(QRectF(left, 0, room + 1, height), middle, name)
        left += metrics.horizontalAdvance(name) + _GAP
        painter.drawText(QRectF(left, 0, self.width() - left, height), middle, self.size_words)
        painter.end()
