"""The message that waits: queued while a run is active or waits, sent when the run has completed.

Invariant: the text, and what is attached to it, is in the core's queue, in the composer, or in both for a
moment, and never in neither; a run that failed or was stopped sends nothing by itself. A person takes back,
edits or sends only what the bar shows: another window may have queued something else meanwhile.
"""

from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.conversation import AttachmentRef, Conversation
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.queued import NOTHING, Queued
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.chat.cards.card_words import waiting_words
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.composing.attach_flow import AttachFlow
from sophos_desktop.shell.chat.drafts import DraftKeeper
from sophos_desktop.shell.chat.send_flow import SendFlow
from sophos_desktop.shell.chat.sent_texts import without_sent
from sophos_desktop.shell.facade import Core, RunHandle

CHANGED = "The queued message was changed in another window. This is what it says now."
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
        attached: AttachFlow,
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
        self._attached = attached
        self._open_conversation = open_conversation
        self._reload = reload
        self._can_send = False
        self._is_taking = False
        self._looks = 0
        view.composer.edited.connect(self._on_edited)
        connect_async(view.wait_button.clicked, self._on_wait, owner, "queue message")
        connect_async(view.deny_all_button.clicked, self._on_deny_all, owner, "deny all and send")
        connect_async(sender.began, self._on_began, owner, "look at the queue")
        connect_async(self._bar.edit_wanted, self._on_edit, owner, "edit queued message")
        connect_async(self._bar.remove_wanted, self._on_remove, owner, "remove queued message")
        connect_async(self._bar.send_wanted, self._on_send_now, owner, "send queued message")

    def show(self, waits: Queued) -> None:
        """The open conversation's queued message, or none."""
        self._looks += 1
        self._bar.show_message(waits, can_send=self._can_send)

    def set_can_send(self, *, can_send: bool) -> None:
        """Whether the queued message could go now."""
        if can_send != self._can_send:
            self._can_send = can_send
            self._bar.show_message(self._bar.shown, can_send=can_send)

    def _typed(self) -> tuple[str, str, Sequence[AttachmentRef]] | None:
        """The open conversation with what its composer holds; None if there is nothing to send."""
        target, typed, given = self._open_conversation(), self._view.composer.text, self._attached.held
        if target is None or self._sender.is_sending(target) or not (typed.strip() or given):
            return None
        return target, typed, given

    # While calls wait for a decision

    def ask(self, count: int, allowed: int = 0) -> None:
        """Ask what is to become of the message that was typed while `count` calls wait. `allowed`: those of
        the turn that were allowed, which run with the others or not at all."""
        self._question.show_message(waiting_words(count), _lost_words(allowed))

    def forget_question(self) -> None:
        """Nothing is asked any more."""
        self._question.hide()

    def take_question_back(self) -> bool:
        """Leave the question, if it is open, and the message in the composer; says whether it was."""
        is_open = self._question.isVisible()
        if is_open:
            self._question.hide()
            self._view.composer.setFocus()
        return is_open

    def _on_edited(self, text: str) -> None:
        """Of a message that is not there any more nothing is asked."""
        if not text.strip() and not self._attached.held:
            self.forget_question()

    async def _on_wait(self, _checked: object = None) -> None:
        self._question.hide()
        if (held := self._typed()) is not None:
            await self.put(*held)
        self._view.composer.setFocus()

    async def _on_deny_all(self, _checked: object = None) -> None:
        self._question.hide()
        held = self._typed()
        if held is None:
            return
        target, typed, given = held
        try:
            queued = await self._core().queue.waiting(target)
        except SophosError as error:
            self._view.show_error(error)
            return
        text = _both(queued.text, typed)

        async def begin() -> RunHandle:
            """If it cannot be sent the composer keeps what was typed, and the queue what it held."""
            queue = self._core().queue
            try:
                return await queue.deny_all_and_send(target, text, given)
            except SophosError:
                tried = Queued(text, (*queued.attachments, *given))
                if await queue.remove(target, to_draft=True, seen=tried) and queued.text is not None:
                    await queue.put(target, queued.text, queued.attachments, seen=NOTHING)
                await self._reload(target)
                raise

        self._sender.send(target, typed, given, begin, text)
        self._view.composer.setFocus()

    # The queue

    async def put(self, target: str, typed: str, given: Sequence[AttachmentRef]) -> None:
        """Queue what the composer holds, after what waits already."""

        async def keep() -> None:
            await self._core().queue.add(target, typed, given)

        if await self._sender.set_aside(target, typed, given, keep):
            await self._refresh(target)
            await self.send_if_due(target)  # the run may have completed while this was written

    async def follow(self) -> None:
        """The file changed: show what waits in the open conversation now."""
        target = self._open_conversation()
        if target is not None:
            await self._refresh(target)

    async def _refresh(self, target: str) -> None:
        self._looks += 1
        look = self._looks
        try:
            waits = await self._core().queue.waiting(target)
        except SophosError:
            return  # the next look at the conversation says it
        if target == self._open_conversation() and look == self._looks and waits != self._bar.shown:
            self.show(waits)

    async def _say_changed(self, target: str) -> None:
        """It was not what the bar showed: show what waits, and say that, unless nothing does."""
        await self._refresh(target)
        if target == self._open_conversation() and self._bar.shown != NOTHING:
            self._view.show_notice(CHANGED)

    async def _on_began(self, handle: RunHandle, _text: str, _given: object) -> None:
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
            waits = await self._core().queue.waiting(target)
            if waits.text is not None and not self._is_taking:
                await self._send(target, waits)
        except SophosError as error:
            if error.code not in _NOT_ITS_TURN:
                self._view.show_error(error)

    async def _send(self, target: str, waits: Queued) -> None:
        queue = self._core().queue
        await self._sender.send_queued(target, waits.text or "", lambda: queue.send(target, seen=waits))
        await self._refresh(target)

    async def _on_send_now(self) -> None:
        target, shown = self._open_conversation(), self._bar.shown
        if target is None or shown == NOTHING:
            return
        try:
            await self._send(target, shown)
        except SophosError as error:
            await self._reload(target)
            if error.code is ErrorCode.NOT_FOUND and self._bar.shown not in (NOTHING, shown):
                self._view.show_notice(CHANGED)
            else:
                self._view.show_error(error)

    async def _on_edit(self) -> None:
        """Into the composer and its draft first, then out of the queue."""
        target, shown = self._open_conversation(), self._bar.shown
        text = shown.text
        if target is None or text is None or self._is_taking:
            return
        self._is_taking = True
        composer = self._view.composer
        try:
            composer.set_text(text if composer.text == text else _both(text, composer.text))
            self._drafts.edited(target, composer.text)
            await self._drafts.flush()
            was_queued = await self._core().queue.remove(target, to_draft=True, seen=shown)
        except SophosError as error:
            self._view.show_error(error)
            return
        finally:
            self._is_taking = False
        if not was_queued and target == self._open_conversation():
            composer.set_text(without_sent(composer.text, text))  # it was sent, or changed, meanwhile
            self._drafts.edited(target, composer.text)
        await self._attached.reload(target)
        if was_queued:
            await self._refresh(target)
        else:
            await self._say_changed(target)
        composer.setFocus()

    async def _on_remove(self) -> None:
        target, shown = self._open_conversation(), self._bar.shown
        if target is None or shown == NOTHING:
            return
        try:
            was_removed = await self._core().queue.remove(target, seen=shown)
        except SophosError as error:
            self._view.show_error(error)
            was_removed = True
        if was_removed:
            await self._refresh(target)
        else:
            await self._say_changed(target)


def _lost_words(allowed: int) -> str:
    if not allowed:
        return ""
    count = "1 call" if allowed == 1 else f"{allowed} calls"
    return f"If you deny all, {count} that you allowed will not be made either."


def _both(queued: str | None, typed: str) -> str:
    """What waits and what comes after it, in one message."""
    return "\n\n".join(text for text in (queued, typed) if text and text.strip())
