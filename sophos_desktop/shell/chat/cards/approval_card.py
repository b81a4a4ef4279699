"""Asks whether a tool may run: its whole arguments, which can be changed, and what the schema says of them.

Invariant: what is allowed is what stands in the field; while that cannot be sent nothing can be allowed.
"""

import html
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from sophos_desktop.shell.chat.cards.arguments import (
    Address,
    ArgumentsUnreadable,
    address_of,
    broken,
    host_of,
    pretty_arguments,
    read_arguments,
)
from sophos_desktop.shell.chat.cards.card import Answer, Card, Typed, set_property
from sophos_desktop.shell.chat.cards.card_words import (
    CHECKING,
    FITS,
    REASON_LABEL,
    UNKNOWN_SCHEMA,
    WAITING,
    always_text,
    question_of,
    short_problem,
    shortened,
)
from sophos_desktop.shell.chat.cards.careful_button import Readiness
from sophos_desktop.shell.chat.cards.fields import ArgumentsField, ReasonField
from sophos_desktop.shell.chat.cards.json_colours import JsonColours
from sophos_desktop.shell.facade import PendingDecision
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, role_line
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.parts import MarkView, in_lines
from sophos_desktop.shell.transcript.text.drawable_text import escaped

CHECK_MILLISECONDS = 200
_MOST_LINES = 12
_SMALL_MARK = 14
_OVER_LABEL = 4
_RAISED = 1  # HTML sets letters at the foot of a line


class ApprovalCard(Card):
    """Lives as long as its question is open."""

    check_wanted = Signal(object)  # the arguments as they stand in the field now

    def __init__(
        self, question: PendingDecision, place: str, readiness: Readiness, theme: Theme, parent: QWidget
    ) -> None:
        """`place`: which of how many, in words."""
        super().__init__("approvalCard", question, (Mark.WAITING, WAITING), readiness, theme, parent)
        self._original = pretty_arguments(question.args)
        self._args: Mapping[str, Any] | None = dict(question.args)
        self._is_denying = False
        self._place = self.label(place, "small")
        self._reason_field = ReasonField(self.body)
        self._field = ArgumentsField(
            "approvalArguments", role_font(TYPE.code), fewest=1, most=_MOST_LINES, parent=self.body
        )
        self._colours = JsonColours(self._field.document(), theme)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(CHECK_MILLISECONDS)
        self._make_question()
        self._make_reason()
        self._make_buttons()
        self._connect()
        self._show_pages()
        self._field.setPlainText(self._original)

    def _make_question(self) -> None:
        title = self.label(question_of(self.question.scope), "question")
        reason = self.label(escaped(self.question.reason), "note")
        reason.setObjectName("approvalReason")
        for label in (title, reason):
            label.setWordWrap(True)
            self.lines.addWidget(label)
        reason.setVisible(bool(self.question.reason))
        self._make_address()
        label = self.label("Arguments", "small")
        label.setBuddy(self._field)
        self._field.setAccessibleName("Arguments")
        self._field.setAccessibleDescription(
            f"What {self.question.tool} of {self.question.server} would get, as JSON; it can be changed"
        )
        self._verdict_mark = MarkView(
            Mark.NOTICE, "text_2", _SMALL_MARK, self.theme, self.body, beside=TYPE.small
        )
        self._verdict = self.label(CHECKING, "small")
        self._verdict.setObjectName("approvalVerdict")
        self._verdict_box = QWidget(self.body)
        verdict = QHBoxLayout(self._verdict_box)
        verdict.setContentsMargins(0, 0, 0, 0)
        verdict.setSpacing(4)
        verdict.addWidget(self._verdict_mark, 0, Qt.AlignmentFlag.AlignTop)
        verdict.addWidget(self._verdict, 1)
        self._over_field = QHBoxLayout()
        self._over_field.addWidget(label, 1)
        self._over_field.addWidget(self._verdict_box)
        self.lines.addSpacing(_OVER_LABEL)
        self.lines.addLayout(self._over_field)
        self.lines.addWidget(self._field)
        self.fields.append(self._field)
        self._asking: list[QWidget] = [title, label, self._field, self._verdict_box]
        if self.question.reason:
            self._asking.append(reason)

    def _make_address(self) -> None:
        self._globe = MarkView(Mark.WEB, "text_2", _SMALL_MARK, self.theme, self.body, beside=TYPE.code)
        self._address = QLabel(self.body)
        self._address.setObjectName("approvalAddress")
        self._address.setTextFormat(Qt.TextFormat.RichText)
        self._address.setProperty("part", "address")
        self._address.setWordWrap(True)
        self._address.setContentsMargins(0, -_RAISED, 0, _RAISED)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._globe, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._address, 1)
        self.lines.addLayout(row)

    def _make_reason(self) -> None:
        self._reason_label = self.label(REASON_LABEL, "small")
        self._reason_field.setObjectName("denyReason")
        self._reason_field.setAccessibleName("Reason")
        self._reason_field.setAccessibleDescription(REASON_LABEL)
        self._reason_label.setBuddy(self._reason_field)
        self.lines.addWidget(self._reason_label)
        self.lines.addWidget(self._reason_field)

    def _make_buttons(self) -> None:
        what = f"{self.question.tool} of {self.question.server}"
        this_time = f"Let {what} run this time"
        self.allow_once = self.button("allowOnceButton", "Allow &once", this_time, primary=True)
        self.allow_always = self.button("alwaysAllowButton", always_text(self.question.scope), "")
        self.deny = self.button("denyButton", "&Deny…", f"Do not let {what} run; you may say why")
        self.back = self.button("denyBackButton", "&Back", "Decide otherwise")
        self.back.setProperty("quiet", "true")
        as_made = "The arguments as the model made them"
        self.restore = self.button("restoreButton", "&Put back the original", as_made)
        self.restore.setProperty("link", "true")
        self._aside = QWidget(self.body)
        row = QHBoxLayout(self._aside)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._place)
        row.addWidget(self.restore)
        self.row_of(self.allow_once, self.allow_always, self.deny, self.back, self._aside)

    def _connect(self) -> None:
        self._field.textChanged.connect(self._on_edited)
        self._field.left.connect(self.allow_once.setFocus)
        self.theme.changed.connect(self._show_state)
        self._timer.timeout.connect(self._on_check)
        self.allow_once.clicked.connect(lambda: self._allow(always=False))
        self.allow_always.clicked.connect(lambda: self._allow(always=True))
        self.deny.clicked.connect(self._on_deny)
        self.back.clicked.connect(lambda: self._show_reason(is_denying=False))
        self.restore.clicked.connect(lambda: self._field.setPlainText(self._original))
        self._reason_field.left.connect(lambda: self._show_reason(is_denying=False))
        self._reason_field.returnPressed.connect(self._on_deny)

    # What was typed

    @property
    def typed(self) -> Typed:
        """Changed arguments, and why not."""
        text = self._field.toPlainText()
        return Typed(text if text != self._original else None, self._reason_field.text(), self._is_denying)

    def put_back(self, typed: Typed) -> None:
        """As it was before the card was taken away."""
        if typed.arguments is not None:
            self._field.setPlainText(typed.arguments)
        self._reason_field.setText(typed.words)
        self._is_denying = typed.is_page_open
        self._show_pages()

    def say_place(self, place: str) -> None:
        """More is known of how many there are."""
        self._place.setText(place)
        self._show_state()

    # The arguments

    @property
    def _is_changed(self) -> bool:
        return self._args != dict(self.question.args)

    def _on_edited(self) -> None:
        try:
            self._args = read_arguments(self._field.toPlainText())
        except ArgumentsUnreadable as problem:
            self._args = None
            self._timer.stop()
            self._say(str(problem), is_problem=True)
        else:
            self._say(CHECKING, is_problem=False)
            self._timer.start()
        self._show_state()

    def _on_check(self) -> None:
        if self._args is not None:
            self.check_wanted.emit(self._args)

    def check(self) -> None:
        """Ask for the verdict again: more may be known of the tool."""
        if self.is_open:
            self._on_check()

    def show_verdict(self, args: Mapping[str, Any], problem: str | None, *, is_known: bool) -> None:
        """What the schema says of these arguments; too late if others stand there now."""
        if args != self._args:
            return
        if problem is not None:
            self._say(escaped(short_problem(problem)), is_problem=True)
        else:
            self._say(FITS if is_known else UNKNOWN_SCHEMA, is_problem=False)
        self._show_state()

    def _say(self, words: str, *, is_problem: bool) -> None:
        self._verdict.setText(words)
        self._verdict.setAccessibleName(words)
        self._verdict.setWordWrap(is_problem)
        if is_problem:
            self.lines.insertWidget(self.lines.indexOf(self._field) + 1, self._verdict_box)
        else:
            self._over_field.addWidget(self._verdict_box)
        set_property(self._verdict, "part", "problem" if is_problem else "small")
        set_property(self._field, "invalid", "true" if is_problem else "false")
        if is_problem:
            self._verdict_mark.show_mark(Mark.ERROR, "danger")
        elif words == FITS:
            self._verdict_mark.show_mark(Mark.DONE, "success")
        else:
            self._verdict_mark.show_mark(Mark.NOTICE, "text_2")

    def _show_state(self) -> None:
        """Buttons and address follow the field."""
        is_sendable = self._args is not None and self._field.property("invalid") != "true"
        args = self._args if self._args is not None else dict(self.question.args)
        # "Always" holds for the host that stands in the field; without one it would hold for all of them.
        host = host_of(args) if self.question.scope else ""
        text, whole = always_text(shortened(escaped(host))), always_text(escaped(host))
        self.allow_always.say(text, "This call and later ones, as long as the tool stays the same")
        self.allow_always.setAccessibleName(whole.replace("&", ""))
        self.allow_always.setToolTip(whole.replace("&", "") if host else "")
        self.allow_once.setEnabled(is_sendable)
        self.allow_always.setEnabled(is_sendable and bool(host or not self.question.scope))
        is_edited = self._field.toPlainText() != self._original
        self.restore.setVisible(is_edited)
        self._place.setVisible(not is_edited)
        # With nothing in it, it would still take a line of its own where the buttons fill theirs.
        self._aside.setVisible(not self._is_denying and (is_edited or bool(self._place.text())))
        self._show_address(address_of(args) if self.question.scope else None)

    def _show_address(self, address: Address | None) -> None:
        is_shown = address is not None and not self._is_denying
        self._globe.setVisible(is_shown)
        self._address.setVisible(is_shown)
        if address is not None:
            parts = [html.escape(broken(part)) for part in (address.before, address.host, address.after)]
            host = f"<span style='font-weight: 600; color: {self.theme.tokens.text}'>{parts[1]}</span>"
            line = role_line(TYPE.code)
            self._address.setText(in_lines(f"{parts[0]}{host}{parts[2]}", line))
            self._address.setAccessibleName(address.whole)

    # The answer

    def _allow(self, *, always: bool) -> None:
        if self._args is None:
            return
        self.answer(Answer("allow", args=self._args if self._is_changed else None, always=always))

    def _on_deny(self) -> None:
        if not self._is_denying:
            self._show_reason(is_denying=True)
            return
        reason = self._reason_field.text().strip() or None
        self.answer(Answer("deny", reason=reason))

    def _show_reason(self, *, is_denying: bool) -> None:
        self.reshaping.emit()
        self._is_denying = is_denying
        self._show_pages()
        if is_denying:
            self._reason_field.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            # What allows appears where Back was: the second half of a double click must not reach it.
            self.arm()
            self.deny.setFocus(Qt.FocusReason.TabFocusReason)

    def _show_pages(self) -> None:
        denying: list[QWidget] = [self._reason_label, self._reason_field, self.back]
        for part in denying:
            part.setVisible(self._is_denying)
        asking: list[QWidget] = [*self._asking, self.allow_once, self.allow_always]
        for part in asking:
            part.setVisible(not self._is_denying)
        self.deny.say("&Deny" if self._is_denying else "&Deny…")
        set_property(self.deny, "primary", "true" if self._is_denying else "false")
        self._show_state()
