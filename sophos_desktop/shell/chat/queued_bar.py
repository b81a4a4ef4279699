"""Shows the message that waits for its turn, above the composer, with what is attached to it.

Invariant: it decides nothing; its whole text is its tooltip and its accessible name.
"""

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.core.domain.queued import NOTHING, Queued
from sophos_desktop.shell.chat.cards.card import MarkView
from sophos_desktop.shell.chat.composing.chip_area import INSET, ChipArea, ShownAttachment
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icon_fit import IconFit
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.widgets.announcing import announce
from sophos_desktop.shell.widgets.elided_label import ElidedLabel
from sophos_desktop.shell.widgets.foldaway import Foldaway
from sophos_desktop.shell.widgets.plain_tip import plain_tip

_HEIGHT = 36
_ICON = 16


class QueuedBar(Foldaway):
    """Hidden while nothing waits; lives as long as its window."""

    edit_wanted = Signal()
    remove_wanted = Signal()
    send_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Shows nothing."""
        super().__init__(parent)
        self.setObjectName("queuedMessage")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._shown = NOTHING
        self._chips = ChipArea(theme, self.inside)
        self._label = ElidedLabel("queuedText", self.inside)
        self.send_button = QPushButton("Send now", self.inside)
        self.send_button.setObjectName("queuedSend")
        self.send_button.setProperty("row", "true")
        self.send_button.setAccessibleName("Send the queued message now")
        self.send_button.clicked.connect(lambda: self.send_wanted.emit())
        column = QVBoxLayout(self.inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.addStrut(_HEIGHT - 2)  # its line is a pixel wide
        row.setContentsMargins(12, 0, 4, 0)
        row.setSpacing(4)
        row.addWidget(MarkView(Mark.QUEUED, "text_2", _ICON, theme, self.inside))
        row.addSpacing(4)
        row.addWidget(self._label, 1)
        row.addWidget(self.send_button)
        self._tools = (
            self._tool("queuedEdit", Mark.EDIT, "Edit the queued message", self.edit_wanted),
            self._tool("queuedRemove", Mark.CLOSE, "Remove the queued message", self.remove_wanted),
        )
        for tool in self._tools:
            row.addWidget(tool)
        below = QHBoxLayout()
        below.setContentsMargins(12 - INSET, 0, 12 - INSET, 0)
        below.addWidget(self._chips)
        column.addLayout(row)
        column.addLayout(below)

    def _tool(self, name: str, mark: Mark, words: str, wanted: SignalInstance) -> QToolButton:
        button = QToolButton(self.inside)
        button.setObjectName(name)
        button.setProperty("quiet", "true")
        button.setIcon(icon(mark, self._theme))
        IconFit(button, _ICON, self._theme, lambda: (self._theme.tokens.measures.icon_button,) * 2)
        button.setAccessibleName(words)
        button.setToolTip(words)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(lambda: wanted.emit())
        return button

    @property
    def shown(self) -> Queued:
        """The message that is shown; `NOTHING` if none waits."""
        return self._shown

    def show_message(self, waits: Queued, *, can_send: bool) -> None:
        """Show the message that waits; `NOTHING` hides the bar."""
        is_new = waits.text is not None and waits.text != self._shown.text
        self._shown = waits
        self.send_button.setVisible(can_send)
        said = waits.text or ", ".join(one.name for one in waits.attachments)
        self.setToolTip(plain_tip(said))
        self.setAccessibleName("" if waits.text is None else f"Next: {said}")
        for tool in self._tools:
            tool.setAccessibleDescription(said)
        self._chips.show_attachments([ShownAttachment(one.name, one) for one in waits.attachments])
        self._label.say(f"Next: {' '.join((waits.text or '').split())}")
        self.setVisible(waits.text is not None)
        if is_new and self.isVisible():
            announce(self, f"Waits to be sent: {said}")
