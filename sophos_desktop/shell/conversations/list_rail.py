"""The list as a narrow rail: new chat, search, and how many conversations wait and run. Knows no core.

Invariant: a count that is nothing is not shown, and it is not kept while nobody can see it.
"""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QToolButton, QVBoxLayout, QWidget

from sophos_desktop.shell.conversations.list_model import ConversationListModel, Role, RowState
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import wide
from sophos_desktop.shell.theme.icon_fit import IconFit
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.widgets.foldaway import Foldaway

_SIDE = 32  # so that the focus ring is not cut off by the rail's edges
_COUNT_WIDTH = 38
_COUNTED = {
    RowState.WAITING: ("waiting", Mark.WAITING, "warning", "Conversations that wait for you"),
    RowState.RUNNING: ("running", Mark.RUNNING, "accent", "Conversations that are running"),
}


class ListRail(Foldaway):
    """Lives as long as its panel."""

    new_wanted = Signal()
    search_wanted = Signal()
    chosen = Signal(str)

    def __init__(self, model: ConversationListModel, theme: Theme, parent: QWidget) -> None:
        """Counts in `model`."""
        super().__init__(parent)
        self.setObjectName("listRail")
        self._model = model
        self._theme = theme
        new = self.new_button = self._button("railNew", "New chat", Mark.NEW, "text", 18)
        new.clicked.connect(lambda: self.new_wanted.emit())
        search = self._button("railSearch", "Search the conversations", Mark.SEARCH, "text_2", 18)
        search.clicked.connect(lambda: self.search_wanted.emit())
        line = QFrame(self.inside)
        line.setObjectName("railLine")
        line.setFixedSize(24, 1)
        column = QVBoxLayout(self.inside)
        column.setContentsMargins(4, 8, 3, 8)
        column.setSpacing(4)
        for part in (new, search):
            column.addWidget(part, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(3)
        column.addWidget(line, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(3)
        self._counts: dict[RowState, QToolButton] = {}
        for state, (name, mark, colour, words) in _COUNTED.items():
            button = self._button(f"rail{name.capitalize()}", words, mark, colour, 14, _COUNT_WIDTH)
            button.setProperty("count", name)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.clicked.connect(lambda _checked=False, state=state: self._choose_first(state))
            button.hide()
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
            self._counts[state] = button
        column.addStretch(1)
        for changed in (model.modelReset, model.dataChanged, model.rowsInserted, model.rowsRemoved):
            changed.connect(self._count)

    def _button(
        self, name: str, words: str, mark: Mark, colour: str, size: int, width: int = _SIDE
    ) -> QToolButton:
        button = QToolButton(self.inside)
        button.setObjectName(name)
        button.setAccessibleName(words)
        button.setToolTip(words)
        button.setProperty("quiet", "true")
        button.setIcon(icon(mark, self._theme, colour))
        IconFit(button, size, self._theme, lambda: (wide(width), wide(_SIDE)))
        return button

    def sizeHint(self) -> QSize:
        """The rail's width."""
        return QSize(wide(MEASURES.rail_width), 200)

    def showEvent(self, event: QShowEvent) -> None:
        """Count what changed while nobody looked."""
        super().showEvent(event)
        self._count()

    def _count(self) -> None:
        if self.isHidden():
            return
        for state, button in self._counts.items():
            count = self._model.count(state)
            button.setText(str(count))
            button.setAccessibleName(f"{_COUNTED[state][3]}: {count}")
            button.setVisible(count > 0)

    def _choose_first(self, state: RowState) -> None:
        for row in range(self._model.rowCount()):
            index = self._model.index(row)
            if index.data(Role.STATE) == state:
                self.chosen.emit(str(index.data(Role.ID)))
                return
