"""Joins the open conversation's view to the core: opens, sends, follows, stops, resumes.

Invariant: whatever arrives for a conversation that is no longer open changes nothing on the screen. What is
sent and queued, and what is decided, is `send_flow`'s, `queue_flow`'s and `decision_flow`'s.
"""

import asyncio
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.events import SittingEnded
from sophos_desktop.core.domain.queued import NOTHING
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.composing.attach_flow import AttachFlow
from sophos_desktop.shell.chat.decision_flow import DecisionFlow
from sophos_desktop.shell.chat.drafts import DraftKeeper
from sophos_desktop.shell.chat.foreign_runs import FOREIGN_NOTICE, ForeignRuns
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.chat.kept_state import KeptState
from sophos_desktop.shell.chat.live_run import LiveRun
from sophos_desktop.shell.chat.outcome import show_stored
from sophos_desktop.shell.chat.outgoing import Outgoing
from sophos_desktop.shell.chat.queue_flow import QueueFlow
from sophos_desktop.shell.chat.run_commands import RunCommands
from sophos_desktop.shell.chat.run_endings import RunEndings
from sophos_desktop.shell.chat.send_flow import SendFlow
from sophos_desktop.shell.chat.shown_facts import ShownFacts
from sophos_desktop.shell.chat.stored_conversation import read_conversation
from sophos_desktop.shell.chat.waiting_notice import WaitingNotice
from sophos_desktop.shell.event_bridge import EventBridge
from sophos_desktop.shell.facade import Core, RunHandle
from sophos_desktop.shell.theme.icons import Mark, icon


class ChatPresenter(QObject):
    """Lives as long as its window, on the GUI thread; works once `attach` was awaited."""

    state_changed = Signal()
    conversation_changed = Signal(object)  # id, or None for a new chat
    opened = Signal(object)  # the id whose messages are on the screen now, or None
    send_failed = Signal(object)  # SophosError; the text is still in the composer
    run_ended = Signal(str, object)  # conversation id, SittingEnded; the view is up to date

    def __init__(self, view: ChatView, bridge: EventBridge, owner: TaskOwner, parent: QObject) -> None:
        """Shows nothing before `attach`; what is typed and sent until then waits."""
        super().__init__(parent)
        self._view = view
        self._bridge = bridge
        self._owner = owner
        self._core: Core | None = None
        self._ready = asyncio.Event()
        self._refusal = SophosError(ErrorCode.STORE_UNREACHABLE, "Sophos is closing", "Start it again")
        self._drafts = DraftKeeper(owner, self)
        self._items = items = TranscriptItems()
        current, opened = self._current, self._open_core
        self._live = LiveRun(view, bridge, items, current, self)
        self._facts = ShownFacts(view, owner, items, lambda: self._core, current, self)
        self._questions = DecisionFlow(view, owner, items, opened, self._reload, self._go_on, self)
        self._foreign = ForeignRuns(owner, self._idle_conversation, self)
        self._commands = RunCommands(owner, opened, self._foreign, self._reload, self._go_on)
        frame, drafts = view.composer_frame, self._drafts
        self._attached = attached = AttachFlow(frame, owner, self._when_open, view, self)
        self.kept = KeptState(owner, drafts, attached)
        self._sender = sender = SendFlow(view, owner, drafts, attached, items, current, self)
        self._queue = QueueFlow(view, owner, opened, sender, drafts, attached, current, self._reload, self)
        flows = (sender, self._queue, attached, self._questions)
        self._outgoing = Outgoing(view, owner, flows, items, self, self)
        self._endings = RunEndings(owner, self)
        mark = icon(Mark.WAITING, view.theme, "warning")
        self.notice = WaitingNotice(view.window(), mark, self.open, self)
        self._conversation_id: str | None = None
        self._generation = 0
        self._followed: RunHandle | None = None
        self._is_restoring = True  # what the composer holds was typed, and the kept draft comes before it
        self._is_loading = self._is_closed = False
        self._unsubscribe: Callable[[], None] = lambda: None
        view.send_requested.connect(self.send)
        view.stop_requested.connect(self.stop)
        view.resume_requested.connect(self.resume)
        for own in (view.deny_all_button.clicked, view.queued.send_wanted):
            own.connect(lambda *_what: view.transcript.come_to_end())
        view.transcript.continue_wanted.connect(self.resume)
        view.transcript.rest_wanted.connect(self._outgoing.ask_for_the_rest)
        view.composer.edited.connect(self._on_edited)
        attached.changed.connect(self._update)
        bridge.ended.connect(self._on_ended)
        self._foreign.appeared.connect(self._on_foreign_run)
        self._sender.changed.connect(self._update)
        self._sender.began.connect(self._on_began)
        self._sender.failed.connect(self.send_failed)
        self._endings.ended.connect(self.notice.run_ended)
        connect_async(self._endings.ended, self._queue.run_ended, owner, "send queued message")
        connect_async(self._foreign.changed, self._reload, owner, "show what another process did")
        connect_async(self._foreign.file_changed, self._queue.follow, owner, "show what is queued")
        connect_async(self._foreign.file_changed, sender.other_draft.follow, owner, "another's draft")
        self.conversation_changed.connect(self.kept.opened)
        self._update()

    @property
    def conversation_id(self) -> str | None:
        """The open conversation; None is a new chat."""
        return self._conversation_id

    def _current(self) -> str | None:
        return self._conversation_id

    @property
    def is_running(self) -> bool:
        """True while a run of this process works on the open conversation."""
        return self._bridge.following is not None

    @property
    def is_loading(self) -> bool:
        """True while another conversation's draft and messages are read."""
        return self._is_loading

    @property
    def can_resume(self) -> bool:
        """True if the open conversation has work left that nobody does."""
        return self._commands.is_resumable and not self.is_running and not self._is_closed

    @property
    def can_stop(self) -> bool:
        """True if there is a run to stop, one that waits too, that was not told to."""
        is_active = self.is_running or self._questions.is_waiting
        return is_active and not self._commands.is_stopping and not self._is_closed

    # Opening and closing

    async def attach(self, core: Core) -> None:
        """The core is open: show what was open last, unless something was typed meanwhile."""
        self._core = core
        self._unsubscribe = core.runs.subscribe(self._on_run_changed)
        self._foreign.attach(core)
        self._endings.attach(core)
        try:
            self.kept.attach(core.conversations)
            last = await self.kept.last_open()
            is_free = not self._view.composer.text and not self._attached.is_reading(None)
            is_idle = is_free and self._sender.is_idle
            await self._show(last if is_idle else None)
        except SophosError as error:
            self._is_restoring = False
            self._drafts.edited(self._conversation_id, self._view.composer.text)
            self._view.show_error(error)
        finally:
            self._ready.set()
            self._update()
        for notice in core.notices:
            self._view.show_notice(notice.text)

    def fail_to_open(self, error: SophosError) -> None:
        """The core could not be opened: what was typed meanwhile stays where it can be read and copied."""
        self._refusal = error
        self.close("Nothing can be written while your conversations are not open")
        self.kept.refuse(error, lambda: bool(self._view.composer.text.strip()))
        self._ready.set()
        self._view.show_unopened()
        self._view.show_error(error)

    def close(self, why: str = "") -> None:
        """Take no more work; what was typed can still be saved. `why` stands where one would write."""
        self._is_closed = True
        self._view.composer_frame.close_for_work(why)
        self._update()

    def detach(self) -> None:
        """The core is about to close."""
        self._unsubscribe()
        self._foreign.detach()
        self._endings.detach()
        self._questions.detach()
        self._bridge.leave()
        self._core = None

    async def save(self) -> None:
        """Write drafts and which conversation is open; waits for a core that is still opening if something
        was typed. Raises SophosError of the store."""
        if self._core is None and not (self._view.composer.text or self._attached.is_reading(None)):
            return
        await self._ready.wait()
        if self._core is not None:
            await self.kept.save()

    def _open_core(self) -> Core:
        if self._core is None:
            raise self._refusal
        return self._core

    async def _when_open(self) -> Core:
        if self._core is None:
            await self._ready.wait()
        return self._open_core()

    # Switching

    def open(self, conversation_id: str | None) -> None:
        """Show another conversation, or a new chat."""
        if self._core is not None and conversation_id != self._conversation_id:
            self._owner.spawn(self._show(conversation_id), "open conversation")

    def forget(self, conversation_id: str) -> None:
        """A conversation was deleted."""
        self._drafts.forget(conversation_id)
        if conversation_id == self._conversation_id:
            self.open(None)

    async def _show(self, conversation_id: str | None) -> None:
        self._generation += 1
        generation = self._generation
        self._bridge.leave()
        if not self._is_restoring:  # else it was typed since, and belongs to what is opened last
            self._view.composer.set_text("")
        self._is_restoring = self._is_loading = True
        self._followed = None
        self._conversation_id = conversation_id
        self._commands.reset()
        self._view.clear_messages()
        self._questions.show(())
        self._queue.show(NOTHING)
        self._attached.clear(conversation_id)
        self.conversation_changed.emit(conversation_id)
        draft = await self._sender.change_draft(conversation_id)
        if generation != self._generation:
            return
        self._is_restoring = False
        self._sender.show_draft(conversation_id, draft)
        self._items.clear()
        if conversation_id is None:
            self._view.transcript.open_items([])
            self._view.show_empty()
            await self._attached.reload(None)
        else:
            await self._load(conversation_id, is_new=True)
        if generation == self._generation:
            self._is_loading = False
            self._update()
            self.opened.emit(conversation_id)

    async def _load(self, conversation_id: str, *, is_new: bool) -> None:
        """Read the conversation and show it as it is in the store."""
        core, generation = self._open_core(), self._generation
        try:
            stored = await read_conversation(core, conversation_id)
            await self._attached.reload(conversation_id)
        except SophosError as error:
            if generation == self._generation:
                await self._show_unreadable(error)
            return
        if generation != self._generation:
            return
        self._questions.show(stored.pending, conversation_id)
        self._queue.show(stored.queued)
        asked = list(self._questions.open)
        self._commands.is_resumable = show_stored(self._view, self._items, stored, asked, is_new=is_new)
        self._foreign.shows(stored.conversation)
        self._follow_active(conversation_id)
        self._foreign.look()
        self._update()

    async def _show_unreadable(self, error: SophosError) -> None:
        if error.code is ErrorCode.NOT_FOUND:
            await self._show(None)
        else:
            self._view.show_transcript()
            self._view.show_error(error)

    async def _reload(self, conversation_id: str, error: SophosError | None = None) -> None:
        if conversation_id == self._conversation_id:
            await self._load(conversation_id, is_new=False)
        if error is not None and conversation_id == self._conversation_id:
            self._view.show_error(error)

    # Sending and following

    def send(self) -> None:
        """Send what the composer holds; if the core is still opening, as soon as it is there."""
        self._outgoing.send()

    @property
    def may_send(self) -> bool:
        """True if nothing is loaded or on its way."""
        return not (self._is_closed or self._is_loading or self._sender.is_sending(self._conversation_id))

    async def begin(self, target: str | None, text: str, given: Sequence[AttachmentRef]) -> RunHandle:
        """Start a run once everything is open. Raises SophosError."""
        await self._ready.wait()
        handle = await self._open_core().runs.start(target, text, as_chosen=True, attachments=given)
        if target == self._conversation_id:
            self._view.transcript.come_to_end()
        return handle

    def _on_began(self, handle: RunHandle, text: str, given: Sequence[AttachmentRef]) -> None:
        """What was sent is safe, and its conversation is still open."""
        is_new = self._conversation_id is None
        self._conversation_id = handle.conversation_id
        if is_new:
            self.conversation_changed.emit(handle.conversation_id)
        self._items.expect(text, given)
        self._view.clear_messages()
        self._follow(handle)

    def _follow(self, handle: RunHandle) -> None:
        self._followed = handle
        self._commands.reset()
        self._questions.show(())
        self._view.resume_banner.hide()
        self._items.go_on()
        self._view.show_transcript()
        self._view.transcript.show_items(self._items.items)
        self._bridge.follow(handle)
        self._update()

    def _go_on(self, handle: RunHandle) -> None:
        if handle.conversation_id == self._conversation_id and not self.is_running:
            self._view.clear_messages()
            self._follow(handle)

    def _follow_active(self, conversation_id: str) -> None:
        """Follow a run that this window did not start, or that went on while another was open."""
        handle = self._open_core().runs.active(conversation_id)
        if handle is not None and handle is not self._followed and not self.is_running:
            self._follow(handle)

    def _idle_conversation(self) -> str | None:
        """The open conversation, if no run that is followed tells of it already."""
        is_busy = self.is_running or self._is_loading or self._sender.is_sending(self._conversation_id)
        return None if is_busy else self._conversation_id

    def _on_foreign_run(self, handle: RunHandle) -> None:
        is_new = self._followed is None or self._followed.run_id != handle.run_id or not self.is_running
        if handle.conversation_id == self._conversation_id and is_new:
            self._view.clear_messages()
            self._view.show_notice(FOREIGN_NOTICE)
            self._follow(handle)

    def _on_run_changed(self, conversation_id: str) -> None:
        is_mine = self._sender.is_sending(conversation_id)
        if self._core is None or conversation_id != self._conversation_id or is_mine:
            return
        self._follow_active(conversation_id)
        if self._questions.is_waiting and not self.is_running:
            self._owner.spawn(self._reload(conversation_id), "show that nothing waits")

    def _on_ended(self, conversation_id: str, ended: SittingEnded) -> None:
        if conversation_id == self._conversation_id:
            self._view.withdraw_notice(FOREIGN_NOTICE)
            self._live.settle()
            self._commands.is_stopping = False
            self._update()
            self._owner.spawn(self._settle(conversation_id, ended), "settle")

    async def _settle(self, conversation_id: str, ended: SittingEnded) -> None:
        """Show the conversation as it was recorded, with a text that never reached it in the composer."""
        if self._core is None:
            return
        generation = self._generation
        await self._load(conversation_id, is_new=False)
        if generation == self._generation:
            await self._sender.take_back(conversation_id)
        self._update()
        self.run_ended.emit(conversation_id, ended)

    # Stop and resume

    def stop(self) -> None:
        """Stop the open conversation's run; its end follows as an event. While it is asked what becomes of a
        message, Esc takes back that alone."""
        if self._queue.take_question_back():
            return
        if self._core is not None and self._conversation_id is not None and self.can_stop:
            self._commands.stop(self._conversation_id)
            self._update()

    def resume(self) -> None:
        """Go on with what is left."""
        if self.can_resume and self._conversation_id is not None:
            self._view.clear_messages()
            self._view.transcript.come_to_end()
            self._commands.resume(self._conversation_id)

    def _on_edited(self, text: str) -> None:
        if self._core is not None and not self._is_restoring:
            self._drafts.edited(self._conversation_id, text)
        self._update()

    def _update(self) -> None:
        is_waiting = self._questions.is_waiting and not self.is_running
        self._view.show_running(
            is_running=self.is_running, can_send=self._outgoing.can_send, can_stop=self.can_stop
        )
        self._view.show_waiting(is_waiting=is_waiting)
        is_idle = self._core is not None and self._idle_conversation() is not None
        self._queue.set_can_send(can_send=is_idle and not is_waiting and not self._is_closed)
        self.state_changed.emit()
