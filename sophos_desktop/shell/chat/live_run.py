"""Folds what the bridge tells of the open conversation's run into the transcript.

Invariant: an event of another conversation changes nothing here; each event shows at most one change.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.conversation import Message
from sophos_desktop.core.domain.events import Notice, Recovered, ToolCallFinished, ToolCallStarted
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
        self._view = view
        self._items = items
        self._open_conversation = open_conversation
        bridge.message_grew.connect(self._on_message_grew)
        bridge.message_stored.connect(self._on_message_stored)
        bridge.tool_started.connect(self._on_tool_started)
        bridge.tool_finished.connect(self._on_tool_finished)
        bridge.noticed.connect(self._on_noticed)
        bridge.recovered.connect(self._on_recovered)

    def _on_message_grew(self, conversation_id: str, message: Message) -> None:
        if conversation_id == self._open_conversation():
            self._items.grow(message)
            self._show()

    def _on_message_stored(self, conversation_id: str, message: Message) -> None:
        if conversation_id == self._open_conversation():
            self._items.store(message)
            self._show()

    def _on_tool_started(self, conversation_id: str, event: ToolCallStarted) -> None:
        if conversation_id == self._open_conversation():
            self._items.start_tool(event)
            self._show()

    def _on_tool_finished(self, conversation_id: str, event: ToolCallFinished) -> None:
        if conversation_id == self._open_conversation():
            self._items.finish_tool(event)
            self._show()

    def _on_noticed(self, conversation_id: str, notice: Notice) -> None:
        if conversation_id == self._open_conversation():
            self._view.show_notice(notice.text)

    def _on_recovered(self, conversation_id: str, recovered: Recovered) -> None:
        if conversation_id == self._open_conversation():
            self._view.show_notice(recovered.what)

    def _show(self) -> None:
        self._view.transcript.show_items(self._items.items)
