"""The message that waits: queued while a run is active or waits, sent when the run has completed.

Invariant: the text is in the core's queue, in the composer, or in both for a moment, and never in neither;
a run that failed or was stopped sends nothing by itself.
"""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.chat.cards.card_words import waiting_words
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.drafts import DraftKeeper, joined
from sophos_desktop.shell.chat.send_flow import SendFlow
from sophos_desktop.shell.chat.sent_texts import without_sent
from sophos_desktop.shell.facade import Core, RunHandle

# Sent or taken back meanwhile, or not its turn any more: the queue says what is true.
_NOT_ITS_TURN = (ErrorCode.NOT_FOUND, ErrorCode.SESSION_IN_PROGRESS, ErrorCode.APPROVAL_PENDING)


class QueueFlow(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self,
        view: ChatView,
        owner: TaskOwner,
        core: Callable[[], Core],
        sender: SendFlow,
        drafts: DraftKeeper,
        open_conversation: Callable[[], str | None],
        reload: Callable[[str], Awaitable[None]],
        parent: QObject,
    ) -> None:
        """`core` gives the open core or raises; `reload` shows a conversation as it is stored."""
        super().__init__(parent)
        self._view = view
        self._bar = view.queued
        self._question = view.waiting_question
        self._owner = owner
        self._core = core
        self._sender = sender
        self._drafts = drafts
        self._open_conversation = open_conversation
        self._reload = reload
        self._can_send = False
        self._is_taking = False
        connect_async(view.wait_button.clicked, self._on_wait, owner, "queue message")
        connect_async(view.deny_all_button.clicked, self._on_deny_all, owner, "deny all and send")
        connect_async(sender.began, self._on_began, owner, "look at the queue")
        connect_async(self._bar.edit_wanted, self._on_edit, owner, "edit queued message")
        connect_async(self._bar.remove_wanted, self._on_remove, owner, "remove queued message")
        connect_async(self._bar.send_wanted, self._on_send_now, owner, "send queued message")

    def show(self, text: str | None) -> None:
        """The open conversation's queued message, or none."""
        self._bar.show_text(text or "", can_send=self._can_send)

    def set_can_send(self, *, can_send: bool) -> None:
        """Whether the queued message could go now."""
        if can_send != self._can_send:
            self._can_send = can_send
            self._bar.show_text(self._bar.text, can_send=can_send)

    def _typed(self) -> tuple[str | None, str]:
        target, typed = self._open_conversation(), self._view.composer.text
        return (target, typed) if typed.strip() and not self._sender.is_sending(target) else (None, "")

    # While calls wait for a decision

    def ask(self, count: int) -> None:
        """Ask what is to become of the message that was typed while `count` calls wait."""
        self._question.show_message(waiting_words(count))

    def forget_question(self) -> None:
        """Nothing is asked any more."""
        self._question.hide()

    async def _on_wait(self, _checked: object = None) -> None:
        self._question.hide()
        target, typed = self._typed()
        if target is not None:
            await self.put(target, typed)
        self._view.composer.setFocus()

    async def _on_deny_all(self, _checked: object = None) -> None:
        self._question.hide()
        target, typed = self._typed()
        if target is None:
            return
        try:
            queued = await self._core().queue.get(target)
        except SophosError as error:
            self._view.show_error(error)
            return
        text = _both(queued, typed)
        self._sender.send(target, typed, lambda: self._deny_all_and_send(target, text, queued), text)
        self._view.composer.setFocus()

    async def _deny_all_and_send(self, target: str, text: str, queued: str | None) -> RunHandle:
        """If it cannot be sent the composer keeps what was typed, and the queue what it held."""
        queue = self._core().queue
        try:
            return await queue.deny_all_and_send(target, text)
        except SophosError:
            if queued is None:
                await queue.remove(target)
            else:
                await queue.put(target, queued)
            await self._reload(target)
            raise

    # The queue

    async def put(self, target: str, typed: str) -> None:
        """Queue what the composer holds, after what waits already."""

        async def keep() -> None:
            queue = self._core().queue
            await queue.put(target, _both(await queue.get(target), typed))

        if await self._sender.set_aside(target, typed, keep):
            await self._refresh(target)
            await self.send_if_due(target)  # the run may have completed while this was written

    async def _refresh(self, target: str) -> None:
        try:
            text = await self._core().queue.get(target)
        except SophosError:
            return  # the next look at the conversation says it
        if target == self._open_conversation():
            self.show(text)

    async def _on_began(self, handle: RunHandle, _text: str) -> None:
        await self._refresh(handle.conversation_id)

    async def send_if_due(self, target: str) -> None:
        """Send the queued message if the conversation's last run has completed."""
        try:
            core = self._core()
            if core.runs.active(target) is None:
                await self.run_ended(await core.conversations.find(target))
        except SophosError:
            return  # it stays queued

    async def run_ended(self, conversation: Conversation) -> None:
        """A run of this process is over; the message goes if it completed."""
        run, target = conversation.last_run, conversation.id
        if run is None or run.status is not RunStatus.COMPLETED or self._is_taking:
            return
        try:
            text = await self._core().queue.get(target)
            if text is not None and not self._is_taking:
                await self._send(target, text)
        except SophosError as error:
            if error.code not in _NOT_ITS_TURN:
                self._view.show_error(error)

    async def _send(self, target: str, text: str) -> None:
        await self._sender.send_queued(target, text, lambda: self._core().queue.send(target))
        await self._refresh(target)

    async def _on_send_now(self) -> None:
        target, text = self._open_conversation(), self._bar.text
        if target is None or not text:
            return
        try:
            await self._send(target, text)
        except SophosError as error:
            await self._reload(target)
            self._view.show_error(error)

    async def _on_edit(self) -> None:
        """Into the composer and its draft first, then out of the queue."""
        target, text = self._open_conversation(), self._bar.text
        if target is None or not text or self._is_taking:
            return
        self._is_taking = True
        composer = self._view.composer
        try:
            composer.set_text(joined(text, composer.text))
            self._drafts.edited(target, composer.text)
            await self._drafts.flush()
            was_queued = await self._core().queue.remove(target)
        except SophosError as error:
            self._view.show_error(error)
            return
        finally:
            self._is_taking = False
        if not was_queued and target == self._open_conversation():
            composer.set_text(without_sent(composer.text, text))  # it was sent meanwhile
            self._drafts.edited(target, composer.text)
        await self._refresh(target)
        composer.setFocus()

    async def _on_remove(self) -> None:
        target = self._open_conversation()
        if target is None:
            return
        try:
            await self._core().queue.remove(target)
        except SophosError as error:
            self._view.show_error(error)
        await self._refresh(target)


def _both(queued: str | None, typed: str) -> str:
    """What waits and what comes after it, in one message."""
    return f"{queued}\n\n{typed}" if queued else typed
