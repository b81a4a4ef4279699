"""The chips of what is attached, row after row; scrolled where they would take too much room.

Invariant: it shows what it was told last, in that order; a chip whose attachment stays keeps its widget, and
with it the focus.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.shell.chat.composing.attachment_chip import AttachmentChip
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.announcing import announce

_GAP = 8
INSET = 4  # the focus ring around a chip's button reaches that far beyond the chip
_MOST_ROWS = 3


@dataclass(frozen=True, slots=True)
class ShownAttachment:
    """What a chip shows. `attachment` is None while its file is read; `warning`: why it does not go along."""

    name: str
    attachment: AttachmentRef | None = None
    warning: str = ""


class ChipArea(QScrollArea):
    """Hidden while there is nothing to show; belongs to its part of the window."""

    remove_wanted = Signal(object)  # AttachmentRef
    emptied = Signal()  # the chip that had the focus went

    def __init__(self, theme: Theme, parent: QWidget, *, tab_after: QWidget | None = None) -> None:
        """Empty. `tab_after`: chips can be removed, and the Tab key goes from there to the first one."""
        super().__init__(parent)
        self.setObjectName("queuedAttachments" if tab_after is None else "attachments")
        self.setAccessibleName("Attachments")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._theme = theme
        self._tab_after = tab_after
        self._page = QWidget(self)
        self._page.setObjectName("attachmentPage")
        self.setWidget(self._page)
        self.setStyleSheet("#attachments, #queuedAttachments, #attachmentPage { background: transparent; }")
        self._chips: list[AttachmentChip] = []
        theme.sizes_changed.connect(self._place)
        self.hide()

    @property
    def chips(self) -> Sequence[AttachmentChip]:
        """Those that are shown, in their order."""
        return tuple(self._chips)

    def show_attachments(self, shown: Sequence[ShownAttachment]) -> None:
        """Show exactly these."""
        before = self._chips
        focused = self._place_of_focus()
        self._chips = [self._chip_for(one, before) for one in shown]
        for chip, one in zip(self._chips, shown, strict=True):
            chip.warn(one.warning)
        for chip in before:
            if chip not in self._chips:
                chip.hide()
                chip.deleteLater()
        self.setVisible(bool(self._chips))
        self._place()
        self._tell_what_was_read(before)
        new = [chip for chip in self._chips if chip not in before]
        if new and before:
            self.ensureWidgetVisible(new[-1], 0, INSET)
        if focused is not None and before[focused] not in self._chips:
            self._focus_near(focused)

    def _tell_what_was_read(self, before: Sequence[AttachmentChip]) -> None:
        coming = [chip.name for chip in before if chip.attachment is None]
        read = [chip for chip in self._chips if chip.attachment is not None and chip.name in coming]
        if read:
            announce(self, "Attached " + "; ".join(chip.said for chip in read))

    def _place_of_focus(self) -> int | None:
        buttons = [chip.remove_button for chip in self._chips]
        return next((at for at, button in enumerate(buttons) if button and button.hasFocus()), None)

    def _chip_for(self, one: ShownAttachment, before: Sequence[AttachmentChip]) -> AttachmentChip:
        for chip in before:
            if chip.name == one.name and chip.attachment == one.attachment:
                return chip
        chip = AttachmentChip(
            one.name, one.attachment, self._theme, self._page, removable=self._tab_after is not None
        )
        chip.remove_wanted.connect(lambda: self.remove_wanted.emit(chip.attachment))
        chip.show()
        return chip

    def _focus_near(self, place: int) -> None:
        """A person who removes one with the keyboard goes on with the next one."""
        buttons = [chip.remove_button for chip in self._chips if chip.remove_button is not None]
        if buttons:
            buttons[min(place, len(buttons) - 1)].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.emptied.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many in a row as fit."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        high = self._theme.tokens.measures.button_in_row
        most = 2 * INSET + _MOST_ROWS * high + (_MOST_ROWS - 1) * _GAP
        width = max(self.width(), 2 * INSET + 1)
        height = self._place_rows(width, high)
        if height > most:
            width -= self.verticalScrollBar().sizeHint().width()
            height = self._place_rows(width, high)
        self._page.resize(width, height)
        self.setFixedHeight(min(height, most))

    def _place_rows(self, width: int, high: int) -> int:
        """Gives the height of all rows."""
        left, top = INSET, INSET
        before = self._tab_after
        for chip in self._chips:
            chip.ensurePolished()
            wanted = min(chip.sizeHint().width(), width - 2 * INSET)
            if left > INSET and left + wanted > width - INSET:
                left, top = INSET, top + high + _GAP
            chip.setGeometry(left, top, wanted, high)
            left += wanted + _GAP
            if before is not None and chip.remove_button is not None:
                QWidget.setTabOrder(before, chip.remove_button)
                before = chip.remove_button
        return top + high + INSET
