"""Asks the person about calls that wait, and lets the run go on when all are answered.

Invariant: one question is on the screen at a time, and its buttons answer once.
"""

from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import QObject

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.ports import DecisionKind
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.chat_view import ChatView
from sophos_desktop.shell.chat.run_words import decision_sentences
from sophos_desktop.shell.facade import Core, PendingDecision, RunHandle

_KINDS: dict[str, DecisionKind] = {
    "run-again": "run-again",
    "skip": "skip",
    "allow": "allow",
    "deny": "deny",
}


class DecisionFlow(QObject):
    """Lives as long as its window, on the GUI thread."""

    def __init__(
        self,
        view: ChatView,
        owner: TaskOwner,
        core: Callable[[], Core],
        reload: Callable[[str, SophosError | None], Awaitable[None]],
        proceeded: Callable[[RunHandle], None],
        parent: QObject,
    ) -> None:
        """`core` gives the open core or raises; `reload` shows a conversation as it is stored, with an
        error if there is one; `proceeded` gets the handle of a run that goes on."""
        super().__init__(parent)
        self._view = view
        self._owner = owner
        self._core = core
        self._reload = reload
        self._proceeded = proceeded
        self._pending: tuple[PendingDecision, ...] = ()
        view.decided.connect(self._on_decided)

    @property
    def is_waiting(self) -> bool:
        """True while a question is open."""
        return bool(self._pending)

    def show(self, pending: Sequence[PendingDecision]) -> None:
        """Ask the first of these; none takes the question away."""
        self._pending = tuple(pending)
        if not self._pending:
            self._view.decision_banner.hide()
            return
        first = self._pending[0]
        title, text = decision_sentences(
            first.why, first.server, first.tool, first.args, remaining=len(self._pending)
        )
        self._view.show_decision(first.why, title, text)

    def _on_decided(self, kind: str) -> None:
        if self._pending:
            self._view.lock_decision()
            self._owner.spawn(self._decide(self._pending[0], _KINDS[kind]), "decide")

    async def _decide(self, question: PendingDecision, kind: DecisionKind) -> None:
        conversation_id = question.conversation_id
        try:
            core = self._core()
            await core.decisions.decide(conversation_id, question.tool_call_id, kind)
            if await core.decisions.pending(conversation_id):
                await self._reload(conversation_id, None)
                return
            handle = await core.runs.proceed(conversation_id)
        except SophosError as error:
            await self._reload(conversation_id, error)
            return
        self._proceeded(handle)
