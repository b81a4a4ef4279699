"""The figures of a run above its steps: a small label, and the value below it.

Invariant: a figure paints both by itself, so that it costs a change of theme one plain label.
"""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from sophos_desktop.core.domain.projection import Figures
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_line
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.trace import words

_COLUMNS = 3
_GAP = 8
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Figure(QLabel):
    """One of them; its text is the value."""

    def __init__(self, label: str, theme: Theme, parent: QWidget) -> None:
        """Without a value."""
        super().__init__(parent)
        self.setObjectName("traceFigure")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._label, self._theme = label, theme
        theme.changed.connect(self.updateGeometry)

    def show_value(self, value: str) -> None:
        """Show another."""
        self.setText(value)
        self.setAccessibleName(f"{self._label}: {value}")

    def sizeHint(self) -> QSize:
        """Two lines, as wide as the longer one."""
        label = QFontMetrics(role_font(TYPE.figure_label)).horizontalAdvance(self._label)
        value = QFontMetrics(role_font(TYPE.name)).horizontalAdvance(self.text())
        return QSize(max(label, value) + 1, role_line(TYPE.figure_label) + role_line(TYPE.name))

    def minimumSizeHint(self) -> QSize:
        """All of it."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The label, and the value below it."""
        painter = QPainter(self)
        tokens, height = self._theme.tokens, role_line(TYPE.figure_label)
        painter.setFont(role_font(TYPE.figure_label))
        painter.setPen(QColor(tokens.text_3))
        painter.drawText(0, 0, self.width(), height, _LEFT, self._label)
        painter.setFont(role_font(TYPE.name))
        painter.setPen(QColor(tokens.text))
        painter.drawText(0, height, self.width(), role_line(TYPE.name), _LEFT, self.text())
        painter.end()


class FiguresPanel(QWidget):
    """Lives as long as its dock."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Without values."""
        super().__init__(parent)
        self.setObjectName("traceFigures")
        self._figures: dict[str, Figure] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 4, 16, 12)
        grid.setHorizontalSpacing(_GAP)
        grid.setVerticalSpacing(_GAP)
        for place, (label, _) in enumerate(words.figure_words(Figures())):
            figure = self._figures[label] = Figure(label, theme, self)
            line, column = divmod(place, _COLUMNS)
            grid.addWidget(figure, line, column)
            grid.setColumnStretch(column, 1)

    def show_figures(self, figures: Figures, step_limit: int | None) -> None:
        """Show these; `step_limit` of a run that goes on."""
        for label, value in words.figure_words(figures, step_limit):
            self._figures[label].show_value(value)
