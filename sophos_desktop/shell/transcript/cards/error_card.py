"""An error of the run in the column: what happened, what to do, the code, and a button that does it.

Invariant: a card without an action has no button; its whole text is its accessible name.
"""

import re
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import code_font
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.type_scale import TYPE, TypeRole
from sophos_desktop.shell.transcript.cards.parts import MarkView, Rounded, Words, on_click
from sophos_desktop.shell.transcript.cards.title_row import TitleRow
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code
from sophos_desktop.shell.widgets.words import breakable

_CODE = TypeRole(TYPE.badge.size, TYPE.badge.line, is_code=True)
_ICON = 18
_CODE_WORDS = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """The payload of a message that is an error card. `action`: what the button says, `action_name`: what it
    tells (`ErrorCard.acted`)."""

    title: str
    remedy: str = ""
    code: str = ""
    action: str = ""
    action_name: str = ""

    @classmethod
    def of(cls, error: SophosError, action: str = "", action_name: str = "") -> "ErrorFacts":
        """Those of an error."""
        return cls(error.title, error.remedy, error.code.value, action, action_name)

    @property
    def words(self) -> str:
        """All of it as sentences, for the ear."""
        parts = (_in_words(self.title), _in_words(self.remedy), self.code)
        return "Error: " + ". ".join(part.rstrip(".") for part in parts if part)


class ErrorCard(Rounded):
    """A card of the transcript; may be thrown away and made again at any time."""

    acted = Signal(str)  # action_name

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing yet."""
        super().__init__("errorCard", "danger_soft", "danger_line", theme, parent)
        self._facts = ErrorFacts("")
        self._title = Words("", TYPE.title, "text", theme, self, selectable=True)
        self._code = Words("", _CODE, "text_2", theme, self, selectable=True)
        self._code.setFont(code_font(_CODE.size))
        self._remedy = Words("", TYPE.interface, "text_2", theme, self, selectable=True)
        self._button = QPushButton(self)
        self._button.setObjectName("errorAction")
        self._button.setProperty("row", "true")
        on_click(self._button, lambda: self.acted.emit(self._facts.action_name))
        for label in (self._title, self._remedy):
            label.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addLayout(TitleRow(self._title, self._code))
        words.addWidget(self._remedy)
        row = QHBoxLayout(self)
        row.setContentsMargins(17, 13, 13, 13)  # the line is in them
        row.setSpacing(12)
        mark = MarkView(Mark.ERROR, "danger", _ICON, theme, self, beside=TYPE.title)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_message(self, message: TranscriptMessage) -> None:
        """The error changed."""
        if isinstance(message.payload, ErrorFacts):
            self.show_facts(message.payload)

    def show_facts(self, facts: ErrorFacts) -> None:
        """What it says."""
        self._facts = facts
        title, remedy = _in_words(facts.title), _in_words(facts.remedy)
        self._title.setText(breakable(drawable_code(title)))
        self._code.setText(facts.code)
        self._code.setVisible(bool(facts.code))
        self._remedy.setText(breakable(drawable_code(remedy)))
        self._remedy.setVisible(bool(facts.remedy))
        self._button.setText(facts.action)
        self._button.setAccessibleName(facts.action)
        self._button.setVisible(bool(facts.action))
        self.setAccessibleName(facts.words)
        self.updateGeometry()

    @property
    def action_button(self) -> QPushButton:
        """The button."""
        return self._button


def _in_words(text: str) -> str:
    """What stands between backticks in quotation marks: a card knows no Markdown."""
    return _CODE_WORDS.sub(r"“\1”", text)
