"""One setting in the form: editor, where the value comes from, what is wrong.

Invariant: it shows the value in force; what the core refuses stays in the editor with the reason below it.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from sophos_desktop.shell.facade import SettingItem
from sophos_desktop.shell.preferences.fields import (
    FieldWords,
    is_fixed,
    source_words,
    value_text,
)
from sophos_desktop.shell.widgets.announcing import announce
from sophos_desktop.shell.widgets.still_combo import StillComboBox

_EDITOR_WIDTH = 280


class SettingField(QWidget):
    """Lives as long as its form."""

    edited = Signal(str, str)  # key, text

    def __init__(self, key: str, words: FieldWords, parent: QWidget) -> None:
        """Empty before `show_item`."""
        super().__init__(parent)
        self.key = key
        self._words = words
        self._shown = ""
        name = f"setting_{key.replace('.', '_')}"
        self._combo: QComboBox | None = None
        self._line: QLineEdit | None = None
        editor = self.editor = self._make_combo() if words.choices else self._make_line()
        editor.setObjectName(name)
        editor.setAccessibleName(words.label)
        editor.setFixedWidth(_EDITOR_WIDTH)
        editor.setMinimumHeight(32)
        self.reset = QToolButton(self)
        self.reset.setObjectName(name + "_reset")
        self.reset.setText("Reset")
        self.reset.setAccessibleName(f"Reset {words.label}")
        self.reset.setToolTip("Take your own value out again")
        self.reset.clicked.connect(lambda: self.edited.emit(self.key, ""))
        self.problem = QLabel(self)
        self.problem.setObjectName(name + "_problem")
        self.problem.setProperty("part", "problem")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._note = QLabel(self)
        self._note.setProperty("part", "note")
        self._note.setWordWrap(True)
        # The editor's description holds it. A label without a buddy is read out when the window opens.
        self._note.setBuddy(self)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(editor)
        row.addWidget(self.reset)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 6)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.problem)
        column.addWidget(self._note)

    def _make_combo(self) -> QComboBox:
        combo = self._combo = StillComboBox(self)
        for text, words in self._words.choices:
            combo.addItem(words, text)
        combo.view().setAccessibleName(self._words.label)
        combo.activated.connect(self._on_edited)
        return combo

    def _make_line(self) -> QLineEdit:
        line = self._line = QLineEdit(self)
        line.setPlaceholderText(self._words.placeholder)
        line.editingFinished.connect(self._on_edited)
        return line

    @property
    def text(self) -> str:
        """What the editor holds, as the core reads it."""
        if self._combo is not None:
            return str(self._combo.currentData())
        return self._line.text().strip() if self._line is not None else ""

    def _on_edited(self) -> None:
        if self.text != self._shown:
            self.edited.emit(self.key, self.text)

    def show_item(self, item: SettingItem, path: str) -> None:
        """The value in force and its source; takes away what was wrong."""
        self._shown = value_text(item.value)
        fixed = is_fixed(item.source, path)
        if self._combo is not None:
            self._combo.setCurrentIndex(max(0, self._combo.findData(self._shown)))
            self._combo.setEnabled(not fixed)
        if self._line is not None:
            self._line.setText(self._shown)
            self._line.setReadOnly(fixed)
            self._mark(is_wrong=False)
        self.reset.setVisible(item.source == path)
        source = source_words(item.source, path)
        self._note.setText(f"{self._words.note} {source}.".strip())
        self.editor.setAccessibleDescription(self._note.text())
        self.problem.hide()

    def show_problem(self, text: str) -> None:
        """The core refused what the editor holds."""
        self._shown = self.text  # leaving the field again is no second attempt
        self.problem.setText(text)
        self.problem.show()
        self.editor.setAccessibleDescription(f"{text}. {self._note.text()}")
        if not self.editor.hasFocus():  # of what has it, another description is spoken
            announce(self.editor, f"{self._words.label}: {text}")
        self._mark(is_wrong=True)

    def _mark(self, *, is_wrong: bool) -> None:
        if self._line is not None:
            self._line.setProperty("invalid", "true" if is_wrong else "false")
            self._line.style().unpolish(self._line)
            self._line.style().polish(self._line)
