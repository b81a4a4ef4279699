"""A small line that says what the reader should know: left out of the prompt, cut, recovered.

Invariant: one line of words with a mark of its own kind; it never asks for anything. Where the last answer
was cut it has a button that asks the model for the rest.
"""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.parts import MarkView, Words, on_click
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code
from sophos_desktop.shell.widgets.words import breakable

_MARK = 14
THE_REST = "the-rest"


class NoticeKind(Enum):
    """What is told; the value is mark and token."""

    PLAIN = (Mark.NOTICE, "text_2")
    CUT = (Mark.WARNING, "warning")
    RECOVERED = (Mark.AGAIN, "text_2")
    STOPPED = (Mark.STOPPED, "text_2")
    FAILED = (Mark.FAILED, "danger")


@dataclass(frozen=True, slots=True)
class NoticeFacts:
    """The payload of a message that is a notice line; `can_continue`: it offers to ask for the rest."""

    text: str
    kind: NoticeKind = NoticeKind.PLAIN
    can_continue: bool = False


class NoticeLine(QWidget):
    """A card of the transcript; may be thrown away and made again at any time."""

    acted = Signal(str)  # THE_REST

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing yet."""
        super().__init__(parent)
        self.setObjectName("noticeLine")
        self._mark = MarkView(Mark.NOTICE, "text_2", _MARK, theme, self, beside=TYPE.small)
        self._words = Words("", TYPE.small, "text_2", theme, self, selectable=True)
        self._words.setWordWrap(True)
        self._rest: QPushButton | None = None  # made where it is wanted
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(8)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._words, 1)

    @property
    def text(self) -> str:
        """What it says."""
        return self._words.text()

    def show_message(self, message: TranscriptMessage) -> None:
        """The notice changed."""
        if isinstance(message.payload, NoticeFacts):
            mark, colour = message.payload.kind.value
            self._mark.show_mark(mark, colour)
            self._words.setText(breakable(drawable_code(message.payload.text)))
            self.setAccessibleName(message.payload.text)
            self._offer_the_rest(does=message.payload.can_continue)
            self.updateGeometry()

    def _offer_the_rest(self, *, does: bool) -> None:
        if self._rest is None and does:
            self._rest = QPushButton("Continue", self)
            self._rest.setObjectName("askForTheRest")
            self._rest.setAccessibleName("Continue the answer")
            self._rest.setAccessibleDescription("Sends “Please continue.”")
            self._rest.setProperty("row", "true")
            on_click(self._rest, lambda: self.acted.emit(THE_REST))
            self._row.addWidget(self._rest, 0, Qt.AlignmentFlag.AlignTop)
        if self._rest is not None:
            self._rest.setVisible(does)
        # The words stand in the middle of a button that is there.
        beside = Qt.AlignmentFlag.AlignVCenter if does else Qt.AlignmentFlag.AlignTop
        self._row.setAlignment(self._mark, beside)
