"""Deletes conversations, at once or with time to take it back (DURABILITY.md, rule 14).

Invariant: nothing of a conversation is removed before its tombstone is final, and everything once it is: by
whoever set it, when the time is up or at quit, or else by the next start.
"""

from collections.abc import Awaitable, Callable

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.runs.tidying import finish_deletion
from sophos_desktop.core.store.conversations import UNDO_SECONDS


class Erasing:
    """Lives as long as the core."""

    def __init__(self, stores: Stores, clear_up: Callable[[str], Awaitable[object]]) -> None:
        """`clear_up` recovers what a dead owner left on a conversation."""
        self._stores = stores
        self._clear_up = clear_up

    async def delete(self, conversation_id: str) -> None:
        """Remove it now. Raises SophosError SESSION_IN_PROGRESS, NOT_FOUND, STORE_*."""
        await self._bury(conversation_id, 0.0)
        await finish_deletion(self._stores, conversation_id)

    async def bury(self, conversation_id: str) -> float:
        """Take it out of every list; gives for how many seconds that can be taken back.

        `finish` removes it then. Raises SophosError SESSION_IN_PROGRESS, NOT_FOUND, STORE_*."""
        await self._bury(conversation_id, UNDO_SECONDS)
        return UNDO_SECONDS

    async def restore(self, conversation_id: str) -> None:
        """Take a deletion back. Raises SophosError NOT_FOUND if it is too late, STORE_*."""
        if not await self._stores.conversations.restore(conversation_id):
            raise SophosError(
                ErrorCode.NOT_FOUND,
                "It is too late to take the deletion back",
                f"A deletion can be taken back for {UNDO_SECONDS:.0f} seconds",
            )

    async def finish(self, conversation_id: str) -> None:
        """Remove what was buried; does nothing if that was taken back. Raises SophosError STORE_*."""
        await finish_deletion(self._stores, conversation_id)

    async def finish_due(self) -> None:
        """Remove everything that was buried and cannot be taken back any more, whoever did it, as the next
        start would. Raises SophosError STORE_*."""
        for conversation_id in await self._stores.conversations.deleted():
            await finish_deletion(self._stores, conversation_id)

    async def _bury(self, conversation_id: str, undo_seconds: float) -> None:
        await self._clear_up(conversation_id)
        if await self._stores.conversations.bury(conversation_id, undo_seconds=undo_seconds):
            return
        if await self._stores.conversations.get(conversation_id) is None:
            raise SophosError(ErrorCode.NOT_FOUND, "There is no such conversation", "See `list`")
        raise SophosError(
            ErrorCode.SESSION_IN_PROGRESS,
            "An answer is being written in this conversation",
            "Stop it first, then delete",
        )
