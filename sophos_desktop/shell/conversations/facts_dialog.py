"""Offers to take out of the memory what a deleted conversation put there.

Invariant: window-modal, opened and never executed; what is ticked when it is accepted is what goes.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.shell.facade import MemoryFact
from sophos_desktop.shell.widgets.plain_tip import plain_tip


class FactsDialog(QDialog):
    """A list of facts, each with a box; deletes itself when it is closed."""

    def __init__(
        self,
        facts: Sequence[MemoryFact],
        on_accepted: Callable[[Sequence[MemoryFact]], None],
        parent: QWidget,
    ) -> None:
        """Open at once by `open()`. All are ticked; `on_accepted` gets those that still are."""
        super().__init__(parent)
        self.setObjectName("factsQuestion")
        self.setWindowTitle("Remove from memory?")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._facts = tuple(facts)
        heading = QLabel("Remove these facts from memory?", self)
        heading.setStyleSheet("font-weight: 600;")
        text = QLabel(
            "The deleted conversation added them. Every other conversation can still recall them. "
            "Taking back the deletion does not bring them back.",
            self,
        )
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        self.list = QListWidget(self)
        self.list.setObjectName("factsList")
        self.list.setAccessibleName("Facts")
        for fact in self._facts:
            item = QListWidgetItem(" ".join(fact.words.split()), self.list)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            item.setToolTip(plain_tip(item.text()))
        keep = QPushButton("Keep them", self)
        keep.setObjectName("factsKeepButton")
        keep.clicked.connect(self.reject)
        keep.setDefault(True)
        remove = QPushButton("Remove", self)
        remove.setObjectName("factsRemoveButton")
        remove.setProperty("danger", "true")
        remove.clicked.connect(self.accept)
        for button in (keep, remove):
            button.setAccessibleName(button.text())
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(keep)
        buttons.addWidget(remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addWidget(self.list, 1)
        layout.addLayout(buttons)
        self.setMinimumSize(420, 320)
        self.accepted.connect(lambda: on_accepted(self.chosen))

    @property
    def chosen(self) -> Sequence[MemoryFact]:
        """Those that are ticked."""
        return [
            fact
            for row, fact in enumerate(self._facts)
            if self.list.item(row).checkState() is Qt.CheckState.Checked
        ]
