"""The line below an answer: which model, when, how much, how fast; and what can be done with the answer.

Invariant: its height is always kept. Its buttons are seen while the pointer or the keyboard is on the line,
and can always be reached by Tab.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height, wide
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.facts import MetaFacts
from sophos_desktop.shell.transcript.cards.meta_words import meta_facts
from sophos_desktop.shell.transcript.cards.parts import icon_button, on_click
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu

_HEIGHT = 24
COPY_MARKDOWN, COPY_TEXT, READ, CONTINUE = "copy-markdown", "copy-text", "read", "continue"
_MARK, _MARK_GAP = 14, 8
_DOT, _DOT_GAP = "·", 9
_LEAST_LONGEST = 120  # pixels that the longest part keeps beside the others


class MetaLine(QWidget):
    """The footer of an answer; may be thrown away and made again at any time."""

    acted = Signal(str)  # one of the names above

    def __init__(self, theme: Theme, parent: QWidget, now: Callable[[], datetime] | None = None) -> None:
        """Says nothing yet. `now` is aware; the machine's own time if it is not given."""
        super().__init__(parent)
        self.setObjectName("metaLine")
        self._now = now or _machine_time
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._facts = MetaFacts()
        self._is_entered = False
        self._is_open = False
        self.copy = icon_button("copyAnswer", Mark.COPY, "Copy as Markdown", theme, self)
        self.more = icon_button("answerMore", Mark.MORE, "More", theme, self)
        self.resume: QPushButton | None = None  # made where an answer was stopped
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._row.addStretch(1)
        for button in self._quiet_buttons:
            self._row.addWidget(button)
        on_click(self.copy, lambda: self.acted.emit(COPY_MARKDOWN))
        on_click(self.more, self._on_more)
        for button in self._quiet_buttons:
            button.installEventFilter(self)
        self._show_buttons()
        theme.sizes_changed.connect(self._on_sizes_changed)

    def _on_sizes_changed(self) -> None:
        self.updateGeometry()
        self.update()

    @property
    def _quiet_buttons(self) -> tuple[QToolButton, ...]:
        return self.copy, self.more

    @property
    def words(self) -> str:
        """All of the line."""
        return " · ".join(self._facts.parts)

    def show_message(self, message: TranscriptMessage) -> None:
        """The answer changed; its buttons wait until it is whole."""
        self._is_open = message.is_open
        is_stopped = message.state is MessageState.STOPPED and message.meta.can_continue
        self.show_facts(meta_facts(message, self._now()), is_stopped=is_stopped)

    def show_facts(self, facts: MetaFacts, *, is_stopped: bool = False) -> None:
        """What it says; a stopped answer can be continued."""
        self._facts = facts
        self.setAccessibleName(self.words)
        self._offer_to_go_on(does=is_stopped and not self._is_open)
        for button in self._quiet_buttons:
            button.setVisible(not is_stopped)
        self._show_buttons()
        self.updateGeometry()
        self.update()

    def _offer_to_go_on(self, *, does: bool) -> None:
        if self.resume is None and does:
            self.resume = QPushButton("Continue", self)
            self.resume.setObjectName("continueAnswer")
            self.resume.setAccessibleName("Continue the answer")
            self.resume.setProperty("row", "true")
            on_click(self.resume, lambda: self.acted.emit(CONTINUE))
            self._row.addWidget(self.resume)
        if self.resume is not None:
            self.resume.setVisible(does)

    def sizeHint(self) -> QSize:
        """24 high; a button with words needs 28."""
        if self.resume is None or self.resume.isHidden():
            return QSize(400, row_height(_HEIGHT, TYPE.small))
        return QSize(400, row_height(MEASURES.button_in_row))

    # The buttons are not hidden, since what is hidden cannot take the focus: they are drawn as nothing.

    @property
    def shows_buttons(self) -> bool:
        """Whether the buttons can be seen."""
        focus = QApplication.focusWidget()
        return not self._is_open and (self._is_entered or focus in self._quiet_buttons)

    def _show_buttons(self) -> None:
        for button in self._quiet_buttons:
            button.setEnabled(not self._is_open)
            button.setProperty("unseen", not self.shows_buttons)
            button.update()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """A button that is not to be seen is not painted."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._show_buttons()
        return event.type() == QEvent.Type.Paint and not self.shows_buttons

    def enterEvent(self, event: QEnterEvent) -> None:
        """The pointer is on the line."""
        super().enterEvent(event)
        self.set_hovered(is_hovered=True)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer is elsewhere."""
        super().leaveEvent(event)
        self.set_hovered(is_hovered=False)

    def set_hovered(self, *, is_hovered: bool) -> None:
        """The pointer is on the line, or on the answer above it."""
        self._is_entered = is_hovered
        self._show_buttons()

    def _on_more(self) -> None:
        menu = FloatingMenu("", self._theme, self)
        menu.setObjectName("answerMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries = [
            ("Copy as Markdown", COPY_MARKDOWN),
            ("Copy as Text", COPY_TEXT),
            ("Read with the Keyboard", READ),
        ]
        for words, name in entries:
            action = menu.addAction(words)
            action.triggered.connect(lambda _checked=False, name=name: self.acted.emit(name))
        menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The words, with dots between them."""
        painter = QPainter(self)
        tokens = self._theme.tokens
        font = role_font(TYPE.small)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text_3))
        x = 0.0
        if self._facts.mark is not None:
            side = mark_size(_MARK)
            box = QRectF(0, (self.height() - side) / 2, side, side)
            paint_mark(painter, self._facts.mark, box, QColor(getattr(tokens, self._facts.colour)))
            x = float(side + _MARK_GAP)
        baseline = round((self.height() + metrics.ascent() - metrics.descent()) / 2)
        buttons = (*self._quiet_buttons, *([] if self.resume is None else [self.resume]))
        right = min((button.x() for button in buttons if not button.isHidden()), default=self.width())
        for number, part in enumerate(fitting(self._facts, metrics, right - 8 - x)):
            if number:
                painter.drawText(QPointF(x + _DOT_GAP, baseline), _DOT)
                x += _between(metrics)
            painter.drawText(QPointF(x, baseline), part)
            x += metrics.horizontalAdvance(part)
        painter.end()


def fitting(facts: MetaFacts, metrics: QFontMetricsF, room: float) -> list[str]:
    """The parts of the line as they are shown in `room` pixels: the longest one gives way first, then the
    last ones go. No figure is cut."""
    parts, between = list(facts.parts), _between(metrics)
    widths = [metrics.horizontalAdvance(part) for part in parts]
    over = sum(widths) + between * (len(parts) - 1) - room
    if over > 0:
        at = widths.index(max(widths))
        left = min(max(widths[at] - over, wide(_LEAST_LONGEST)), room)
        # Two ends tell models apart; a sentence is read from its beginning.
        mode = Qt.TextElideMode.ElideMiddle if parts[at] == facts.model else Qt.TextElideMode.ElideRight
        parts[at] = metrics.elidedText(parts[at], mode, max(0.0, left))
        widths[at] = metrics.horizontalAdvance(parts[at])
    while len(parts) > 1 and sum(widths) + between * (len(parts) - 1) > room:
        del parts[-1], widths[-1]
    return parts


def _between(metrics: QFontMetricsF) -> float:
    """The width of what stands between two parts."""
    return metrics.horizontalAdvance(_DOT) + 2 * _DOT_GAP


def _machine_time() -> datetime:
    return datetime.now(UTC)
