"""The message that a person writes while a run is active or waits: kept, and sent when it is its turn.

Invariant: the text is on disk from `put` until the claim that sends it, and is never in both places.
"""

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.runs.decisions import Decisions
from sophos_desktop.core.runs.registry import RunHandle, RunRegistry
from sophos_desktop.core.runs.stores import Stores

_SUPERSEDED = "The user wrote a new message instead of deciding."


class MessageQueue:
    """One message a conversation. Lives as long as the core."""

    def __init__(self, stores: Stores, runs: RunRegistry, decisions: Decisions) -> None:
        """Sends through `runs`."""
        self._stores = stores
        self._runs = runs
        self._decisions = decisions

    async def put(self, conversation_id: str, text: str) -> None:
        """Queue a message, in place of one that waits already. Raises SophosError BAD_REQUEST, STORE_*."""
        if not text.strip():
            raise SophosError(ErrorCode.BAD_REQUEST, "The message is empty", "Write something to send")
        await self._stores.queue.put(conversation_id, text)

    async def get(self, conversation_id: str) -> str | None:
        """The message that waits, or None."""
        return await self._stores.queue.get(conversation_id)

    async def remove(self, conversation_id: str) -> bool:
        """Take it back. False if it was sent, or taken back, meanwhile."""
        return await self._stores.queue.remove(conversation_id)

    async def send(self, conversation_id: str) -> RunHandle:
        """Send it now. Raises SophosError NOT_FOUND (none waits), and what `RunRegistry.start` raises."""
        text = await self._stores.queue.get(conversation_id)
        if text is None:
            raise SophosError(ErrorCode.NOT_FOUND, "No message is queued here", "Write one")
        return await self._runs.start(conversation_id, text, from_queue=True)

    async def deny_all_and_send(self, conversation_id: str, text: str) -> RunHandle:
        """Deny every call that waits for a decision, and send a message instead.

        Each step is safe by itself: the text is queued first, and a run whose questions are all answered
        can be resumed. What is queued already goes first. Raises what `RunRegistry.start` raises."""
        queued = await self.get(conversation_id)
        if queued is not None and not queued.endswith(text):
            text = f"{queued}\n\n{text}"
        await self.put(conversation_id, text)
        await self._decisions.deny_all(conversation_id, _SUPERSEDED)
        await self._runs.cancel_waiting(conversation_id)
        return await self.send(conversation_id)
