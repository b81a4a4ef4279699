"""A question about one tool call as a card: a head that says which, a body that says what and offers answers.

Invariant: a card never takes the focus by itself, and it answers once. What was typed into it is in its
fields; who takes the card away while its question is open keeps that as `typed`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QSpacerItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.core.domain.ports import DecisionKind
from sophos_desktop.shell.chat.cards.card_words import wants_to_run
from sophos_desktop.shell.chat.cards.careful_button import CarefulButton, Readiness
from sophos_desktop.shell.chat.cards.fields import GrowingField
from sophos_desktop.shell.chat.cards.head_name import HeadName
from sophos_desktop.shell.facade import PendingDecision
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height
from sophos_desktop.shell.theme.icons import Mark, icon, mark_size
from sophos_desktop.shell.theme.type_scale import TYPE, TypeRole
from sophos_desktop.shell.transcript.cards.parts import LinedLabel, MarkView
from sophos_desktop.shell.transcript.cards.tool_head import mark_left
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code
from sophos_desktop.shell.widgets.wrapping_row import WrappingRow

__all__ = ["Answer", "Card", "MarkView", "Typed", "set_property"]

_HEAD = 36
_CHEVRON, _MARK, _STATE = 14, 16, 14
_HEAD_GAP, _HEAD_LEFT, _STATE_GAP = 8, 5, 3
_BY_TAB = Qt.FocusPolicy.TabFocus
_LINE = 1
_TOP, _RIGHT, _BOTTOM = 10, 12, 12
_LINE_GAP = 4
_OVER_BUTTONS = 12
_ROLES = {
    "question": TYPE.title,
    "tool": TYPE.tool_name,
    "state": TYPE.small,
    "small": TYPE.small,
    "problem": TYPE.small,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person chose. `args` only if they were changed; `always`: also for later calls."""

    kind: DecisionKind
    args: Mapping[str, Any] | None = None
    reason: str | None = None
    result: str | None = None
    always: bool = False


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person put into a card and did not send: changed arguments (None: as they were), other words,
    and whether the page for these is open."""

    arguments: str | None = None
    words: str = ""
    is_page_open: bool = False


def set_property(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the style sheet asks for."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class Card(QFrame):
    """Lives as long as its question is open."""

    answered = Signal(object)  # Answer
    reshaping = Signal()  # it is about to have another height by what the person did
    reveal_wanted = Signal(object)  # the part of it that a key was meant for, out of the view

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
        self.question = question
        self.theme = theme
        self.fields: list[GrowingField] = []
        self._readiness = readiness
        self._is_locked = self._is_in_view = False
        self._focus_before: QWidget | None = None
        self._before_press: tuple[float | None, int] = (None, 0)  # when, and where it stood then
        self.setAccessibleName(wants_to_run(question.server, question.tool))
        self.setAccessibleDescription(question.reason)
        self.body = QWidget(self)
        self.lines = QVBoxLayout(self.body)
        self.lines.setSpacing(_LINE_GAP)
        self.over_buttons = QSpacerItem(0, _OVER_BUTTONS - _LINE_GAP)
        self._head = self._make_head(*state)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)  # the line of the style sheet is around it
        self._column.setSpacing(0)
        self._column.addWidget(self._head)
        self._column.addWidget(self.body)
        self._show_fold()
        theme.sizes_changed.connect(self._on_sizes_changed)
        self._on_sizes_changed()

    @property
    def typed(self) -> Typed:
        """What the person put into it so far."""
        return Typed()

    def put_back(self, typed: Typed) -> None:
        """What was put into a card of the same question before."""

    def say_place(self, place: str) -> None:
        """Which of how many it is, in words."""

    def give_mnemonics(self, *, are_given: bool, decide_from_outside: bool) -> None:
        """Whether its buttons have them, and whether one decides while the keyboard is elsewhere."""
        for button in self.findChildren(CarefulButton):
            button.give_mnemonic(is_given=are_given, decides_from_outside=decide_from_outside)

    def show_message(self, _message: TranscriptMessage) -> None:
        """Its question says all that it shows."""

    def hasHeightForWidth(self) -> bool:
        """Words are broken at the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Of what is shown of it."""
        before = [field.minimumHeight() for field in self.fields]
        for field in self.fields:
            field.lay_out_for(width - 2 * _LINE - mark_left() - _RIGHT)
        if before != [field.minimumHeight() for field in self.fields]:
            self._column.invalidate()  # which has the view measure again: never without a reason
        if self._column.hasHeightForWidth():
            return self._column.totalHeightForWidth(width)
        return self._column.totalSizeHint().height()

    def _make_head(self, mark: Mark, word: str) -> QFrame:
        head = QFrame(self)
        head.setObjectName("cardHead")
        head.setFixedHeight(row_height(_HEAD))
        self._chevron = QToolButton(head)
        self._chevron.setObjectName(self.objectName() + "Fold")
        self._chevron.setProperty("quiet", "true")
        self._chevron.clicked.connect(self._on_fold)
        server, tool = (
            HeadName(drawable_code(name), part, _ROLES.get(part, TYPE.interface), self.theme, head)
            for name, part in ((self.question.server, "server"), (self.question.tool, "tool"))
        )
        tool.setFont(role_font(TYPE.tool_name))
        row = QHBoxLayout(head)
        row.setContentsMargins(_HEAD_LEFT, 2 * _LINE, _RIGHT, 0)  # the line below is no part of the middle
        row.setSpacing(_HEAD_GAP)
        row.addWidget(self._chevron)
        row.addSpacing(_HEAD_LEFT - _HEAD_GAP)  # the button is wider than its icon
        row.addWidget(MarkView(Mark.TOOL, "text_2", _MARK, self.theme, head))
        row.addWidget(server)
        row.addWidget(tool)
        row.addStretch(1)
        row.addWidget(MarkView(mark, "warning", _STATE, self.theme, head))
        row.addSpacing(_STATE_GAP - _HEAD_GAP)
        row.addWidget(self.label(word, "state", head))
        return head

    def label(self, text: str, part: str, parent: QWidget | None = None) -> QLabel:
        """Plain words in a role of the card."""
        role: TypeRole = _ROLES.get(part, TYPE.interface)
        made = LinedLabel(text, role, self.theme, parent or self.body)
        made.setProperty("part", part)
        return made

    def button(self, name: str, text: str, description: str, *, primary: bool = False) -> CarefulButton:
        """A button that answers, or leads to an answer."""
        made = CarefulButton(name, text, self._readiness, self.body, self)
        made.say(text, description)
        made.unseen_pressed.connect(lambda: self.reveal_wanted.emit(made))
        if primary:
            made.setProperty("primary", "true")
        return made

    def row_of(self, *parts: QWidget) -> WrappingRow:
        """Buttons, the last part at the right."""
        holder = QWidget(self.body)
        row = WrappingRow(holder, is_last_aside=True)
        for part in parts:
            row.addWidget(part)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        holder.setSizePolicy(policy)
        self.lines.addSpacerItem(self.over_buttons)
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
        return not self._is_locked

    @property
    def takes_keys(self) -> bool:
        """True once its buttons hear keys."""
        return all(button.takes_keys for button in self.findChildren(CarefulButton) if button.isVisible())

    @property
    def had_focus(self) -> bool:
        """It was answered by somebody whose keyboard was in it."""
        return self._focus_before is not None

    def answer(self, answer: Answer) -> None:
        """Say what was chosen, once."""
        if self.is_open:
            self._is_locked = True
            self._readiness.note_press()
            focus = self.window().focusWidget()
            self._focus_before = focus if focus is not None and self.isAncestorOf(focus) else None
            self.body.setEnabled(False)
            self.answered.emit(answer)

    def unlock(self) -> None:
        """The answer was not taken: ask again."""
        self._is_locked = False
        self.body.setEnabled(True)
        if self._focus_before is not None and self.window().focusWidget() is None:
            self._focus_before.setFocus(Qt.FocusReason.TabFocusReason)
        self._focus_before = None

    def withdraw(self) -> None:
        """The question is not open any more, and the card goes soon."""
        self._is_locked = True
        self.body.setEnabled(False)

    def take_focus(self) -> None:
        """The person comes here from the question before; nothing decides at once."""
        self._chevron.setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What a part of it leaves is not for the text around it. Enter folds as the space bar does."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.isAutoRepeat() and self._chevron.hasFocus():
            self._chevron.click()
        event.accept()

    # Its place

    def showEvent(self, event: QShowEvent) -> None:
        """It may be in the view."""
        super().showEvent(event)
        self._look()

    def moveEvent(self, event: QMoveEvent) -> None:
        """It may have come into the view, or under the pointer."""
        super().moveEvent(event)
        self._look()
        pressed_at = self._readiness.pressed_at
        if pressed_at is not None and self._readiness.was_just_pressed:
            if self._before_press[0] != pressed_at:
                self._before_press = (pressed_at, event.oldPos().y())
            for button in self.findChildren(CarefulButton):
                button.note_displaced(is_displaced=self.y() != self._before_press[1])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """It may reach into the view."""
        super().resizeEvent(event)
        self._look()

    def _look(self) -> None:
        was_in_view = self._is_in_view
        parent = self.parentWidget()
        is_inside = parent is not None and parent.rect().intersects(self.geometry())
        self._is_in_view = self.isVisible() and is_inside
        if self._is_in_view and not was_in_view:
            self._appear()

    def arm(self) -> None:
        """What stands here now was not there when the person pressed."""
        self._readiness.note_press()
        self._appear()

    def _appear(self) -> None:
        for button in self.findChildren(CarefulButton):
            button.appear()

    def _on_fold(self) -> None:
        self.reshaping.emit()
        self.body.setVisible(self.body.isHidden())
        self._show_fold()
        self.updateGeometry()

    def _show_fold(self) -> None:
        is_shut = self.body.isHidden()
        words = "Show this question" if is_shut else "Hide this question"
        self._chevron.setIcon(icon(Mark.SHUT if is_shut else Mark.OPEN, self.theme))
        self._chevron.setAccessibleName(words)
        self._chevron.setToolTip(words)
        set_property(self._head, "shut", "true" if is_shut else "false")

    def _on_sizes_changed(self) -> None:
        self._head.setFixedHeight(row_height(_HEAD))
        side = mark_size(_CHEVRON)
        self._chevron.setIconSize(QSize(side, side))
        self._chevron.setFixedSize(side + 6, side + 10)
        self.lines.setContentsMargins(mark_left(), _TOP, _RIGHT, _BOTTOM)
        self.updateGeometry()
