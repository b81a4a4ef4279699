"""What becomes of what the composer holds when it is to be sent: a run, the queue, or a question.

Invariant: it takes exactly what is shown; what is still read is waited for, and nothing is sent without it.
"""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.composing.attach_flow import AttachFlow
from sophos_desktop.shell.chat.decision_flow import DecisionFlow
from sophos_desktop.shell.chat.item_kinds import ToolItem, UserItem
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.chat.queue_flow import QueueFlow
from sophos_desktop.shell.chat.send_flow import SendFlow
from sophos_desktop.shell.facade import RunHandle

THE_REST_WORDS = "Please continue."


class Situation(Protocol):
    """What the open conversation is about, as the presenter knows it."""

    @property
    def conversation_id(self) -> str | None:
        """The open conversation; None is a new chat."""

    @property
    def is_running(self) -> bool:
        """True while a run of this process works there."""

    @property
    def may_send(self) -> bool:
        """True if nothing is loaded or on its way there."""

    async def begin(self, target: str | None, text: str, given: Sequence[AttachmentRef]) -> RunHandle:
        """Start a run. Raises SophosError."""


class Outgoing(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self,
        view: ChatView,
        owner: TaskOwner,
        flows: tuple[SendFlow, QueueFlow, AttachFlow, DecisionFlow],
        items: TranscriptItems,
        situation: Situation,
        parent: QObject,
    ) -> None:
        """`items` show the open conversation."""
        super().__init__(parent)
        self._view = view
        self._composer = view.composer
        self._owner = owner
        self._sender, self._queue, self._attached, self._questions = flows
        self._items = items
        self._situation = situation
        self._is_wanted = False
        self._wanted_in: str | None = None  # where to send once everything is read
        self._attached.changed.connect(self._on_attached)
        self._attached.refused.connect(self.forget)
        self._composer.recall_requested.connect(self._recall)

    @property
    def can_send(self) -> bool:
        """True if there is something to send and nothing is on its way."""
        holds = self._attached.held or self._attached.is_reading(self._situation.conversation_id)
        return self._situation.may_send and bool(holds or self._composer.text.strip())

    def send(self) -> None:
        """While a run is active the message is queued; while calls wait for a decision it is asked what is to
        become of it."""
        situation = self._situation
        text, given, target = self._composer.text, self._attached.held, situation.conversation_id
        self.forget()
        if not self.can_send:
            return
        if self._attached.is_reading(target):
            self._is_wanted, self._wanted_in = True, target
        elif target is not None and self._questions.is_waiting:
            self._queue.ask(self._questions.undecided, self._allowed)
        elif target is not None and situation.is_running:
            self._owner.spawn(self._queue.put(target, text, given), "queue message")
        else:
            self._sender.send(target, text, given, lambda: situation.begin(target, text, given))

    def ask_for_the_rest(self) -> None:
        """The last answer was cut by its length: say what a person would type. What the composer holds stays
        there."""
        situation = self._situation
        target = situation.conversation_id
        is_busy = situation.is_running or self._questions.is_waiting or not situation.may_send
        if target is not None and not is_busy:
            self._owner.spawn(self._ask_for_the_rest(target), "ask for the rest")

    async def _ask_for_the_rest(self, target: str) -> None:
        try:
            await self._sender.send_queued(
                target, THE_REST_WORDS, lambda: self._situation.begin(target, THE_REST_WORDS, ())
            )
        except SophosError as error:
            if self._situation.conversation_id == target:
                self._view.show_error(error)

    @property
    def _allowed(self) -> int:
        """How many calls were allowed, or are to be made again, and were not made yet."""
        calls = (item for item in self._items.items if isinstance(item, ToolItem))
        return sum(item.status in ("allowed", "again") for item in calls)

    def forget(self) -> None:
        """What was to be sent once everything is read is not any more."""
        self._is_wanted = False

    def _on_attached(self) -> None:
        target = self._situation.conversation_id
        if not self._is_wanted or self._attached.is_reading(target):
            return
        if self._wanted_in == target:
            self.send()
        self.forget()

    def _recall(self) -> None:
        """The last message of the person, to be sent again or corrected."""
        said = [item.text for item in self._items.items if isinstance(item, UserItem)]
        if said:
            self._composer.recall(said[-1])
