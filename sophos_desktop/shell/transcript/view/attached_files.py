"""What went with a message of the user's: a chip for each file, below the bubble.

Invariant: it opens nothing itself; it says which file is wanted.
"""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import row_height
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.view.file_chip import CHIP_HEIGHT, FileChip

_GAP = 8
_ABOVE = 4  # with the view's own 4
_SIDES = 44  # icon, paddings, line
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")


def is_picture(attachment: AttachmentRef) -> bool:
    """Whether it is shown as an image; what is none after all costs a placeholder."""
    return attachment.mime_type.lower() in _PICTURES


class AttachedFiles(QWidget):
    """The footer of a message that has attachments; may be thrown away and made again at any time."""

    wanted = Signal(object)  # AttachmentRef

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self.setObjectName("attachedFiles")
        self._theme = theme
        self._shown: tuple[AttachmentRef, ...] = ()
        self.chips: list[QPushButton] = []
        self._height = row_height(CHIP_HEIGHT)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self._on_theme_changed)

    def show_message(self, message: TranscriptMessage) -> None:
        """The message is this now."""
        payload = message.payload if isinstance(message.payload, tuple) else ()
        attachments = tuple(one for one in payload if isinstance(one, AttachmentRef))
        if attachments != self._shown:
            self._show(attachments)

    def _on_theme_changed(self) -> None:
        """Names are cut for the type in force."""
        if row_height(CHIP_HEIGHT) != self._height:
            self._show(self._shown)

    def _show(self, attachments: Sequence[AttachmentRef]) -> None:
        for chip in self.chips:
            chip.hide()
            chip.deleteLater()
        self._shown = tuple(attachments)
        self._height = row_height(CHIP_HEIGHT)
        self.chips = [self._chip(attachment) for attachment in attachments]
        self._place(self.width())
        self.updateGeometry()

    def _chip(self, attachment: AttachmentRef) -> FileChip:
        chip = FileChip(attachment, self._theme, self)
        chip.clicked.connect(lambda _checked=False: self.wanted.emit(attachment))
        return chip

    # Rows that end at the right.

    def hasHeightForWidth(self) -> bool:
        """More rows in a narrow column."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Of all rows."""
        rows = len(self._rows(width))
        return _ABOVE + rows * row_height(CHIP_HEIGHT) + max(0, rows - 1) * _GAP

    def sizeHint(self) -> QSize:
        """That of its width."""
        width = max(self.width(), 1)
        return QSize(width, self.heightForWidth(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many in a row as fit."""
        super().resizeEvent(event)
        self._place(self.width())

    def _rows(self, width: int) -> list[list[QPushButton]]:
        rows: list[list[QPushButton]] = []
        left = 0
        for chip in self.chips:
            wanted = _width_of(chip, width)
            if rows and wanted <= left:
                rows[-1].append(chip)
                left -= wanted + _GAP
            else:
                rows.append([chip])
                left = width - wanted - _GAP
        return rows

    def _place(self, width: int) -> None:
        for number, row in enumerate(self._rows(width)):
            x = width - sum(_width_of(chip, width) + _GAP for chip in row) + _GAP
            for chip in row:
                own, height = _width_of(chip, width), row_height(CHIP_HEIGHT)
                chip.setGeometry(QRect(x, _ABOVE + number * (height + _GAP), own, height))
                x += own + _GAP


def _width_of(chip: QPushButton, room: int) -> int:
    return min(chip.sizeHint().width(), max(room, _SIDES))
