"""The pill that leads back to the end of a conversation.

Invariant: it is a child of the viewport and never scrolled: who scrolls the viewport puts it back. Its shadow
lets clicks through.
"""

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.transcript.drawing.looks import Looks

WORDS = "Jump to latest"
ABOVE_EDGE = 12
_MARGIN = 16
_SHADOW_STEPS = 8


class JumpPill(QAbstractButton):
    """Lives as long as its view."""

    def __init__(self, viewport: QWidget, looks: Looks) -> None:
        """Hidden."""
        super().__init__(viewport)
        self.setObjectName("jumpToLatest")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._viewport = viewport
        self._looks = looks
        self._lines = 0
        self._is_wanted = self._gives_way = False
        self.setText(WORDS)
        self.setAccessibleName(WORDS)
        self.hide()

    def set_looks(self, looks: Looks) -> None:
        """Another theme."""
        self._looks = looks
        self.place()
        self.update()

    def want(self, *, is_wanted: bool) -> None:
        """The end is out of the view, or in it."""
        self._is_wanted = is_wanted
        self._appear()

    def give_way(self, *, does: bool) -> None:
        """Something more important stands where it would be, or no longer does."""
        if does != self._gives_way:
            self._gives_way = does
            self._appear()

    def _appear(self) -> None:
        self.setVisible(self._is_wanted and not self._gives_way)
        self.raise_()

    @property
    def is_wanted(self) -> bool:
        """It is there, or would be."""
        return self._is_wanted

    @property
    def body(self) -> QRect:
        """The pill without its shadow, in the viewport."""
        return self._body().toAlignedRect().translated(self.pos())

    def show_lines(self, lines: int) -> None:
        """How many lines are new."""
        self._lines = lines
        name = f"{WORDS}, {self._news}" if lines else WORDS
        if self.accessibleName() != name:
            self.setAccessibleName(name)
            self.place()
            self.update()

    @property
    def _news(self) -> str:
        return f"{self._lines:,} new line" + ("" if self._lines == 1 else "s") if self._lines else ""

    def sizeHint(self) -> QSize:
        """With its shadow."""
        looks = self._looks
        words = QFontMetricsF(looks.font(looks.tokens.type.name)).horizontalAdvance(WORDS)
        news = QFontMetricsF(looks.font(looks.tokens.type.interface)).horizontalAdvance(self._news)
        width = looks.scaled(14 + 14 + 6 + 14) + words + (looks.scaled(8) + news if news else 0)
        return QSize(round(width) + 2 * _MARGIN, looks.scaled(32) + 2 * _MARGIN)

    def place(self) -> None:
        """Go to the middle, above the lower edge."""
        size, parent = self.sizeHint(), self._viewport
        x = (parent.width() - size.width()) // 2
        y = parent.height() - ABOVE_EDGE + _MARGIN - size.height()
        if self.size() != size:
            self.resize(size)
        if self.pos() != QPoint(x, y):
            self.move(x, y)

    def hitButton(self, pos: QPoint) -> bool:
        """The pill, not its shadow."""
        return self._body().contains(pos)

    def _body(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Shadow, ground, arrow, words, what is new."""
        looks, body = self._looks, self._body()
        radius = body.height() / 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        shade = looks.colour("shadow")
        shade.setAlphaF(shade.alphaF() / _SHADOW_STEPS)
        painter.setBrush(shade)
        for step in range(_SHADOW_STEPS):
            spread = 12 * (step + 1) / _SHADOW_STEPS - 2
            area = body.translated(0, 4).adjusted(-spread, -spread, spread, spread)
            painter.drawRoundedRect(area, area.height() / 2, area.height() / 2)
        is_down, is_hovered = self.isDown(), self.underMouse()
        ground = "pressed" if is_down else "hover" if is_hovered else "raised"
        painter.setPen(QPen(looks.colour("border_strong"), 1))
        painter.setBrush(looks.colour(ground))
        painter.drawRoundedRect(body.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        self._words(painter, body)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(looks.colour("accent")), 2))
            painter.drawRoundedRect(body.adjusted(-3, -3, 3, 3), radius + 3, radius + 3)
        painter.end()

    def _words(self, painter: QPainter, body: QRectF) -> None:
        looks = self._looks
        side = looks.scaled(14)
        x = body.left() + looks.scaled(14)
        paint_mark(
            painter, Mark.LATEST, QRectF(x, body.center().y() - side / 2, side, side), looks.colour("text")
        )
        x += side + looks.scaled(6)
        for text, role, colour in (
            (WORDS, looks.tokens.type.name, "text"),
            (self._news, looks.tokens.type.interface, "text_2"),
        ):
            font = looks.font(role)
            painter.setFont(font)
            painter.setPen(looks.colour(colour))
            width = QFontMetricsF(font).horizontalAdvance(text)
            area = QRectF(x, body.top(), width + 2, body.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
            x += width + looks.scaled(8)
