"""Stops and resumes the run of a conversation.

Invariant: each is asked for once; what becomes of it is told by the run's events, or said as an error.
"""

from collections.abc import Awaitable, Callable

from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.foundation.tasks import TaskOwner
from sophos_desktop.shell.chat.foreign_runs import ForeignRuns
from sophos_desktop.shell.facade import Core, RunHandle


class RunCommands:
    """Lives as long as its window. `is_resumable`: work is left that nobody does; `is_stopping`: a stop was
    asked for."""

    def __init__(
        self,
        owner: TaskOwner,
        core: Callable[[], Core],
        foreign: ForeignRuns,
        reload: Callable[[str, SophosError | None], Awaitable[None]],
        proceeded: Callable[[RunHandle], None],
    ) -> None:
        """`core` gives the open core or raises; `reload` shows a conversation as it is stored, with an error;
        `proceeded` gets the handle of a run that goes on."""
        self._owner = owner
        self._core = core
        self._foreign = foreign
        self._reload = reload
        self._proceeded = proceeded
        self.is_resumable = False
        self.is_stopping = False

    def reset(self) -> None:
        """Another conversation, or a run that goes on."""
        self.is_resumable = self.is_stopping = False

    def stop(self, conversation_id: str) -> None:
        """Stop what runs there; another process is asked to."""
        if not self._core().runs.stop(conversation_id):
            self._foreign.request_stop(conversation_id)
        self.is_stopping = True

    def resume(self, conversation_id: str) -> None:
        """Go on with what is left."""
        self.is_resumable = False
        self._owner.spawn(self._resume(conversation_id), "resume")

    async def _resume(self, conversation_id: str) -> None:
        try:
            handle = await self._core().runs.resume(conversation_id)
        except SophosError as error:
            await self._reload(conversation_id, error)
            return
        self._proceeded(handle)
