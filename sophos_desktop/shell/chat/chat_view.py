"""Lays out one conversation: banners, transcript, queued message, composer. Knows no core.

Invariant: the view decides nothing; the presenter tells it what to show and hears what the person wants.
"""

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.shell.chat.composing.composer_frame import ComposerFrame
from sophos_desktop.shell.chat.empty_page import EmptyPage
from sophos_desktop.shell.chat.focus_return import FocusReturn
from sophos_desktop.shell.chat.queued_bar import QueuedBar
from sophos_desktop.shell.chat.tab_chain import TabChain
from sophos_desktop.shell.chat.transcript import Transcript
from sophos_desktop.shell.theme.follower import Theme
from sophos_desktop.shell.theme.measures import MEASURES
from sophos_desktop.shell.widgets.banner import Banner
from sophos_desktop.shell.widgets.shapes import Shape

SCROLL_BAR_ROOM = MEASURES.scroll_bar_width + 2 * MEASURES.scroll_bar_inset


class ChatView(QWidget):
    """Lives as long as its window."""

    send_requested = Signal()
    stop_requested = Signal()
    resume_requested = Signal()
    error_closed = Signal()

    def __init__(
        self, theme: Theme, parent: QWidget, wall_clock: Callable[[], datetime] | None = None
    ) -> None:
        """Shows `Opening…`. `wall_clock` tells the time, aware."""
        super().__init__(parent)
        self.setObjectName("chatView")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.theme = theme
        self.transcript = Transcript(theme, self, wall_clock=wall_clock)
        self.composer_frame = ComposerFrame(theme, self)
        self.composer = self.composer_frame.field
        self.send_button = self.composer_frame.send_button
        self.stop_button = self.composer_frame.stop_button
        self.resume_banner = Banner("resumeBanner", "resume", Shape.INTERRUPTED, theme, self, closable=True)
        self.error_banner = Banner("errorBanner", "danger", Shape.FAILED, theme, self, closable=True)
        self.notice_bar = Banner("noticeBar", "notice", Shape.NOTICE, theme, self, closable=True)
        self.waiting_question = Banner(
            "waitingQuestion", "warning", Shape.WAITING, theme, self, closable=False
        )
        self.cards = self.transcript.questions
        self.queued = QueuedBar(theme, self)
        self.tab_chain = TabChain(self, self.transcript, self.composer_frame)
        above, below = (self.resume_banner, self.transcript.find_bar), (self.queued,)
        self.tab_chain.set_parts(above, below)
        self.tab_chain.set_asked(self.waiting_question)
        self._focus = FocusReturn(self.composer, self)
        self._notices: list[str] = []
        self._make_buttons()
        self._make_layout()
        self._connect()
        theme.sizes_changed.connect(self._on_sizes_changed)
        self._on_sizes_changed()

    def _make_buttons(self) -> None:
        resume = self.resume_banner.add_button("resumeButton", "Resume", primary=True)
        resume.clicked.connect(lambda: self.resume_requested.emit())
        self.deny_all_button = self.waiting_question.add_button("denyAllAndSendButton", "Deny a&ll and send")
        self.wait_button = self.waiting_question.add_button("waitButton", "W&ait")
        self.deny_all_button.setAccessibleName("Deny all and send")
        self.deny_all_button.setAccessibleDescription("No waiting call runs; the message is sent now")
        self.wait_button.setAccessibleName("Wait")
        self.wait_button.setAccessibleDescription("The message is sent when the run has completed")

    def _make_layout(self) -> None:
        self._middle = QStackedLayout()
        self._middle.addWidget(self._make_empty())
        self._middle.addWidget(self.transcript)
        self._below = QVBoxLayout()
        for part in (
            self.error_banner,
            self.notice_bar,
            self.queued,
            self.waiting_question,
            self.composer_frame,
        ):
            self._below.addWidget(part)
        self._below.setSpacing(8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.resume_banner)
        layout.addLayout(self._middle, 1)
        layout.addLayout(self._below)

    def _make_empty(self) -> QWidget:
        self._empty = EmptyPage(self.theme, self)
        self.show_opening()
        return self._empty

    def _connect(self) -> None:
        self.composer_frame.send_requested.connect(self.send_requested)
        self.composer_frame.stop_requested.connect(self.stop_requested)
        self.composer_frame.drop_target.watch(self)
        self.cards.left.connect(self.composer.setFocus)
        own = (self.resume_banner, self.error_banner, self.notice_bar, self.waiting_question, self.queued)
        for part in own:
            self._focus.watch(part)
        self.error_banner.closed.connect(self.error_closed)
        self.notice_bar.closed.connect(self._notices.clear)

    def add_banner(self, banner: QWidget) -> None:
        """A message that does not belong to the open conversation, above the others."""
        self._below.insertWidget(0, banner)
        self._focus.watch(banner)

    def show_opening(self) -> None:
        """The core is not there yet."""
        self._say_empty("Opening…", "Your conversations will be here in a moment.")

    def show_empty(self) -> None:
        """A conversation without a message."""
        note = "It stays on this machine and is saved step by step."
        self._say_empty("New conversation", note, has_hints=True)

    def show_unopened(self) -> None:
        """The store could not be opened; the error banner says why."""
        note = "Nothing was changed. Start the app again once it is put right."
        self._say_empty("Your conversations could not be opened", note)

    def _say_empty(self, title: str, note: str, *, has_hints: bool = False) -> None:
        self._empty.say(title, note, has_hints=has_hints)
        self._middle.setCurrentIndex(0)

    def show_transcript(self) -> None:
        """There is something to read."""
        self._middle.setCurrentIndex(1)

    def show_error(self, error: SophosError) -> None:
        """Say what went wrong and what to do."""
        self.error_banner.show_message(error.title, error.advice, str(error.code))

    def withdraw_error(self, error: SophosError) -> None:
        """It is settled; another one that is shown stays."""
        shown = self.error_banner
        if (shown.title, shown.code) == (error.title, str(error.code)):
            shown.hide()

    def show_notice(self, text: str) -> None:
        """Add a notice; the same one is said once."""
        if text not in self._notices:
            self._notices.append(text)
        self.notice_bar.show_message("", "\n".join(self._notices[-3:]))

    def withdraw_notice(self, text: str) -> None:
        """It is true no longer."""
        if text in self._notices:
            self._notices.remove(text)
            if self._notices:
                self.notice_bar.show_message("", "\n".join(self._notices[-3:]))
            else:
                self.notice_bar.hide()

    def clear_messages(self) -> None:
        """Another conversation or a new run: what was said is past."""
        self._notices.clear()
        for banner in (self.error_banner, self.notice_bar, self.waiting_question, self.resume_banner):
            banner.hide()

    def show_waiting(self, *, is_waiting: bool) -> None:
        """Say in the composer what becomes of a message while calls wait for a decision."""
        self.composer_frame.show_waiting(is_waiting=is_waiting)
        if not is_waiting:
            self.waiting_question.hide()

    def show_running(self, *, is_running: bool, can_send: bool, can_stop: bool) -> None:
        """Set the two buttons; Stop takes the place of Send while a run is active."""
        self.composer_frame.show_running(is_running=is_running, can_send=can_send, can_stop=can_stop)

    def _on_sizes_changed(self) -> None:
        self._fit_column()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep banners and composer in the column of the text."""
        super().resizeEvent(event)
        self._fit_column()

    def _fit_column(self) -> None:
        room = self.width() - SCROLL_BAR_ROOM  # the transcript's bar stands beside the column
        measures = self.theme.tokens.measures
        column = max(200, min(measures.column_width, room - measures.column_margin))
        left = max(0, (room - column) // 2)
        right = max(SCROLL_BAR_ROOM, self.width() - left - column)
        self._below.setContentsMargins(left, 4, right, 12)
        self.composer_frame.fit(column)
