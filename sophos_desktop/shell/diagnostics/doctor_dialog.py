"""The checks of the installation, each with what to do.

Invariant: checking changes nothing; one examination is under way at a time.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.facade import Check, Core
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog
from sophos_desktop.shell.widgets.shapes import Shape, shape_icon


class DoctorDialog(PlainDialog):
    """Lives as long as its window."""

    def __init__(
        self, core: Callable[[], Core | None], owner: TaskOwner, theme: Theme, parent: QWidget
    ) -> None:
        """`core` gives the open core, or None."""
        super().__init__("doctorDialog", "Check the Installation", parent, 620, 460)
        self._open_core = core
        self._owner = owner
        self._theme = theme
        self._is_examining = self._is_asked_again = False
        self._list = QListWidget(self)
        self._list.setObjectName("doctorList")
        self._list.setAccessibleName("Checks")
        self._list.setIconSize(QSize(14, 14))
        self._list.setWordWrap(True)
        self._list.setSpacing(3)
        self.body.addWidget(self._list)
        self._again = self.add_button("doctorAgain", "Check Again")
        self._again.clicked.connect(self._on_again)
        self.shown.connect(self.examine)

    def _on_again(self) -> None:
        self._is_asked_again = True
        self.examine()

    def examine(self) -> None:
        """Ask the core; the list is filled when it has answered."""
        core = self._open_core()
        if core is not None and not self._is_examining:
            self._is_examining = True
            self._again.setEnabled(False)
            self.note.setText("Checking…")
            self._owner.spawn(self._examine(core), "doctor")

    async def _examine(self, core: Core) -> None:
        try:
            self._fill(await core.doctor.examine())
        finally:
            self._is_examining = self._is_asked_again = False
            self._again.setEnabled(True)

    def _fill(self, checks: Sequence[Check]) -> None:
        tokens, ratio = self._theme.tokens, self.devicePixelRatioF()
        good = shape_icon(Shape.DONE, 14, tokens.success, ratio)
        bad = shape_icon(Shape.FAILED, 14, tokens.danger, ratio)
        self._list.clear()
        for check in checks:
            words = check.text if check.ok or not check.remedy else f"{check.text}\n{check.remedy}"
            item = QListWidgetItem(good if check.ok else bad, words)
            item.setData(Qt.ItemDataRole.UserRole, check.id)
            said = "In order" if check.ok else "Needs you"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{said}: {words}")
            self._list.addItem(item)
        self._list.setCurrentRow(0 if checks else -1)
        wrong = sum(not check.ok for check in checks)
        say = self.tell if self._is_asked_again else self.note.setText
        say("All is well." if not wrong else f"{wrong} of {len(checks)} checks need you.")
