"""Says that a conversation was deleted and lets it be taken back; below it, what stays in the memory.

Invariant: it decides nothing and keeps no time; its countdown is told to the eye alone, so that a screen
reader is not talked at each second.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import row_height
from sophos_desktop.shell.theme.icon_fit import IconFit
from sophos_desktop.shell.theme.icons import Mark, icon
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.widgets.announcing import announce
from sophos_desktop.shell.widgets.elided_label import ElidedLabel
from sophos_desktop.shell.widgets.foldaway import Foldaway

_HEIGHT = 32
_ICON = 14


class UndoBar(Foldaway):
    """Hidden while there is nothing to say; lives as long as its window."""

    undo_wanted = Signal()
    facts_wanted = Signal()
    facts_closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Shows nothing."""
        super().__init__(parent)
        self.setObjectName("undoBar")
        self._theme = theme
        self._has_deletion = self._has_facts = False
        self._deletion = QFrame(self.inside)
        self._deletion.setObjectName("undoDeletion")
        self._text = ElidedLabel("undoText", self._deletion)
        self._seconds = QLabel(self._deletion)
        self._seconds.setObjectName("undoSeconds")
        self.undo_button = _button(self._deletion, "undoDelete", "Undo")
        self.undo_button.clicked.connect(lambda: self.undo_wanted.emit())
        self._row = _row(self._deletion)
        self._row.addWidget(self._text, 1)
        self._row.addWidget(self._seconds)
        self._row.addWidget(self.undo_button)
        self._facts = QFrame(self.inside)
        self._facts.setObjectName("undoFacts")
        self._facts_text = ElidedLabel("undoFactsText", self._facts)
        self.facts_button = _button(self._facts, "undoFactsRemove", "Remove…")
        self.facts_button.clicked.connect(lambda: self.facts_wanted.emit())
        self.close_button = QToolButton(self._facts)
        self.close_button.setObjectName("undoFactsKeep")
        self.close_button.setAccessibleName("Leave them in the memory")
        self.close_button.setToolTip("Leave them in the memory")
        self.close_button.setIcon(icon(Mark.CLOSE, theme, "on_tip"))
        self.close_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.close_button.clicked.connect(lambda: self.facts_closed.emit())
        row = _row(self._facts)
        row.addWidget(self._facts_text, 1)
        row.addWidget(self.facts_button)
        row.addWidget(self.close_button)
        self._column = QVBoxLayout(self.inside)
        self._column.setContentsMargins(MEASURES.row_inset, 4, MEASURES.row_inset, MEASURES.row_inset)
        self._column.setSpacing(4)
        self._column.addWidget(self._deletion)
        self._column.addWidget(self._facts)
        IconFit(self.close_button, _ICON, theme, lambda: (theme.tokens.measures.icon_button_in_bar,) * 2)
        theme.sizes_changed.connect(self._on_sizes_changed)
        self._on_sizes_changed()
        self._fit()

    @property
    def says(self) -> str:
        """What it says of the deletion; empty if there is none to take back."""
        return self._text.whole if self._has_deletion else ""

    @property
    def says_of_facts(self) -> str:
        """What it says of the memory; empty if there is nothing to say."""
        return self._facts_text.whole if self._has_facts else ""

    def show_deletion(self, title: str, seconds_left: int) -> None:
        """The newest deletion that can be taken back."""
        said = f"Deleted “{' '.join(title.split())}”"
        is_new = not self._has_deletion or said != self._text.whole
        self._has_deletion = True
        self._text.say(said)
        self.undo_button.setAccessibleName(f"Undo: {self._text.whole}")
        self._seconds.setText(f"{seconds_left} s")
        self._fit()
        if is_new:
            announce(self, f"{said}. Undo takes it back, for {seconds_left} seconds")

    def hide_deletion(self) -> None:
        """Nothing can be taken back any more."""
        self._has_deletion = False
        self._fit()

    def show_facts(self, text: str, *, can_remove: bool) -> None:
        """What stays in the memory, or became of it."""
        is_new = not self._has_facts or text != self._facts_text.whole
        self._has_facts = True
        self._facts_text.say(text)
        self.facts_button.setVisible(can_remove)
        self.facts_button.setAccessibleDescription(text)
        self._fit()
        if is_new:
            announce(self, text)

    def hide_facts(self) -> None:
        """Nothing is to be said of the memory."""
        self._has_facts = False
        self._fit()

    def moved(self) -> None:
        """It stands somewhere else now."""
        self._fit()

    def _fit(self) -> None:
        self._deletion.setHidden(not self._has_deletion)
        self._facts.setHidden(not self._has_facts)
        self.setHidden(not self._has_deletion and not self._has_facts)

    def _on_sizes_changed(self) -> None:
        """Sizes; colours and type are in the window's style sheet, so that it is polished once."""
        for row in (self._deletion, self._facts):
            row.setFixedHeight(row_height(_HEIGHT, TYPE.small))


def _button(parent: QWidget, name: str, text: str) -> QPushButton:
    button = QPushButton(text, parent)
    button.setObjectName(name)
    button.setAccessibleName(text)
    button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return button


def _row(frame: QFrame) -> QHBoxLayout:
    row = QHBoxLayout(frame)
    row.setContentsMargins(MEASURES.field_padding, 0, 4, 0)
    row.setSpacing(4)
    return row
