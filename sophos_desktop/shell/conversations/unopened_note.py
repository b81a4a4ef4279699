"""Stands where the list would be when the conversations could not be opened: why not, and what to do.

Invariant: it stays, unlike the message beside the composer, which can be closed.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.shell.theme.fonts import code_font
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.widgets.words import breakable


class UnopenedNote(QWidget):
    """Made only once there is something to say; lives as long as its panel."""

    def __init__(self, error: SophosError, parent: QWidget) -> None:
        """Says `error`."""
        super().__init__(parent)
        self.setObjectName("unopenedNote")
        self.setAccessibleName(f"{error.message} ({error.code})")
        column = QVBoxLayout(self)
        side = MEASURES.row_inset + MEASURES.row_padding
        column.setContentsMargins(side, 8, side, side)
        column.setSpacing(4)
        for part, words in (("title", error.title), ("advice", error.advice), ("code", str(error.code))):
            if words:
                column.addWidget(self._label(part, words))
        column.addStretch(1)

    def _label(self, part: str, words: str) -> QLabel:
        label = QLabel(breakable(words), self)
        label.setProperty("part", part)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if part == "code":
            label.setFont(code_font(TYPE.badge.size))
        return label
