"""The settings as a form: each with its value, where that comes from, and what was wrong with an edit.

Invariant: a change applies at once or is refused at its field; the form never holds a value of its own.
"""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QLabel, QScrollArea, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.shell.facade import Core
from sophos_desktop.shell.preferences.fields import section_title, words_of
from sophos_desktop.shell.preferences.setting_field import SettingField
from sophos_desktop.shell.widgets.plain_dialog import PlainDialog

_LABEL_WIDTH = 144


class SettingsDialog(PlainDialog):
    """Lives as long as its window."""

    changed = Signal(str)  # key

    def __init__(self, core: Callable[[], Core | None], parent: QWidget) -> None:
        """`core` gives the open core, or None. The form is made when it is first shown."""
        super().__init__("settingsDialog", "Settings", parent, 620, 640)
        self._open_core = core
        self._fields: dict[str, SettingField] = {}
        self._holder = QWidget(self)
        self._form = QFormLayout(self._holder)
        self._form.setContentsMargins(0, 0, 12, 0)
        self._form.setHorizontalSpacing(16)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        area = QScrollArea(self)
        area.setObjectName("settingsForm")
        area.setAccessibleName("Settings")
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields have the keyboard
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(self._holder)
        self.body.addWidget(area)
        self.note.setText("Changes apply at once.")
        self.shown.connect(self.refresh)

    def bring_up(self) -> None:
        """With its fields made, so that the first one can have the keyboard."""
        self.refresh()
        super().bring_up()

    def field(self, key: str) -> SettingField:
        """The field of a setting."""
        return self._fields[key]

    def refresh(self) -> None:
        """Show what is in force now."""
        core = self._open_core()
        if core is None:
            return
        path = str(core.settings.path)
        section = ""
        for item in core.settings.items():
            if item.key not in self._fields:
                section = self._add(item.key, section)
            self._fields[item.key].show_item(item, path)

    def _add(self, key: str, section: str) -> str:
        """A row for a setting, below its section's heading; gives the heading."""
        words, title = words_of(key), section_title(key)
        if title != section:
            heading = QLabel(title, self._holder)
            heading.setProperty("part", "section")
            self._form.addRow(heading)
        field = SettingField(key, words, self._holder)
        field.edited.connect(self._on_edited)
        label = QLabel(words.label, self._holder)
        label.setBuddy(field.editor)
        label.setFixedWidth(_LABEL_WIDTH)
        label.setFixedHeight(32)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._form.addRow(label, field)
        self._fields[key] = field
        return title

    def _on_edited(self, key: str, text: str) -> None:
        core = self._open_core()
        if core is None:
            return
        try:
            core.settings.set(key, text)
        except SophosError as error:
            self._fields[key].show_problem(error.message)
            return
        self.refresh()
        self.changed.emit(key)
