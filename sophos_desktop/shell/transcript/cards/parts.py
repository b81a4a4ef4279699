"""The small parts that cards are made of.

Invariant: each paints with the theme in force, so that a change of theme needs nothing but a repaint.
"""

import html
from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QSizePolicy, QStyle, QToolButton, QWidget

from sophos_desktop.shell.theme.device_lines import line_width, place_on_device
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_line, row_height
from sophos_desktop.shell.theme.icons import Mark, icon, mark_size, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE, TypeRole

SIDE = 12  # between a card's line and what is in it
_BUTTON_ICON = 14
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
        width = line_width(self.devicePixelRatioF())
        painter.setPen(QPen(QColor(getattr(tokens, self._line)), width))
        painter.setBrush(QColor(getattr(tokens, self._ground)))
        radius, half = MEASURES.card_radius - width / 2, width / 2
        painter.drawRoundedRect(place_on_device(self).adjusted(half, half, -half, -half), radius, radius)
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
        area = place_on_device(self)
        area.setTop(area.bottom() - line_width(self.devicePixelRatioF()))
        painter.fillRect(area, QColor(self._theme.tokens.border))
        painter.end()


class MarkView(QWidget):
    """An icon in a token's colour, as large as the type beside it asks for."""

    def __init__(
        self,
        mark: Mark,
        colour: str,
        size: int,
        theme: Theme,
        parent: QWidget,
        *,
        beside: TypeRole | None = None,
    ) -> None:
        """`colour` is the name of a token, `size` pixels at 100 %. `beside`: it stands in the middle of a
        line of that role."""
        super().__init__(parent)
        self._mark, self._colour, self._size, self._theme = mark, colour, size, theme
        self._beside = beside
        self._fit()
        theme.sizes_changed.connect(self._fit)

    def _fit(self) -> None:
        side = mark_size(self._size)
        self.setFixedSize(side, side if self._beside is None else max(side, role_line(self._beside)))
        self.update()

    def show_mark(self, mark: Mark, colour: str) -> None:
        """Another icon."""
        self._mark, self._colour = mark, colour
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The icon, as wide as the widget."""
        painter = QPainter(self)
        colour = QColor(getattr(self._theme.tokens, self._colour))
        paint_mark(painter, self._mark, QRectF(self.rect()), colour)
        painter.end()


class LinedLabel(QLabel):
    """Plain words whose lines are as high as their role says: a QLabel sets them closer, unless HTML asks for
    more. Its text is always the plain one."""

    def __init__(self, text: str, role: TypeRole, theme: Theme, parent: QWidget) -> None:
        """The font is given by whoever makes it."""
        super().__init__(parent)
        self._plain, self._role, self._theme = text, role, theme
        self._set: tuple[str, int, int, bool] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._set_lines()
        theme.sizes_changed.connect(self._set_lines)

    def setText(self, text: str) -> None:
        """Show plain words."""
        if text != self._plain:
            self._plain = text
            self._set_lines()

    def text(self) -> str:
        """The plain words."""
        return self._plain

    def setWordWrap(self, on: bool) -> None:  # noqa: FBT001
        """Whether there can be several lines."""
        super().setWordWrap(on)
        self._set_lines()

    def _set_lines(self) -> None:
        line, wraps = role_line(self._role), self.wordWrap()
        # HTML sets letters at the foot of a line that is higher than they are; a plain line has them amid it.
        low = (max(0, line - QFontMetrics(role_font(self._role)).height()) + 1) // 2 if wraps else 0
        wanted = (self._plain, line, low, wraps)
        if wanted == self._set:
            return  # another colour; what is selected stays selected
        self._set = wanted
        self.setMinimumHeight(line)
        self.setContentsMargins(0, -low, 0, low)
        self.setTextFormat(Qt.TextFormat.RichText if wraps else Qt.TextFormat.PlainText)
        super().setText(in_lines(html.escape(self._plain), line) if wraps else self._plain)


def in_lines(text: str, line: int) -> str:
    """HTML whose lines are `line` pixels high."""
    return f"<div style='line-height: {line}px; white-space: pre-wrap'>{text}</div>"


class Words(LinedLabel):
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
        super().__init__(text, role, theme, parent)
        self._colour = colour
        self._selectable = selectable
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._take_font()
        self._take_colour()
        theme.sizes_changed.connect(self._take_font)
        theme.changed.connect(self._take_colour)

    def set_colour(self, colour: str) -> None:
        """Another token."""
        if colour != self._colour:
            self._colour = colour
            self._take_colour()

    def setWordWrap(self, on: bool) -> None:  # noqa: FBT001
        """Whether there can be several lines."""
        super().setWordWrap(on)
        self._take_colour()

    def _take_font(self) -> None:
        self.setFont(role_font(self._role))

    @property
    def _paints_itself(self) -> bool:
        return not self.wordWrap() and not self._selectable

    def _take_colour(self) -> None:
        """By palette where QLabel paints: a style sheet of its own would be polished apart at each change of
        theme, and a palette costs as much as the rest of the label."""
        if self._paints_itself:
            self.update()
            return
        made = QPalette()
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):  # which one, the parent decides
            made.setColor(role, QColor(getattr(self._theme.tokens, self._colour)))
        self.setPalette(made)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line that nobody can select is painted here."""
        if not self._paints_itself:
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(QColor(getattr(self._theme.tokens, self._colour)))
        alignment = QStyle.visualAlignment(self.layoutDirection(), self.alignment())
        painter.drawText(self.contentsRect(), alignment, self.text())
        painter.end()


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


class IconButton(QToolButton):
    """A quiet button that is an icon alone and grows with the interface."""

    def __init__(self, name: str, mark: Mark, words: str, theme: Theme, parent: QWidget) -> None:
        """`words` are its name and tooltip."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("quiet", "true")
        self.setIcon(icon(mark, theme))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(words)
        self.setToolTip(words)
        self._fit()
        theme.sizes_changed.connect(self._fit)

    def _fit(self) -> None:
        icon_side, side = mark_size(_BUTTON_ICON), row_height(MEASURES.icon_button_in_bar, TYPE.small)
        self.setIconSize(QSize(icon_side, icon_side))
        self.setFixedSize(side, side)


def icon_button(name: str, mark: Mark, words: str, theme: Theme, parent: QWidget) -> QToolButton:
    """An IconButton."""
    return IconButton(name, mark, words, theme, parent)


def on_click(button: QAbstractButton, act: Callable[[], None]) -> None:
    """Do `act` on a click, whatever Qt tells about it."""
    button.clicked.connect(lambda _checked=False: act())


def spin_degrees(now: float) -> float:
    """How far the spinner is turned at the moment `now`, in seconds: twelve steps a turn."""
    step = int(now * SPIN_FRAMES * _SPINS_PER_SECOND) % SPIN_FRAMES
    return step * 360.0 / SPIN_FRAMES
