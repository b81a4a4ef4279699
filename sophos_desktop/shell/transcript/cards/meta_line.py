"""The line below an answer: which model, when, how much, how fast; and what can be done with the answer.

Invariant: its height is always kept. Its buttons are seen while the pointer or the keyboard is on the line,
and can always be reached by Tab.
"""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from sophos_desktop.core.domain.conversation import MessageState
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.fonts import role_font, row_height
from sophos_desktop.shell.theme.icons import Mark, paint_mark
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.theme.type_scale import TYPE
from sophos_desktop.shell.transcript.cards.facts import MetaFacts
from sophos_desktop.shell.transcript.cards.meta_words import meta_facts
from sophos_desktop.shell.transcript.cards.parts import icon_button, on_click
from sophos_desktop.shell.transcript.transcript_model import TranscriptMessage
from sophos_desktop.shell.widgets.floating_menu import FloatingMenu

_HEIGHT = 24
COPY_MARKDOWN, COPY_TEXT, AGAIN, READ, CONTINUE = (
    "copy-markdown",
    "copy-text",
    "again",
    "read",
    "continue",
)
_MARK = 14


class MetaLine(QWidget):
    """The footer of an answer; may be thrown away and made again at any time."""

    acted = Signal(str)  # one of the names above

    def __init__(self, theme: Theme, parent: QWidget, *, answers_again: bool = True) -> None:
        """Says nothing yet; `answers_again`: there is somebody who makes another answer."""
        super().__init__(parent)
        self.setObjectName("metaLine")
        self._answers_again = answers_again
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._facts = MetaFacts()
        self._is_entered = False
        self._is_open = False
        self.copy = icon_button("copyAnswer", Mark.COPY, "Copy as Markdown", theme, self)
        self.again = icon_button("answerAgain", Mark.AGAIN, "Answer again", theme, self)
        self.more = icon_button("answerMore", Mark.MORE, "More", theme, self)
        self.resume = QPushButton("Continue", self)
        self.resume.setObjectName("continueAnswer")
        self.resume.setAccessibleName("Continue the answer")
        self.resume.setProperty("row", "true")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._row.addStretch(1)
        for button in (self.copy, self.again, self.more, self.resume):
            self._row.addWidget(button)
        on_click(self.copy, lambda: self.acted.emit(COPY_MARKDOWN))
        on_click(self.again, lambda: self.acted.emit(AGAIN))
        on_click(self.resume, lambda: self.acted.emit(CONTINUE))
        on_click(self.more, self._on_more)
        for button in self._quiet_buttons:
            button.installEventFilter(self)
        self.resume.hide()
        self._show_buttons()
        theme.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()

    @property
    def _quiet_buttons(self) -> tuple[QToolButton, ...]:
        return self.copy, self.again, self.more

    @property
    def words(self) -> str:
        """All of the line."""
        return " · ".join(self._facts.parts)

    def show_message(self, message: TranscriptMessage) -> None:
        """The answer changed; its buttons wait until it is whole."""
        self._is_open = message.is_open
        is_stopped = message.state is MessageState.STOPPED and message.meta.can_continue
        self.show_facts(meta_facts(message), is_stopped=is_stopped)

    def show_facts(self, facts: MetaFacts, *, is_stopped: bool = False) -> None:
        """What it says; a stopped answer can be continued."""
        self._facts = facts
        self.setAccessibleName(self.words)
        self.resume.setVisible(is_stopped and not self._is_open)
        for button in (self.copy, self.again, self.more):
            button.setVisible(not is_stopped and (self._answers_again or button is not self.again))
        self._show_buttons()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """24 high; a button with words needs 28."""
        if self.resume.isHidden():
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
        if self._answers_again:
            entries.append(("Answer Again", AGAIN))
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
            box = QRectF(0, (self.height() - _MARK) / 2, _MARK, _MARK)
            paint_mark(painter, self._facts.mark, box, QColor(getattr(tokens, self._facts.colour)))
            x = _MARK + 6.0
        baseline = round((self.height() + metrics.ascent() - metrics.descent()) / 2)
        right = min(
            (b.x() for b in (*self._quiet_buttons, self.resume) if not b.isHidden()), default=self.width()
        )
        text = "  ·  ".join(self._facts.parts)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, right - 8 - x))
        painter.drawText(QPointF(x, baseline), shown)
        painter.end()
