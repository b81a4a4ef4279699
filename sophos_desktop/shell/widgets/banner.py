"""A message with buttons that takes its own space and can be closed.

Invariant: a banner that says nothing is not on the screen; its whole text is its accessible name.
"""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import BANNER_HEIGHT
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap

_TONE_COLOURS = {"danger": "danger", "warning": "warning", "notice": "accent", "resume": "plum"}


class Banner(QFrame):
    """Hidden until `show_message`; lives as long as its window."""

    closed = Signal()

    def __init__(
        self,
        name: str,
        tone: str,
        shape: Shape,
        theme: Theme,
        parent: QWidget,
        *,
        closable: bool,
        buttons_below: bool = False,
    ) -> None:
        """`name` is the object name; `tone` one of `danger`, `warning`, `notice`, `resume`."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("tone", tone)
        self._tone = tone
        self._shape = shape
        self._theme = theme
        self._icon = QLabel(self)
        self._title = self._label("title")
        self._text = self._label("text")
        self._code = self._label("code")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 8, 8, 8)
        self._row.setSpacing(8)
        words = QVBoxLayout()
        words.setSpacing(2)
        for label in (self._title, self._text, self._code):
            words.addWidget(label)
        self._row.addStrut(BANNER_HEIGHT - 16)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(words, 1)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        if buttons_below:
            self._buttons.addStretch(1)
            words.addSpacing(4)
            words.addLayout(self._buttons)
        else:
            self._row.addLayout(self._buttons)
        self._close: QToolButton | None = self._close_button() if closable else None
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    def _label(self, part: str) -> QLabel:
        label = QLabel(self)
        label.setProperty("part", part)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.hide()
        return label

    def _close_button(self) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(self.objectName() + "Close")
        button.setProperty("quiet", "true")
        button.setFixedSize(28, 28)
        button.setAccessibleName("Close this message")
        button.setToolTip("Close")
        button.clicked.connect(self._on_close_clicked)
        self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def add_button(self, name: str, text: str, *, primary: bool = False) -> QPushButton:
        """A button at the right, in the order of the calls."""
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        if primary:
            button.setProperty("primary", "true")
        self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return button

    def show_message(self, title: str, text: str = "", code: str = "") -> None:
        """Say something; empty parts take no space."""
        for label, words in ((self._title, title), (self._text, text), (self._code, code)):
            label.setText(words)
            label.setVisible(bool(words))
        self.setAccessibleName(". ".join(part for part in (title, text, code) if part))
        self.show()

    @property
    def title(self) -> str:
        """What the title says."""
        return self._title.text()

    @property
    def text(self) -> str:
        """What stands below the title."""
        return self._text.text()

    @property
    def code(self) -> str:
        """The error code, if any."""
        return self._code.text()

    def _on_close_clicked(self) -> None:
        self.hide()
        self.closed.emit()

    def _on_theme_changed(self) -> None:
        tokens = self._theme.tokens
        ratio = self.devicePixelRatioF()
        colour = getattr(tokens, _TONE_COLOURS[self._tone])
        self._icon.setPixmap(shape_pixmap(self._shape, 18, colour, ratio))
        if self._close is not None:
            self._close.setIcon(QIcon(shape_pixmap(Shape.CLOSE, 16, tokens.text_2, ratio)))
            self._close.setIconSize(QSize(16, 16))
