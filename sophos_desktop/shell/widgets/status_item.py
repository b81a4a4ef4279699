"""One segment of the status bar: a shape, words, and a tooltip with the reason."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap


class StatusItem(QWidget):
    """Lives as long as its status bar."""

    def __init__(self, name: str, label: str, theme: Theme, parent: QWidget) -> None:
        """`name` is the object name; `label` what it tells about, for screen readers."""
        super().__init__(parent)
        self.setObjectName(name)
        self._label = label
        self._theme = theme
        self._shape: Shape | None = None
        self._colour = "text_2"
        self._icon = QLabel(self)
        self._words = QLabel(self)
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 10, 0)
        row.setSpacing(6)
        row.addWidget(self._icon)
        row.addWidget(self._words)
        theme.changed.connect(self._paint_icon)

    @property
    def text(self) -> str:
        """What it says."""
        return self._words.text()

    def say(self, text: str, reason: str, shape: Shape | None = None, colour: str = "text_2") -> None:
        """Show `text`, with `reason` as the tooltip; `colour` is the name of a token."""
        self._words.setText(text)
        self.setToolTip(reason)
        self.setAccessibleName(f"{self._label}: {text}")
        self.setAccessibleDescription(reason)
        self._shape = shape
        self._colour = colour
        self._paint_icon()

    def _paint_icon(self) -> None:
        self._icon.setVisible(self._shape is not None)
        if self._shape is not None:
            colour = getattr(self._theme.tokens, self._colour)
            self._icon.setPixmap(shape_pixmap(self._shape, 12, colour, self.devicePixelRatioF()))
