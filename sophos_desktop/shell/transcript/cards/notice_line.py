"""A small line that says what the reader should know: left out of the prompt, cut, recovered.

Invariant: one line of words with a mark of its own kind; it never asks for anything.
"""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.icons import Mark
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.parts import MarkView, Words
from sophos_desktop.shell.transcript.model.transcript_model import TranscriptMessage
from sophos_desktop.shell.transcript.text.drawable_text import drawable_code
from sophos_desktop.shell.widgets.words import breakable

_MARK = 14


class NoticeKind(Enum):
    """What is told; the value is mark and token."""

    PLAIN = (Mark.NOTICE, "text_2")
    CUT = (Mark.WARNING, "warning")
    RECOVERED = (Mark.AGAIN, "text_2")
    STOPPED = (Mark.STOPPED, "text_2")
    FAILED = (Mark.FAILED, "danger")


@dataclass(frozen=True, slots=True)
class NoticeFacts:
    """The payload of a message that is a notice line."""

    text: str
    kind: NoticeKind = NoticeKind.PLAIN


class NoticeLine(QWidget):
    """A card of the transcript; may be thrown away and made again at any time."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Says nothing yet."""
        super().__init__(parent)
        self.setObjectName("noticeLine")
        self._mark = MarkView(Mark.NOTICE, "text_2", _MARK, theme, self, beside=TYPE.small)
        self._words = Words("", TYPE.small, "text_2", theme, self, selectable=True)
        self._words.setWordWrap(True)
        row = QHBoxLayout(self)
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
            self.updateGeometry()
