"""Lays out one conversation: banners, transcript, cards, queued message, composer. Knows no core.

Invariant: the view decides nothing; the presenter tells it what to show and hears what the person wants.
"""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.shell.chat.cards.card_style import asking_style
from sophos_desktop.shell.chat.cards.column import SCROLL_BAR_ROOM, CardColumn
from sophos_desktop.shell.chat.composer import Composer
from sophos_desktop.shell.chat.queued_bar import QueuedBar
from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.tokens import COLUMN_MARGIN, COLUMN_WIDTH
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.shapes import Shape, shape_pixmap

_WRITE = "Write a message"
_WRITE_WHILE_WAITING = "Write a message. It is kept until you have decided"
_ICON_GAP = 6  # between the mark of a button and its word
_HINT_FITS = 400  # the narrowest column with room for the hint beside the buttons


class ChatView(QWidget):
    """Lives as long as its window."""

    send_requested = Signal()
    stop_requested = Signal()
    resume_requested = Signal()
    error_closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Shows `Opening…`."""
        super().__init__(parent)
        self.setObjectName("chatView")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.theme = theme
        self.transcript = Transcript(theme, self)
        self.composer = Composer(self)
        self.send_button = QPushButton(self)
        self.stop_button = QPushButton("Stop", self)
        self.resume_banner = Banner("resumeBanner", "resume", Shape.INTERRUPTED, theme, self, closable=False)
        self.error_banner = Banner("errorBanner", "danger", Shape.FAILED, theme, self, closable=True)
        self.notice_bar = Banner("noticeBar", "notice", Shape.NOTICE, theme, self, closable=True)
        self.waiting_question = Banner(
            "waitingQuestion", "warning", Shape.WAITING, theme, self, closable=False
        )
        self.cards = CardColumn(theme, self.send_button, self)
        self.queued = QueuedBar(theme, self)
        self._notices: list[str] = []
        self._is_waiting = False
        self._make_buttons()
        self._make_layout()
        self._connect()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _make_buttons(self) -> None:
        self.send_button.setObjectName("sendButton")
        self.send_button.setAccessibleName("Send")
        self.send_button.setToolTip("Send (Enter)")
        self.send_button.setProperty("primary", "true")
        self.send_button.setFixedSize(32, 32)
        self.send_button.setStyleSheet("padding: 0;")
        self.stop_button.setObjectName("stopButton")
        self.stop_button.setAccessibleName("Stop")
        self.stop_button.setToolTip("Stop (Esc)")
        self.stop_button.hide()
        resume = self.resume_banner.add_button("resumeButton", "Resume", primary=True)
        resume.clicked.connect(lambda: self.resume_requested.emit())
        self.deny_all_button = self.waiting_question.add_button("denyAllAndSendButton", "Deny a&ll and send")
        self.wait_button = self.waiting_question.add_button("waitButton", "W&ait")
        self.deny_all_button.setAccessibleName("Deny all and send")
        self.deny_all_button.setAccessibleDescription("No waiting call runs; the message is sent now")
        self.wait_button.setAccessibleName("Wait")
        self.wait_button.setAccessibleDescription("The message is sent when the run has completed")

    def _make_layout(self) -> None:
        self._banner_column = QVBoxLayout()
        self._banner_column.setSpacing(8)
        for banner in (self.error_banner, self.notice_bar):
            self._banner_column.addWidget(banner)
        self._middle = QStackedLayout()
        self._middle.addWidget(self._make_empty())
        self._middle.addWidget(self.transcript)
        self._above = QVBoxLayout()
        self._above.addLayout(self._banner_column)
        self._cards_row = QVBoxLayout()
        self._cards_row.addWidget(self.cards)
        self._below = QVBoxLayout()
        self._below.addWidget(self.queued)
        self._below.addWidget(self.waiting_question)
        self._below.addWidget(self._make_composer_frame())
        self._below.setSpacing(8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.resume_banner)
        layout.addLayout(self._middle, 1)
        layout.addLayout(self._above)
        layout.addLayout(self._cards_row)
        layout.addLayout(self._below)

    def _make_empty(self) -> QWidget:
        page = QWidget(self)
        self._empty_title = QLabel(page)
        self._empty_title.setObjectName("emptyTitle")
        self._empty_note = QLabel(page)
        self._empty_note.setObjectName("emptyNote")
        column = QVBoxLayout(page)
        column.setSpacing(8)
        column.addStretch(2)
        for label in (self._empty_title, self._empty_note):
            column.addWidget(label, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        self.show_opening()
        return page

    def _make_composer_frame(self) -> QFrame:
        self._composer_frame = QFrame(self)
        self._composer_frame.setObjectName("composerFrame")
        self._hint = hint = QLabel("Enter sends, Shift+Enter breaks the line", self._composer_frame)
        hint.setObjectName("composerHint")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(hint)
        row.addStretch(1)
        row.addWidget(self.stop_button)
        row.addWidget(self.send_button)
        column = QVBoxLayout(self._composer_frame)
        column.setContentsMargins(16, 10, 8, 8)
        column.setSpacing(2)
        column.addWidget(self.composer)
        column.addLayout(row)
        return self._composer_frame

    def _connect(self) -> None:
        self.composer.send_requested.connect(self.send_requested)
        self.composer.focus_changed.connect(self._on_focus_changed)
        self.send_button.clicked.connect(lambda: self.send_requested.emit())
        self.stop_button.clicked.connect(lambda: self.stop_requested.emit())
        self.error_banner.closed.connect(self.error_closed)
        self.notice_bar.closed.connect(self._notices.clear)

    def add_banner(self, banner: Banner) -> None:
        """A message that does not belong to the open conversation, above the others."""
        self._banner_column.insertWidget(0, banner)

    def show_opening(self) -> None:
        """The core is not there yet."""
        self._say_empty("Opening…", "Your conversations will be here in a moment.")

    def show_empty(self) -> None:
        """A conversation without a message."""
        self._say_empty("New conversation", "It stays on this machine and is saved step by step.")

    def show_unopened(self) -> None:
        """The store could not be opened; the error banner says why."""
        self._say_empty("Your conversations could not be opened", "Nothing was changed.")

    def _say_empty(self, title: str, note: str) -> None:
        self._empty_title.setText(title)
        self._empty_note.setText(note)
        self._middle.setCurrentIndex(0)

    def show_transcript(self) -> None:
        """There is something to read."""
        self._middle.setCurrentIndex(1)

    def show_error(self, error: SophosError) -> None:
        """Say what went wrong and what to do."""
        self.error_banner.show_message(error.title, error.remedy, str(error.code))

    def show_notice(self, text: str) -> None:
        """Add a notice; the same one is said once."""
        if text not in self._notices:
            self._notices.append(text)
        self.notice_bar.show_message("", "\n".join(self._notices[-3:]))

    def clear_messages(self) -> None:
        """Another conversation or a new run: what was said is past."""
        self._notices.clear()
        for banner in (self.error_banner, self.notice_bar, self.waiting_question, self.resume_banner):
            banner.hide()

    def show_waiting(self, *, is_waiting: bool) -> None:
        """Say in the composer what becomes of a message while calls wait for a decision."""
        self._is_waiting = is_waiting
        self._show_placeholder()
        if not is_waiting:
            self.waiting_question.hide()

    def _show_placeholder(self) -> None:
        is_said = self._is_waiting and not self._hint.isHidden()
        self.composer.setPlaceholderText(_WRITE_WHILE_WAITING if is_said else _WRITE)

    def show_running(self, *, is_running: bool, can_send: bool, can_stop: bool) -> None:
        """Set the two buttons; Stop takes the place of Send while a run is active."""
        self.send_button.setVisible(not is_running)
        self.send_button.setEnabled(can_send)
        self.stop_button.setVisible(is_running)
        self.stop_button.setEnabled(can_stop)

    def _on_focus_changed(self, focused: bool) -> None:  # noqa: FBT001 (a Qt slot)
        self._composer_frame.setProperty("focused", "true" if focused else "false")
        self._composer_frame.style().unpolish(self._composer_frame)
        self._composer_frame.style().polish(self._composer_frame)

    def _on_theme_changed(self) -> None:
        tokens, ratio = self.theme.tokens, self.devicePixelRatioF()
        icon = QIcon(shape_pixmap(Shape.SEND, 18, tokens.on_accent, ratio))
        icon.addPixmap(shape_pixmap(Shape.SEND, 18, tokens.text_3, ratio), QIcon.Mode.Disabled)
        self.send_button.setIcon(icon)
        self.send_button.setIconSize(QSize(18, 18))
        self.stop_button.setIcon(_with_gap(shape_pixmap(Shape.STOP, 10, tokens.text, ratio)))
        self.stop_button.setIconSize(QSize(10 + _ICON_GAP, 10))
        self.waiting_question.setStyleSheet(asking_style(tokens))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep banners and composer in the column of the text."""
        super().resizeEvent(event)
        room = self.width() - SCROLL_BAR_ROOM  # the transcript's bar stands beside the column
        column = max(200, min(COLUMN_WIDTH, room - COLUMN_MARGIN))
        left = max(0, (room - column) // 2)
        right = max(SCROLL_BAR_ROOM, self.width() - left - column)
        self._above.setContentsMargins(left, 4, right, 0)
        self._cards_row.setContentsMargins(left, 0, right - SCROLL_BAR_ROOM, 0)
        self._below.setContentsMargins(left, 4, right, 12)
        self._hint.setVisible(column > _HINT_FITS)
        self._show_placeholder()
        self.composer.fit_window()
        self.cards.set_room(self.height())


def _with_gap(mark: QPixmap) -> QIcon:
    """A mark with room behind it: a style sheet puts the words of a button right beside its icon."""
    ratio = mark.devicePixelRatio()
    wide = QPixmap(mark.width() + round(_ICON_GAP * ratio), mark.height())
    wide.setDevicePixelRatio(ratio)
    wide.fill(Qt.GlobalColor.transparent)
    painter = QPainter(wide)
    painter.drawPixmap(0, 0, mark)
    painter.end()
    return QIcon(wide)
