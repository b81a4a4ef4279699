"""Sends messages: those of the composer, and those that waited for their turn.

Invariant: text and chips leave the composer only after the core said that they are safe; at most one message
of a conversation is on its way at a time.
"""

from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import QObject, Signal

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.composing.attach_flow import AttachFlow
from sophos_desktop.shell.chat.drafts import DraftKeeper, joined
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.chat.other_draft import OtherDraft
from sophos_desktop.shell.chat.sent_texts import SentTexts, without_sent
from sophos_desktop.shell.facade import RunHandle

Begin = Callable[[], Awaitable[RunHandle]]


class SendFlow(QObject):
    """Lives as long as its window, on the GUI thread."""

    changed = Signal()  # what `is_sending` says, or what the composer holds
    began = Signal(object, str, object)  # RunHandle of the open conversation, its text, what is attached
    failed = Signal(object)  # SophosError; the text is still where it was

    def __init__(
        self,
        view: ChatView,
        owner: TaskOwner,
        drafts: DraftKeeper,
        attached: AttachFlow,
        items: TranscriptItems,
        open_conversation: Callable[[], str | None],
        parent: QObject,
    ) -> None:
        """`items` show the open conversation, whose id `open_conversation` gives."""
        super().__init__(parent)
        self._view = view
        self._owner = owner
        self._drafts = drafts
        self._attached = attached
        self._items = items
        self._open_conversation = open_conversation
        self._sending: set[str | None] = set()
        self._sent = SentTexts()
        self.other_draft = OtherDraft(view, drafts, open_conversation, self)
        self.other_draft.changed.connect(self.changed)

    @property
    def is_idle(self) -> bool:
        """True if nothing is on its way."""
        return not self._sending

    def is_sending(self, conversation_id: str | None) -> bool:
        """True while a message of that conversation is on its way."""
        return conversation_id in self._sending

    def send(
        self,
        target: str | None,
        typed: str,
        given: Sequence[AttachmentRef],
        begin: Begin,
        text: str | None = None,
    ) -> None:
        """Send what the composer holds by `begin`, `given` attached; `text` if more than `typed` is sent."""
        self._hold_back(target)
        self._owner.spawn(self._send(target, typed, given, begin, text or typed), "send")

    async def _send(
        self, target: str | None, typed: str, given: Sequence[AttachmentRef], begin: Begin, text: str
    ) -> None:
        try:
            # The claim empties the draft: what is written of it later would bring back what was sent.
            await self._drafts.settle(target)
            handle = await begin()
        except SophosError as error:
            self._say(target, error)
            return
        finally:
            self._let_go(target)
        was_edited = self._drafts.was_edited(target)
        if target is None:
            self._drafts.edited(None, "")
        if self._open_conversation() == target:
            rest = self._take_from_composer(typed)
            if rest or (was_edited and target is not None):
                self._drafts.edited(handle.conversation_id, rest)
            self._attached.sent(target, handle.conversation_id, given)
            self._follow(handle, text, given)
        else:
            self._attached.sent(target, handle.conversation_id, given)
        await self._drafts.flush()

    async def send_queued(self, target: str, text: str, begin: Begin) -> None:
        """Send a message that waited; the composer keeps what it holds. Raises SophosError."""
        if target in self._sending:
            return
        self._hold_back(target)
        try:
            handle = await begin()
        finally:
            self._let_go(target)
        if self._open_conversation() == target:
            if self._view.composer.text:
                # The claim may have taken the draft for the beginning of what was sent.
                self._drafts.edited(target, self._view.composer.text)
            self._follow(handle, text)

    async def set_aside(
        self,
        target: str,
        typed: str,
        given: Sequence[AttachmentRef],
        keep: Callable[[], Awaitable[object]],
    ) -> bool:
        """Let `keep` take what the composer holds. False if it could not; that was said then."""
        self._hold_back(target)
        try:
            await self._drafts.settle(target)
            await keep()
        except SophosError as error:
            self._say(target, error)
            return False
        finally:
            self._let_go(target)
        if self._open_conversation() == target:
            self._drafts.edited(target, self._take_from_composer(typed))
            self._attached.sent(target, target, given)
        else:
            self._drafts.edited(target, "")
        await self._drafts.flush()
        return True

    def _hold_back(self, target: str | None) -> None:
        self._sending.add(target)
        self._attached.hold_back(target)
        self.changed.emit()

    def _let_go(self, target: str | None) -> None:
        self._sending.discard(target)
        self._attached.let_go(target)
        self.changed.emit()

    def _say(self, target: str | None, error: SophosError) -> None:
        if self._open_conversation() == target:
            self._view.show_error(error)
        self.failed.emit(error)

    def _take_from_composer(self, text: str) -> str:
        rest = without_sent(self._view.composer.text, text)
        self._view.composer.set_text(rest)
        return rest

    def _follow(self, handle: RunHandle, text: str, given: Sequence[AttachmentRef] = ()) -> None:
        self._sent.remember(handle.conversation_id, text, self._items)
        self.began.emit(handle, text, given)

    async def take_back(self, conversation_id: str) -> None:
        """Put a text that never reached the thread back, before what was typed since. Raises SophosError."""
        text = self._sent.take_back(conversation_id, self._items)
        if not text and not self._view.composer.text:
            text = await self._drafts.draft(conversation_id)
        if text:
            await self._drafts.handed_back(conversation_id, text)
        typed = self._view.composer.text
        if text and text not in typed and conversation_id == self._open_conversation():
            self._view.composer.set_text(joined(text, typed))
            self._drafts.edited(conversation_id, self._view.composer.text)

    async def change_draft(self, conversation_id: str | None) -> str:
        """Write what is not written of the draft before; gives that of another conversation."""
        try:
            await self._drafts.flush()
            return await self._drafts.draft(conversation_id)
        except SophosError as error:
            self._view.show_error(error)  # the drafts stay in memory and are tried again
            return ""

    def show_draft(self, conversation_id: str | None, draft: str) -> None:
        """Put a kept draft before what was typed until it came."""
        typed = self._view.composer.text
        self._view.composer.set_text(joined(draft, typed))
        if typed:
            self._drafts.edited(conversation_id, self._view.composer.text)
        self.other_draft.opened()
