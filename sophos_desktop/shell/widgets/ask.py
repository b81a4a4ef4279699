"""Asks a question without stopping the world.

Invariant: no nested loop: the dialog is opened, not executed, and its answer arrives as a call.
"""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sophos_desktop.shell.widgets.words import breakable


class Question(QDialog):
    """A window-modal question with two buttons; deletes itself when it is closed."""

    def __init__(
        self,
        parent: QWidget,
        name: str,
        question: str,
        detail: str,
        accept_text: str,
        on_accepted: Callable[[], None],
        *,
        danger: bool = False,
    ) -> None:
        """Open at once by `open()`. The button that changes something is never the default of `Enter`
        when `danger` is set."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(question)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.accepted.connect(on_accepted)
        heading = QLabel(question, self)
        heading.setTextFormat(Qt.TextFormat.PlainText)
        heading.setStyleSheet("font-weight: 600;")
        heading.setWordWrap(True)
        text = QLabel(breakable(detail, 48), self)
        text.setObjectName(name + "Detail")
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        cancel = QPushButton("Cancel", self)
        cancel.setObjectName(name + "Cancel")
        cancel.clicked.connect(self.reject)
        accept = QPushButton(accept_text, self)
        accept.setObjectName(name + "Accept")
        accept.setProperty("danger" if danger else "primary", "true")
        accept.clicked.connect(self.accept)
        (cancel if danger else accept).setDefault(True)
        for button in (cancel, accept):
            button.setAccessibleName(button.text())
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addLayout(buttons)
        self.setMinimumWidth(380)
