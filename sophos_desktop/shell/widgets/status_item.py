"""One segment of the status bar: a mark, words, and a tooltip with the reason."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.icons import mark_size
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.widgets.plain_tip import plain_tip
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap

_MARK = 14
_DOT = 8
_DOTS = (Shape.UP, Shape.DOWN)


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
        self._full = ""
        self._short = ""
        self._is_short = False
        self._is_wanted = self._has_room = True
        self._icon = QLabel(self)
        self._words = QLabel(self)
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setFont(role_font(TYPE.small))
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(MEASURES.status_padding, 0, MEASURES.status_padding, 0)
        self.row.setSpacing(6)
        self.row.addWidget(self._icon)
        self.row.addWidget(self._words)
        theme.changed.connect(self._paint_icon)
        theme.sizes_changed.connect(self._take_font)

    @property
    def is_short(self) -> bool:
        """True while it says less."""
        return self._is_short

    @property
    def text(self) -> str:
        """What it says where there is room."""
        return self._full

    def say(
        self,
        text: str,
        reason: str,
        shape: Shape | None = None,
        colour: str = "text_2",
        *,
        short: str | None = None,
        tone: str = "",
    ) -> None:
        """Show `text`, with `reason` as the tooltip; `colour` is the name of a token.

        `short` stands in a narrow window; `tone` is `warning` or `danger` where the words take the colour."""
        self._full = text
        self._short = text if short is None else short
        self._words.setProperty("tone", tone)
        self._words.style().polish(self._words)
        self.setToolTip(plain_tip(reason))
        self.setAccessibleName(f"{self._label}: {text}")
        self.setAccessibleDescription(reason)
        self._shape = shape
        self._colour = colour
        self._write()
        self._paint_icon()

    def set_short(self, *, is_short: bool) -> None:
        """Say less in a narrow window, or everything again."""
        if is_short != self._is_short:
            self._is_short = is_short
            self._write()

    def width_of(self, *, is_short: bool) -> int:
        """How wide it would be with these words, in pixels; 0 if it is hidden."""
        if not self._is_wanted:
            return 0
        advance = self._words.fontMetrics().horizontalAdvance
        wanted = advance(self._short if is_short else self._full)
        return self.sizeHint().width() - advance(self._words.text()) + wanted

    @property
    def is_wanted(self) -> bool:
        """It has something to say."""
        return self._is_wanted

    @property
    def has_room(self) -> bool:
        """The bar has room for it."""
        return self._has_room

    def setVisible(self, visible: bool) -> None:  # noqa: FBT001 (Qt's own signature)
        """Shown where there is room for it, else once there is."""
        self._is_wanted = visible
        super().setVisible(visible and self._has_room)

    def give_room(self, *, has_room: bool) -> None:
        """Whether the bar has room for it at all."""
        if has_room != self._has_room:
            self._has_room = has_room
            super().setVisible(self._is_wanted and has_room)

    def _take_font(self) -> None:
        self._words.setFont(role_font(TYPE.small))

    def _write(self) -> None:
        self._words.setText(self._short if self._is_short else self._full)

    def _paint_icon(self) -> None:
        self._icon.setVisible(self._shape is not None)
        if self._shape is not None:
            colour = getattr(self._theme.tokens, self._colour)
            dot = mark_size(_DOT)
            size = dot * 12 // 8 if self._shape in _DOTS else mark_size(_MARK)
            pixmap = shape_pixmap(self._shape, size, colour, self.devicePixelRatioF())
            if self._shape in _DOTS:
                spare = round((size - dot) / 2 * pixmap.devicePixelRatioF())
                pixmap = pixmap.copy(pixmap.rect().adjusted(spare, spare, -spare, -spare))
            self._icon.setPixmap(pixmap)


class ContextMeter(StatusItem):
    """How full the model's context is; hidden until it is told."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing yet."""
        super().__init__("contextMeter", "Context", theme, parent)
        self._bar = _Bar(theme, self)
        self.row.insertWidget(0, self._bar)
        self.hide()

    def show_use(self, used_tokens: int, size_tokens: int) -> None:
        """`used_tokens` of `size_tokens` were read and written by the last call of the model."""
        part = min(1.0, used_tokens / size_tokens) if size_tokens else 0.0
        percent = f"{part:.0%}".replace("%", " %")
        words = f"{_thousands(used_tokens)} of {_thousands(size_tokens)}"
        reason = f"The last call filled {used_tokens:,} of the {size_tokens:,} tokens of the model's context."
        if part >= _Bar.WARNS_FROM:
            reason += " What does not fit is left out of the prompt, the oldest first; nothing is lost here."
        self._bar.set_part(part)
        if part >= 1.0:
            self.say("full", reason, Shape.FAILED, "danger", tone="danger")
        elif part >= _Bar.WARNS_FROM:
            self.say(words, reason, Shape.WARNING, "warning", short=percent)
        else:
            self.say(words, reason, short=percent)
        is_full = "full, " if part >= 1.0 else ""
        self.setAccessibleName(f"Context: {is_full}{words} tokens")
        self.setVisible(True)

    def show_nothing(self) -> None:
        """It is not known how full the context is."""
        self.hide()


class _Bar(QWidget):
    """The meter itself."""

    WARNS_FROM = 0.8

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._part = 0.0
        theme.sizes_changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedSize(mark_size(MEASURES.meter_width), mark_size(MEASURES.meter))
        self.update()

    def set_part(self, part: float) -> None:
        """From 0 to 1."""
        self._part = part
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A track and what of it is used."""
        tokens = self._theme.tokens
        colour = tokens.accent
        if self._part >= self.WARNS_FROM:
            colour = tokens.danger if self._part >= 1.0 else tokens.warning
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self.height() / 2
        painter.setBrush(QColor(tokens.pressed))
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        used = QRectF(0, 0, max(self._part * self.width(), 2.0 if self._part else 0.0), self.height())
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(used, min(radius, used.width() / 2), radius)
        painter.end()


class SegmentLine(QFrame):
    """The line between two segments."""

    def __init__(self, parent: QWidget) -> None:
        """As high as the words."""
        super().__init__(parent)
        self.setFixedWidth(1)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)


def _thousands(tokens: int) -> str:
    """`980`, `3.1k`, `16k`: sizes of contexts are powers of two, and 16,384 is called 16k."""
    if tokens < 1000:
        return str(tokens)
    if tokens % 1024 == 0:
        return f"{tokens // 1024}k"
    return f"{tokens / 1000:.1f}k"
