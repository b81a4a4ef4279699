"""The small parts that cards are made of.

Invariant: each paints with the theme in force, so that a change of theme needs nothing but a repaint.
"""

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QSizePolicy, QToolButton, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height
from sophos_desktop.shell.theme.icons import Mark, icon, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE, TypeRole

SIDE = 12  # between a card's line and what is in it
_SPINS_PER_SECOND = 1.0
SPIN_FRAMES = 12


class Rounded(QFrame):
    """A frame of one flat colour with a line and round corners; `ground` and `line` are names of tokens."""

    def __init__(self, name: str, ground: str, line: str, theme: Theme, parent: QWidget) -> None:
        """`name` is the object name."""
        super().__init__(parent)
        self.setObjectName(name)
        self.theme = theme
        self._ground, self._line = ground, line
        theme.changed.connect(self.update)

    def set_line(self, line: str) -> None:
        """Another colour of the line."""
        if line != self._line:
            self._line = line
            self.update()

    @property
    def line(self) -> str:
        """The token of the line."""
        return self._line

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Ground and line."""
        tokens = self.theme.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(getattr(tokens, self._line)), 1))
        painter.setBrush(QColor(getattr(tokens, self._ground)))
        radius = MEASURES.card_radius - 0.5
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.end()


class Line(QWidget):
    """One pixel between two rows."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """In the colour between regions."""
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The line."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.tokens.border))
        painter.end()


class MarkView(QWidget):
    """An icon in a token's colour."""

    def __init__(self, mark: Mark, colour: str, size: int, theme: Theme, parent: QWidget) -> None:
        """`colour` is the name of a token."""
        super().__init__(parent)
        self._mark, self._colour, self._theme = mark, colour, theme
        self.setFixedSize(size, size)

    def show_mark(self, mark: Mark, colour: str) -> None:
        """Another icon."""
        self._mark, self._colour = mark, colour
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The icon, as large as the widget."""
        painter = QPainter(self)
        colour = QColor(getattr(self._theme.tokens, self._colour))
        paint_mark(painter, self._mark, QRectF(self.rect()), colour)
        painter.end()


class Words(QLabel):
    """Plain words in a role and a token's colour; they can be selected by mouse if `selectable`."""

    def __init__(
        self,
        text: str,
        role: TypeRole,
        colour: str,
        theme: Theme,
        parent: QWidget,
        *,
        selectable: bool = False,
    ) -> None:
        """`colour` is the name of a token."""
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._role, self._colour, self._theme = role, colour, theme
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._style()
        theme.changed.connect(self._style)

    def set_colour(self, colour: str) -> None:
        """Another token."""
        if colour != self._colour:
            self._colour = colour
            self._style()

    def _style(self) -> None:
        """By palette and font: a style sheet of its own would be polished apart at each change of theme."""
        self.setFont(role_font(self._role))
        made = QPalette()
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):  # which one, the parent decides
            made.setColor(role, QColor(getattr(self._theme.tokens, self._colour)))
        self.setPalette(made)


class LinkButton(QAbstractButton):
    """Words that do something, underlined as links are."""

    def __init__(self, name: str, text: str, theme: Theme, parent: QWidget) -> None:
        """`name` is the object name."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setText(text)
        self.setAccessibleName(text)
        self.setFont(role_font(TYPE.small))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._theme = theme
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """As wide as its words."""
        width = QFontMetrics(role_font(TYPE.small)).horizontalAdvance(self.text()) + 1
        return QSize(width, row_height(MEASURES.icon_button_in_bar, TYPE.small))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The words."""
        painter = QPainter(self)
        tokens = self._theme.tokens
        font = role_font(TYPE.small)
        font.setUnderline(True)
        painter.setFont(font)
        painter.setPen(QColor(tokens.accent if self.isEnabled() else tokens.disabled))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()


def icon_button(name: str, mark: Mark, words: str, theme: Theme, parent: QWidget) -> QToolButton:
    """A quiet button that is an icon alone; `words` are its name and tooltip."""
    made = QToolButton(parent)
    made.setObjectName(name)
    made.setProperty("quiet", "true")
    made.setIcon(icon(mark, theme))
    made.setIconSize(QSize(14, 14))
    made.setFixedSize(MEASURES.icon_button_in_bar, MEASURES.icon_button_in_bar)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    made.setAccessibleName(words)
    made.setToolTip(words)
    return made


def on_click(button: QAbstractButton, act: Callable[[], None]) -> None:
    """Do `act` on a click, whatever Qt tells about it."""
    button.clicked.connect(lambda _checked=False: act())


def spin_degrees(now: float) -> float:
    """How far the spinner is turned at the moment `now`, in seconds: twelve steps a turn."""
    step = int(now * SPIN_FRAMES * _SPINS_PER_SECOND) % SPIN_FRAMES
    return step * 360.0 / SPIN_FRAMES
