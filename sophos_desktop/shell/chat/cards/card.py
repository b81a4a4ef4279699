"""A question about one tool call as a card: a head that says which, a body that says what and offers answers.

Invariant: a card never takes the focus by itself; it answers once, keeps its place and height when it is
decided, and says then what was decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from sophos_desktop.core.domain.ports import DecisionKind
from sophos_desktop.shell.chat.cards.card_words import wants_to_run
from sophos_desktop.shell.chat.cards.careful_button import CarefulButton, Readiness
from sophos_desktop.shell.chat.cards.wrapping_row import WrappingRow
from sophos_desktop.shell.facade import PendingDecision
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.icons import Mark, icon, paint_mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.drawable_text import drawable_code

_HEAD = 36
_CHEVRON, _MARK = 14, 16
_BY_TAB = Qt.FocusPolicy.TabFocus
_DECIDED = {"deny": Mark.DENIED, "skip": Mark.SKIPPED, "run-again": Mark.AGAIN}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person chose. `args` only if they were changed; `always`: also for later calls."""

    kind: DecisionKind
    args: Mapping[str, Any] | None = None
    reason: str | None = None
    result: str | None = None
    always: bool = False
    words: str = ""


class MarkView(QWidget):
    """An icon in a token's colour; belongs to its part of the card."""

    def __init__(self, mark: Mark, colour: str, size: int, theme: Theme, parent: QWidget) -> None:
        """Paints with the theme in force, so that it needs to hear of no change."""
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


def set_property(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the style sheet asks for."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class Card(QFrame):
    """Lives as long as its question is on the screen."""

    answered = Signal(object)  # Answer

    def __init__(
        self,
        name: str,
        question: PendingDecision,
        state: tuple[Mark, str],
        readiness: Readiness,
        theme: Theme,
        parent: QWidget,
    ) -> None:
        """`state`: mark and word of the head."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("part", "card")
        self.question = question
        self.theme = theme
        self._readiness = readiness
        self._is_locked = False
        self._settled = ""
        self.setAccessibleName(wants_to_run(question.server, question.tool))
        self.setAccessibleDescription(question.reason)
        self.body = QWidget(self)
        self.lines = QVBoxLayout(self.body)
        self.lines.setContentsMargins(30, 10, 12, 12)
        self.lines.setSpacing(6)
        self._head = self._make_head(*state)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self.body)

    def _make_head(self, mark: Mark, word: str) -> QFrame:
        head = QFrame(self)
        head.setProperty("part", "cardHead")
        head.setFixedHeight(_HEAD)
        self._chevron = QToolButton(head)
        self._chevron.setObjectName(self.objectName() + "Fold")
        self._chevron.setProperty("quiet", "true")
        self._chevron.setFixedSize(20, 24)
        self._chevron.setIconSize(QSize(_CHEVRON, _CHEVRON))
        self._chevron.clicked.connect(self._on_fold)
        self._state_mark = MarkView(mark, "warning", _MARK, self.theme, head)
        self._state = self.label(word, "state", head)
        tool = self.label(drawable_code(self.question.tool), "tool", head)
        tool.setFont(role_font(TYPE.tool_name))
        row = QHBoxLayout(head)
        row.setContentsMargins(5, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self._chevron)
        row.addWidget(MarkView(Mark.TOOL, "text_2", _MARK, self.theme, head))
        row.addWidget(self.label(drawable_code(self.question.server), "server", head))
        row.addWidget(tool)
        row.addStretch(1)
        row.addWidget(self._state_mark)
        row.addSpacing(-4)
        row.addWidget(self._state)
        self._show_fold()
        return head

    def label(self, text: str, part: str, parent: QWidget | None = None) -> QLabel:
        """Plain words in a role of the card."""
        made = QLabel(text, parent or self.body)
        made.setProperty("part", part)
        made.setTextFormat(Qt.TextFormat.PlainText)
        made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        return made

    def button(self, name: str, text: str, description: str, *, primary: bool = False) -> CarefulButton:
        """A button that answers, or leads to an answer."""
        made = CarefulButton(name, text, self._readiness, self.body)
        made.say(text, description)
        if primary:
            made.setProperty("primary", "true")
        return made

    def row_of(self, *parts: QWidget) -> WrappingRow:
        """Buttons, the last part at the right."""
        holder = QWidget(self.body)
        row = WrappingRow(holder)
        for part in parts:
            row.addWidget(part)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        holder.setSizePolicy(policy)
        self.lines.addSpacing(2)
        self.lines.addWidget(holder)
        return row

    # Its state

    @property
    def tab_order(self) -> list[QWidget]:
        """What the Tab key goes through."""
        parts: list[QWidget] = [self._chevron]
        parts += [part for part in self.body.findChildren(QWidget) if part.focusPolicy() & _BY_TAB]
        return parts

    @property
    def is_open(self) -> bool:
        """True while nobody answered."""
        return not self._is_locked and not self._settled

    @property
    def settled(self) -> str:
        """What was decided, in words; empty before."""
        return self._settled

    @property
    def takes_keys(self) -> bool:
        """True once its buttons hear keys."""
        return all(button.takes_keys for button in self.findChildren(CarefulButton))

    def answer(self, answer: Answer) -> None:
        """Say what was chosen, once."""
        if self.is_open:
            self._is_locked = True
            self._readiness.note_press()
            self.body.setEnabled(False)
            self.answered.emit(answer)

    def unlock(self) -> None:
        """The answer was not taken: ask again."""
        self._is_locked = False
        self.body.setEnabled(True)

    def settle(self, answer: Answer) -> None:
        """It is decided."""
        words = self._settled = answer.words
        self.body.setEnabled(False)
        for part in (self, self._head, self._state):
            set_property(part, "settled", "true")
        self._state.setText(words)
        self._state_mark.show_mark(_DECIDED.get(answer.kind, Mark.DONE), "text_2")
        self.setAccessibleName(f"{self.question.server} · {self.question.tool}: {words}")

    def showEvent(self, event: QShowEvent) -> None:
        """From now on a person can see what is asked."""
        super().showEvent(event)
        self._appear()

    def arm(self) -> None:
        """What stands here now was not there when the person pressed."""
        self._readiness.note_press()
        self._appear()

    def _appear(self) -> None:
        for button in self.findChildren(CarefulButton):
            button.appear()

    def _on_fold(self) -> None:
        self.body.setVisible(self.body.isHidden())
        self._show_fold()

    def _show_fold(self) -> None:
        is_shut = self.body.isHidden()
        self._chevron.setIcon(icon(Mark.SHUT if is_shut else Mark.OPEN, self.theme))
        words = "Show this question" if is_shut else "Hide this question"
        self._chevron.setAccessibleName(words)
        self._chevron.setToolTip(words)
        if self._settled == "" and hasattr(self, "_head"):
            set_property(self._head, "shut", "true" if is_shut else "false")
