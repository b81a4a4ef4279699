"""Asks what is to become of a call of which nobody knows whether it ran.

Invariant: none of the answers is suggested; running it again is one of them, and says what it may do.
"""

from datetime import datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpacerItem, QWidget

from sophos_desktop.core.domain.ports import DecisionKind
from sophos_desktop.shell.chat.cards.arguments import short_arguments
from sophos_desktop.shell.chat.cards.card import Answer, Card, Typed
from sophos_desktop.shell.chat.cards.card_words import RESULT_LABEL, UNCERTAIN, known_of
from sophos_desktop.shell.chat.cards.careful_button import Readiness
from sophos_desktop.shell.chat.cards.fields import ArgumentsField, GrowingField
from sophos_desktop.shell.chat.cards.json_colours import JsonColours
from sophos_desktop.shell.facade import PendingDecision
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.type_scale import TYPE

_MOST_LINES = 8
_FRAME = 4  # of the arguments: it is seen only with the focus, and what is around stands closer
_OVER_BUTTONS, _OVER_BUTTONS_PLAIN, _OVER_PLAIN = 8, 2, -2  # besides the distance between lines


class UncertainCard(Card):
    """Lives as long as its question is open."""

    def __init__(
        self, question: PendingDecision, readiness: Readiness, theme: Theme, parent: QWidget
    ) -> None:
        """When the call began is told later, if it is known."""
        super().__init__("uncertainCard", question, (Mark.UNCERTAIN, UNCERTAIN), readiness, theme, parent)
        self.setAccessibleName(f"{question.server} · {question.tool}: nobody knows whether it ran")
        self._known = self.label(known_of(None, datetime.now().astimezone()), "known")
        self._known.setObjectName("uncertainKnown")
        self._known.setWordWrap(True)
        self._args = ArgumentsField(
            "uncertainArguments", role_font(TYPE.code), 1, _MOST_LINES, self.body, frame=_FRAME, margin=0
        )
        self._args.setAccessibleName("Arguments")
        self._args.setReadOnly(True)
        self._args.setProperty("plain", "true")
        self._args.setPlainText(short_arguments(question.args))
        self._colours = JsonColours(self._args.document(), theme)
        self._make_result()
        self._make_buttons()
        self._show_pages(is_entering=False)

    def _make_result(self) -> None:
        self._result_label = self.label(RESULT_LABEL, "small")
        self._result = GrowingField(
            "resultField", role_font(TYPE.code), fewest=2, most=_MOST_LINES, parent=self.body
        )
        self._result.setAccessibleName("Result")
        self._result.setAccessibleDescription(RESULT_LABEL)
        self._result_label.setBuddy(self._result)
        self._over_plain = QSpacerItem(0, _OVER_PLAIN)
        self.lines.addWidget(self._known)
        self.lines.addSpacerItem(self._over_plain)
        for part in (self._args, self._result_label, self._result):
            self.lines.addWidget(part)
        self.fields += (self._args, self._result)

    def _make_buttons(self) -> None:
        what = f"{self.question.tool} of {self.question.server}"
        self.again = self.button(
            "runAgainButton", "&Run again", f"Call {what} again; it may do the same thing twice"
        )
        self.skip = self.button("skipButton", "&Skip", "The model is told that the outcome is unknown")
        self.enter = self.button("enterResultButton", "Enter res&ult…", RESULT_LABEL)
        gets = "The model gets this text (Ctrl+Enter)"
        self.save = self.button("saveResultButton", "&Use as result", gets, primary=True)
        self.back = self.button("resultBackButton", "&Back", "Decide otherwise")
        self.back.setProperty("quiet", "true")
        attempt = self.label(f"Attempt {self.question.attempt}", "small")
        attempt.setVisible(self.question.attempt > 0)
        self._attempt = attempt
        self.row_of(self.again, self.skip, self.enter, self.save, self.back, attempt)
        self.again.clicked.connect(lambda: self._choose("run-again"))
        self.skip.clicked.connect(lambda: self._choose("skip"))
        self.enter.clicked.connect(lambda: self._show_result(is_entering=True))
        self.back.clicked.connect(lambda: self._show_result(is_entering=False))
        self._result.ended.connect(self._on_save)
        self._result.left.connect(lambda: self._show_result(is_entering=False))
        self._result.textChanged.connect(self._on_result_edited)
        self.save.clicked.connect(self._on_save)

    @property
    def typed(self) -> Typed:
        """The result that is being entered."""
        return Typed(words=self._result.toPlainText(), is_page_open=not self._result.isHidden())

    def put_back(self, typed: Typed) -> None:
        """As it was before the card was taken away."""
        self._result.setPlainText(typed.words)
        self._show_pages(is_entering=typed.is_page_open)

    def say_began(self, began: datetime | None) -> None:
        """When the call was sent, if the trace knows it."""
        words = known_of(began, datetime.now().astimezone())
        self._known.setText(words)
        self.setAccessibleDescription(words)

    def _choose(self, kind: DecisionKind, result: str | None = None) -> None:
        self.answer(Answer(kind, result=result))

    def _on_result_edited(self) -> None:
        self.save.setEnabled(bool(self._result.toPlainText().strip()))

    def _on_save(self) -> None:
        if self.save.isEnabled():
            self._choose("result", self._result.toPlainText())

    def _show_result(self, *, is_entering: bool) -> None:
        self.reshaping.emit()
        self._show_pages(is_entering=is_entering)
        if is_entering:
            self._result.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.arm()
            self.enter.setFocus(Qt.FocusReason.TabFocusReason)

    def _show_pages(self, *, is_entering: bool) -> None:
        self._over_plain.changeSize(0, 0 if is_entering else _OVER_PLAIN)
        self.over_buttons.changeSize(0, _OVER_BUTTONS if is_entering else _OVER_BUTTONS_PLAIN)
        self.lines.invalidate()
        for part in (self._result_label, self._result, self.save, self.back):
            part.setVisible(is_entering)
        for part in (self._known, self._args, self.again, self.skip, self.enter):
            part.setVisible(not is_entering)
        self._attempt.setVisible(not is_entering and self.question.attempt > 0)
        self._on_result_edited()
