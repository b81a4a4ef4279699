"""The head of a tool call: which tool, with what, and where it stands. A button that opens and closes.

Invariant: its height never changes; what does not fit is elided, the short argument first, then the server's
name down to its share, the state never.
"""

from collections.abc import Sequence
from time import monotonic

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QStyle, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height
from sophos_desktop.shell.theme.icons import Mark, mark_size, paint_mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.facts import LOOKS, CallFacts, CallState, short_argument
from sophos_desktop.shell.transcript.cards.parts import SIDE, SPIN_FRAMES, spin_degrees
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code
from sophos_desktop.shell.widgets.plain_tip import plain_tip

_HEIGHT = 36
_CHEVRON, _MARK, _STATE = 14, 16, 14
_GAP = 8
_LEFT = 8
_STATE_GAP = 5
_FEWEST_PIXELS = 40  # of the argument
_SERVER_SHARE = 0.4  # of the room for both names, where they do not fit
_CHANGED = "Changed by you"


def head_height() -> int:
    """In pixels, at the interface's size."""
    return row_height(_HEIGHT)


def mark_left() -> int:
    """Where the mark of the tool begins, in pixels from the card's line."""
    return _LEFT + mark_size(_CHEVRON) + _GAP


def names_of(facts: CallFacts) -> str:
    """Server and tool as the head says them."""
    return f"{facts.server} {facts.tool}".strip()


class ToolHead(QAbstractButton):
    """Belongs to its card. A running call turns its mark and counts its time while it can be seen."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing yet."""
        super().__init__(parent)
        self.setObjectName("toolHead")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._fit()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._facts = CallFacts("", "", "")
        self._argument = ""
        self._is_open = False
        self._matches: Sequence[tuple[int, int]] = ()
        self._current_match = -1
        self._timer = QTimer(self)
        self._timer.setInterval(1000 // SPIN_FRAMES)
        self._timer.timeout.connect(self.update)
        theme.sizes_changed.connect(self._fit)

    def _fit(self) -> None:
        """Theme and size of type are others, perhaps."""
        self.setFixedHeight(head_height())
        self.update()

    def show_facts(self, facts: CallFacts, *, is_open: bool) -> None:
        """What it says, and whether the parts below are shown."""
        if facts.arguments != self._facts.arguments or not self._argument:
            self._argument = short_argument(facts.arguments)
        self._facts, self._is_open = facts, is_open
        look = LOOKS[facts.state]
        words = names_of(facts)
        duration = "" if facts.state is CallState.RUNNING else facts.duration_at(0.0)
        changed = _CHANGED if facts.is_edited else ""
        said = ", ".join(part for part in (words, self._argument, look.word, duration, changed) if part)
        self.setAccessibleName(said)
        self.setAccessibleDescription(
            "Hides arguments and result" if is_open else "Shows arguments and result"
        )
        self.setToolTip("")
        self._run_timer()
        self.update()

    @property
    def state_words(self) -> str:
        """Word and duration as they stand at the right."""
        look = LOOKS[self._facts.state]
        return f"{look.word} {self._behind_word(monotonic())}".strip()

    def _behind_word(self, now: float) -> str:
        changed = f"· {_CHANGED}" if self._facts.is_edited else ""
        return f"{self._facts.duration_at(now)} {changed}".strip()

    @property
    def names(self) -> str:
        """Server and tool."""
        return names_of(self._facts)

    def show_matches(self, matches: Sequence[tuple[int, int]], current: int) -> None:
        """Mark what was found: starts and ends in `names`; `current` is an index, or -1."""
        if (list(matches), current) != (list(self._matches), self._current_match):
            self._matches, self._current_match = matches, current
            self.update()

    @property
    def argument(self) -> str:
        """The short argument."""
        return self._argument

    def sizeHint(self) -> QSize:
        """As wide as the column."""
        return QSize(400, head_height())

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to turn."""
        super().showEvent(event)
        self._run_timer()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        super().hideEvent(event)
        self._timer.stop()

    def _run_timer(self) -> None:
        if self._facts.state is CallState.RUNNING and self.isVisible():
            if not self._timer.isActive():
                self._timer.start()
        else:
            self._timer.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens and closes as the space bar does; so do the arrows that say which."""
        is_arrow = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.click()
        elif is_arrow and (event.key() == Qt.Key.Key_Right) != self._is_open:
            self.click()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Say the whole when something is elided."""
        if event.type() == QEvent.Type.ToolTip:
            self.setToolTip(plain_tip(self._elided_words()))
        return super().event(event)

    def _elided_words(self) -> str:
        """What cannot be read as a whole: names, argument, both or nothing."""
        _, room = self._argument_place()
        wanted = QFontMetricsF(role_font(TYPE.code)).horizontalAdvance(self._argument)
        words = [self.names] if room < 0 else []
        return "\n".join([*words, self._argument] if wanted > room else words)

    def _names(self) -> tuple[tuple[str, QFont, str], ...]:
        facts = self._facts
        return (
            (drawable_code(facts.server), role_font(TYPE.interface), "text_2"),
            (drawable_code(facts.tool), role_font(TYPE.tool_name), "text"),
        )

    def _name_rooms(self, room: float) -> tuple[float, float]:
        """How many pixels of `room` server and tool may take: the tool's name says more, so the server's
        gives way first."""
        server, tool = (QFontMetricsF(font).horizontalAdvance(text) for text, font, _ in self._names())
        gap = _GAP if server else 0
        if server + gap + tool <= room:
            return room, room
        for_server = min(server + 1, max(room - gap - tool - 1, room * _SERVER_SHARE))
        return for_server, room - gap - for_server

    def _state_width(self) -> float:
        words = QFontMetricsF(role_font(TYPE.small)).horizontalAdvance(self.state_words)
        return mark_size(_STATE) + _STATE_GAP + words

    def _argument_place(self) -> tuple[float, float]:
        """Where the short argument starts, and how many pixels there are for it."""
        x = float(mark_left() + mark_size(_MARK) + _GAP)
        for text, font, _ in self._names():
            if text:
                x += QFontMetricsF(font).horizontalAdvance(text) + _GAP
        return x, self.width() - SIDE - self._state_width() - 2 * _GAP - x

    def paintEvent(self, _event: QPaintEvent) -> None:
        """All of it."""
        tokens = self._theme.tokens
        painter = QPainter(self)
        middle = self.height() / 2
        chevron = Mark.OPEN if self._is_open else Mark.SHUT
        paint_mark(painter, chevron, _box(_LEFT, middle, mark_size(_CHEVRON)), QColor(tokens.text_2))
        side = mark_size(_MARK)
        paint_mark(painter, Mark.TOOL, _box(mark_left(), middle, side), QColor(tokens.text_2))
        x = float(mark_left() + side + _GAP)
        state_left = self._paint_state(painter, middle)
        start = 0
        rooms = self._name_rooms(state_left - 2 * _GAP - x)
        for (text, font, colour), most in zip(self._names(), rooms, strict=True):
            if text:
                room = min(most, state_left - 2 * _GAP - x)
                self._paint_matches(painter, x, room, text, font, start)
                start += len(text) + 1
                x += self._paint_text(painter, x, room, text, font, getattr(tokens, colour)) + _GAP
        room = state_left - 2 * _GAP - x
        if self._argument and not self._is_open and room >= _FEWEST_PIXELS:
            self._paint_text(painter, x, room, self._argument, role_font(TYPE.code), tokens.text_3)
        painter.end()

    def _paint_matches(
        self, painter: QPainter, x: float, room: float, text: str, font: QFont, start: int
    ) -> None:
        """The grounds of what was found in a name that begins at `start` of all names."""
        metrics, tokens = QFontMetricsF(font), self._theme.tokens
        for number, (first, last) in enumerate(self._matches):
            left = metrics.horizontalAdvance(text[: max(0, first - start)])
            right = min(room, metrics.horizontalAdvance(text[: max(0, last - start)]))
            if left >= right:
                continue
            area = QRectF(x + left, (self.height() - metrics.height()) / 2, right - left, metrics.height())
            painter.fillRect(area, QColor(tokens.match))
            if number == self._current_match:
                painter.setPen(QColor(tokens.warning))
                painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_text(
        self, painter: QPainter, x: float, room: float, text: str, font: QFont, colour: str
    ) -> float:
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, room))
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(QPointF(x, _baseline(metrics, self.height())), shown)
        return metrics.horizontalAdvance(shown)

    def _paint_state(self, painter: QPainter, middle: float) -> float:
        """Mark, word and duration at the right; gives where they start."""
        tokens, look, now = self._theme.tokens, LOOKS[self._facts.state], monotonic()
        font = role_font(TYPE.small)
        metrics = QFontMetricsF(font)
        left = self.width() - SIDE - self._state_width()
        is_turning = self._facts.state is CallState.RUNNING and not self._stands_still()
        turned = spin_degrees(now) if is_turning else 0.0
        colour = QColor(getattr(tokens, look.colour))
        paint_mark(painter, look.mark, _box(left, middle, mark_size(_STATE)), colour, turned)
        word_left = left + mark_size(_STATE) + _STATE_GAP
        baseline = _baseline(metrics, self.height())
        painter.setFont(font)
        painter.setPen(colour)
        painter.drawText(QPointF(word_left, baseline), look.word)
        behind = self._behind_word(now)
        if behind:
            painter.setPen(QColor(tokens.text_3))
            after = word_left + metrics.horizontalAdvance(look.word + " ")
            painter.drawText(QPointF(after, baseline), behind)
        return left

    def _stands_still(self) -> bool:
        """The system asks for reduced motion."""
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return self.style().styleHint(hint, None, self) == 0


def _box(x: float, middle: float, size: int) -> QRectF:
    return QRectF(x, middle - size / 2, size, size)


def _baseline(metrics: QFontMetricsF, height: int) -> float:
    return round((height + metrics.ascent() - metrics.descent()) / 2)
