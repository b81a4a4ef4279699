"""Folds what the bridge tells of the open conversation's run into the transcript.

Invariant: an event of another conversation changes nothing here; each event shows at most one change. The
pieces of an answer come once a frame, and cost what is new.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.conversation import Message
from sophos_desktop.core.domain.events import MessageStored, RunEvent, ToolCallFinished, ToolCallStarted
from sophos_desktop.foundation.clock import from_text
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.event_bridge import EventBridge


class LiveRun(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self,
        view: ChatView,
        bridge: EventBridge,
        items: TranscriptItems,
        open_conversation: Callable[[], str | None],
        parent: QObject,
    ) -> None:
        """`open_conversation` gives the id of the one on the screen."""
        super().__init__(parent)
        self._transcript = view.transcript
        self._items = items
        self._open_conversation = open_conversation
        bridge.message_grew.connect(self._on_message_grew)
        bridge.stored.connect(self._on_stored)

    def settle(self) -> None:
        """The sitting is over: nothing grows any more."""
        self._items.settle()
        self._transcript.show_items(self._items.items)

    def _on_message_grew(self, conversation_id: str, message: Message) -> None:
        if conversation_id == self._open_conversation():
            item = self._items.grow(message)
            if not self._transcript.grow(item):
                self._transcript.show_items(self._items.items)

    def _on_stored(self, conversation_id: str, told: RunEvent) -> None:
        if conversation_id != self._open_conversation():
            return
        event = told.event
        if isinstance(event, ToolCallStarted):
            self._items.start_tool(event, _seconds_since(told.at))
        elif isinstance(event, ToolCallFinished):
            self._items.finish_tool(event)
        elif isinstance(event, MessageStored):
            self._items.store(event.message)
        self._items.take(told)
        self._transcript.show_items(self._items.items)


def _seconds_since(at: str) -> float:
    """How long ago an event was told: a run that is followed late began before."""
    return max(0.0, (datetime.now(UTC) - from_text(at)).total_seconds())
