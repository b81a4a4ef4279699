"""Asks the person about calls that wait, and lets the run go on when all are answered.

Invariant: each card answers its own call, once, in any order; the run goes on when no question of it is left.
An answer that the core refuses changes nothing, and is said.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.clock import from_text
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.async_slots import connect_async
from sophos_desktop.shell.chat.call_statuses import (
    asked_together,
    is_unfinished,
    known_statuses,
    never_sent,
)
from sophos_desktop.shell.chat.cards.card import Answer
from sophos_desktop.shell.chat.cards.card_words import decided_status
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.items import TranscriptItems
from sophos_desktop.shell.facade import Core, PendingDecision, RunHandle


class DecisionFlow(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self,
        view: ChatView,
        owner: TaskOwner,
        items: TranscriptItems,
        core: Callable[[], Core],
        reload: Callable[[str, SophosError | None], Awaitable[None]],
        proceeded: Callable[[RunHandle], None],
        parent: QObject,
    ) -> None:
        """`items` are of the open conversation; `core` gives the open core or raises; `reload` shows a
        conversation as it is stored, with an error if there is one; `proceeded` gets the handle of a run that
        goes on."""
        super().__init__(parent)
        self._view = view
        self._cards = view.cards
        self._owner = owner
        self._items = items
        self._core = core
        self._reload = reload
        self._proceeded = proceeded
        self._proceeding: set[str] = set()
        self._shown: str | None = None  # the conversation whose calls are on the screen, if no run goes on
        self._unsubscribe: Callable[[], None] | None = None
        connect_async(self._cards.answered, self._decide, owner, "decide")
        connect_async(self._cards.check_wanted, self._check, owner, "check arguments")

    @property
    def is_waiting(self) -> bool:
        """True while a question is open."""
        return self._cards.undecided > 0

    @property
    def undecided(self) -> int:
        """How many questions are open."""
        return self._cards.undecided

    @property
    def open(self) -> Sequence[PendingDecision]:
        """The open questions: those that were shown and not decided since."""
        return self._cards.open

    def show(self, pending: Sequence[PendingDecision], conversation_id: str | None = None) -> None:
        """A card for each of these; none takes the cards away. `conversation_id`: what was just read, whose
        calls are to say what the journal knows of them."""
        self._shown = conversation_id
        before = {card.question.tool_call_id for card in self._cards.cards}
        self._cards.show_questions(pending)
        self._hear_of_servers(is_wanted=bool(pending))
        for question in pending:
            if question.why == "uncertain" and question.tool_call_id not in before:
                self._owner.spawn(self._find_beginning(question), "when the call began")
        if conversation_id is not None:
            self._owner.spawn(self._read_records(conversation_id), "what is known of calls")

    def detach(self) -> None:
        """The core is about to close."""
        self._hear_of_servers(is_wanted=False)

    def _hear_of_servers(self, *, is_wanted: bool) -> None:
        """After a restart the cards are there before the servers, whose schemas are known later."""
        if is_wanted and self._unsubscribe is None:
            self._unsubscribe = self._core().servers.subscribe(self._cards.check_again)
        elif not is_wanted and self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    # Looking

    async def _check(self, question: PendingDecision, args: Mapping[str, Any]) -> None:
        try:
            core = self._core()
        except SophosError:
            return  # the app is closing
        problem = await core.decisions.problem_with(question, args)
        is_known = question.input_schema is not None or any(
            tool.tool == question.tool
            for status in core.servers.statuses()
            if status.name == question.server
            for tool in status.tools
        )
        self._cards.show_verdict(question, args, problem, is_known=is_known)

    async def _find_beginning(self, question: PendingDecision) -> None:
        """The trace tells when a call was sent last; it may be of an earlier run."""
        try:
            self._cards.say_began(question, await _began(self._core(), question))
        except SophosError:
            return  # without its time the card says the same

    async def _read_records(self, conversation_id: str) -> None:
        """The journal alone knows what was decided before the window was closed, and what was sent and never
        came back."""
        if not any(is_unfinished(item) for item in self._items.items):
            return
        try:
            core = self._core()
            is_executing = await core.neighbours.executing(conversation_id) is not None
            records = await core.conversations.call_records(conversation_id)
            is_executing = is_executing or core.runs.active(conversation_id) is not None
        except SophosError:
            return  # the app is closing; without it the calls say that they wait
        if conversation_id != self._shown:
            return
        if not is_executing:
            unsent = () if self.open else never_sent(self._items.items, records)
            self._items.know(known_statuses(records), unsent)
            self._view.transcript.show_items(self._items.items)
        waiting = [question.tool_call_id for question in self.open]
        self._cards.say_places(asked_together(self._items.items, waiting, records))

    # Deciding

    async def _decide(self, question: PendingDecision, answer: Answer) -> None:
        conversation_id = question.conversation_id
        try:
            await self._core().decisions.decide(
                conversation_id,
                question.tool_call_id,
                answer.kind,
                args=answer.args,
                reason=answer.reason,
                result=answer.result,
                always=answer.always,
            )
        except SophosError as error:
            await self._refused(question, answer, error)
            return
        self._settle(question, answer)
        await self._go_on(conversation_id)

    def _settle(self, question: PendingDecision, answer: Answer) -> None:
        """The call's place says what was decided; the card gives its room up without a jump."""
        transcript, call_key = self._view.transcript, question.tool_call_id
        if question.conversation_id == self._cards.conversation_id:
            transcript.hold_still(call_key)
            self._items.decide(call_key, decided_status(answer.kind))
        self._cards.settle(question)
        if question.conversation_id == self._cards.conversation_id:
            transcript.show_items(self._items.items)

    async def _refused(self, question: PendingDecision, answer: Answer, error: SophosError) -> None:
        self._cards.unlock(question)
        if error.code is not ErrorCode.BAD_REQUEST:
            await self._reload(question.conversation_id, error)
        elif question.conversation_id == self._cards.conversation_id:
            self._view.show_error(error)
            if answer.args is not None:
                await self._check(question, answer.args)

    async def _go_on(self, conversation_id: str) -> None:
        """Let the run go on if nothing is left to decide."""
        if conversation_id in self._proceeding:
            return
        self._proceeding.add(conversation_id)
        try:
            core = self._core()
            if conversation_id == self._cards.conversation_id:
                is_left = self.is_waiting
            else:
                is_left = bool(await core.decisions.pending(conversation_id))
            if is_left:
                return
            handle = await core.runs.proceed(conversation_id)
        except SophosError as error:
            await self._reload(conversation_id, error)
            return
        finally:
            self._proceeding.discard(conversation_id)
        self._proceeded(handle)


async def _began(core: Core, question: PendingDecision) -> datetime | None:
    for run in reversed(await core.conversations.runs(question.conversation_id)):
        for event in reversed(await core.conversations.trace(run.id)):
            if event.get("type") == "tool_call" and event.get("tool_call_id") == question.tool_call_id:
                return from_text(str(event["at"]))
    return None
