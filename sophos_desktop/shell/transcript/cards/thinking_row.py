"""What the model thought, as one small line that opens.

Invariant: closed until the reader opens it, also while the thinking goes on; its text is plain.
"""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.card_states import CardStates
from sophos_desktop.shell.transcript.cards.facts import duration_words
from sophos_desktop.shell.transcript.cards.parts import on_click
from sophos_desktop.shell.transcript.cards.prose_lines import ProseLines
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage

_HEIGHT = 24
_CHEVRON_LEFT, _CHEVRON, _BULB, _GAP = 9, 14, 16, 8
_RULE, _INDENT = 2, 20
_ABOVE = 4


@dataclass(frozen=True, slots=True)
class ThinkingFacts:
    """The payload of a message that is a thinking row."""

    key: str
    text: str
    duration_ms: int | None = None
    is_running: bool = False

    @property
    def words(self) -> str:
        """`Thought for 2.6 s`."""
        if self.is_running:
            return "Thinking…"
        return "Thought" if self.duration_ms is None else f"Thought for {duration_words(self.duration_ms)}"


def _head_height() -> int:
    return row_height(_HEIGHT)


def _bulb_left() -> int:
    return _CHEVRON_LEFT + mark_size(_CHEVRON) + _GAP


def _text_left() -> int:
    return _bulb_left() + mark_size(_BULB) + _GAP


def _rule_left() -> int:
    """The rule stands at the chevron's axis."""
    return _CHEVRON_LEFT + (mark_size(_CHEVRON) - _RULE) // 2


class _Head(QAbstractButton):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("thinkingHead")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._fit()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self.is_open = False
        theme.sizes_changed.connect(self._fit)

    def _fit(self) -> None:
        self.setFixedHeight(_head_height())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = QFontMetricsF(role_font(TYPE.interface)).horizontalAdvance(self.text())
        return QSize(_text_left() + round(width) + 8, _head_height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_arrow = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.click()
        elif is_arrow and (event.key() == Qt.Key.Key_Right) != self.is_open:
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = self._theme.tokens
        painter = QPainter(self)
        colour = QColor(tokens.text_2)
        middle = self.height() / 2
        side = mark_size(_CHEVRON)
        chevron = QRectF(_CHEVRON_LEFT, middle - side / 2, side, side)
        paint_mark(painter, Mark.OPEN if self.is_open else Mark.SHUT, chevron, colour)
        side = mark_size(_BULB)
        paint_mark(painter, Mark.THINKING, QRectF(_bulb_left(), middle - side / 2, side, side), colour)
        metrics = QFontMetricsF(role_font(TYPE.interface))
        painter.setFont(role_font(TYPE.interface))
        painter.setPen(colour)
        baseline = round((self.height() + metrics.ascent() - metrics.descent()) / 2)
        painter.drawText(QPointF(_text_left(), baseline), self.text())
        painter.end()


class ThinkingRow(QWidget):
    """A card of the transcript; may be thrown away and made again at any time."""

    def __init__(self, states: CardStates, theme: Theme, parent: QWidget) -> None:
        """Says nothing yet."""
        super().__init__(parent)
        self.setObjectName("thinkingRow")
        self._states, self._theme = states, theme
        self._facts = ThinkingFacts("", "")
        self.head = _Head(theme, self)
        self.text = ProseLines("thinkingText", theme, self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.head, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addSpacing(_ABOVE)
        self._column.addWidget(self.text)
        self._fit()
        on_click(self.head, self._on_click)
        theme.sizes_changed.connect(self._fit)

    def _fit(self) -> None:
        self.text.setContentsMargins(_rule_left() + _RULE + _INDENT, 0, 0, 0)

    @property
    def is_open(self) -> bool:
        """Whether the text is shown."""
        return self._states.is_open(self._facts.key)

    def show_message(self, message: TranscriptMessage) -> None:
        """The thinking changed."""
        if isinstance(message.payload, ThinkingFacts):
            self._facts = message.payload
            self._show()

    def open(self) -> None:
        """Show the text, for what was found in it."""
        if not self.is_open:
            self._on_click()

    def hasHeightForWidth(self) -> bool:
        """Text is broken at the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Of the head, and of the text if it is open."""
        head = _head_height()
        return head if not self.is_open else head + _ABOVE + self.text.heightForWidth(width)

    def sizeHint(self) -> QSize:
        """At the present width."""
        return QSize(400, self.heightForWidth(max(200, self.width())))

    def _on_click(self) -> None:
        self._states.set_open(self._facts.key, is_open=not self.is_open)
        self._show()

    def _show(self) -> None:
        self.head.setText(self._facts.words)
        self.head.is_open = self.is_open
        self.head.setAccessibleName(self._facts.words)
        self.head.setAccessibleDescription("Hides the thinking" if self.is_open else "Shows the thinking")
        self.head.updateGeometry()
        self.head.update()
        if self.is_open:
            self.text.show_text(self._facts.text)
        self.text.setVisible(self.is_open)
        self.setAccessibleName(self._facts.words)
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The rule beside the text."""
        if not self.is_open:
            return
        painter = QPainter(self)
        top = _head_height() + _ABOVE
        colour = QColor(self._theme.tokens.border_strong)
        painter.fillRect(QRectF(_rule_left(), top, _RULE, self.height() - top), colour)
        painter.end()
