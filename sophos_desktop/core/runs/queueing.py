"""The message that a person writes while a run is active or waits: kept, and sent when it is its turn.

Invariant: the text is on disk, with what is attached to it, from `put` until the claim that sends it, and is
never in both places. Nothing that another window queued meanwhile is removed, sent or replaced unseen.
"""

from collections.abc import Callable, Sequence

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.queued import Queued
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

    async def put(
        self,
        conversation_id: str,
        text: str,
        attachments: Sequence[AttachmentRef | Attachment] = (),
        *,
        seen: Queued | None = None,
    ) -> bool:
        """Queue a message, in place of one that waits already. `attachments`: all that goes with it; the
        draft lets go of those that it holds, and what went with the other one alone is gone. False, and
        nothing is changed, if something else than `seen` waits.

        Raises SophosError BAD_REQUEST (it is empty, or something is attached no longer), STORE_*."""
        if not text.strip() and not attachments:
            raise SophosError(ErrorCode.BAD_REQUEST, "The message is empty", "Write something to send")
        return await self._stores.queue.put(conversation_id, text, attachments, seen=seen)

    async def add(
        self, conversation_id: str, text: str, attachments: Sequence[AttachmentRef | Attachment] = ()
    ) -> Queued:
        """Queue a message behind what waits already, in one message with it; gives what waits then.

        Raises as `put`."""
        await self._add(conversation_id, text, attachments, _both)
        return await self.waiting(conversation_id)

    async def _add(
        self,
        conversation_id: str,
        text: str,
        attachments: Sequence[AttachmentRef | Attachment],
        join: Callable[[str | None, str], str],
    ) -> None:
        is_queued = False
        while not is_queued:  # another window may queue something between the look and the change
            before = await self.waiting(conversation_id)
            given = [*before.attachments, *attachments]
            is_queued = await self.put(conversation_id, join(before.text, text), given, seen=before)

    async def waiting(self, conversation_id: str) -> Queued:
        """What waits, with what is attached to it."""
        return await self._stores.queue.waiting(conversation_id)

    async def get(self, conversation_id: str) -> str | None:
        """The text of the message that waits, or None."""
        return await self._stores.queue.get(conversation_id)

    async def remove(
        self, conversation_id: str, *, to_draft: bool = False, seen: Queued | None = None
    ) -> bool:
        """Take it back. `to_draft`: what is attached to it goes to the draft, where the caller has put the
        text; else it is gone. False, and nothing is changed, if it was sent, or taken back, meanwhile, or if
        something else than `seen` waits."""
        return await self._stores.queue.remove(conversation_id, to_draft=to_draft, seen=seen)

    async def send(self, conversation_id: str, *, seen: Queued | None = None) -> RunHandle:
        """Send it now. Raises SophosError NOT_FOUND (none waits, or something else than `seen`), and what
        `RunRegistry.start` raises."""
        waits = await self.waiting(conversation_id)
        if waits.text is None:
            raise SophosError(ErrorCode.NOT_FOUND, "No message is queued here", "Write one")
        if seen is not None and waits != seen:
            raise SophosError(
                ErrorCode.NOT_FOUND, "The queued message was changed meanwhile", "Look at it, then send it"
            )
        return await self._runs.start(conversation_id, waits.text, from_queue=True)

    async def deny_all_and_send(
        self, conversation_id: str, text: str, attachments: Sequence[AttachmentRef | Attachment] = ()
    ) -> RunHandle:
        """Deny every call that waits for a decision, and send a message instead.

        Each step is safe by itself: the text is queued first, and a run whose questions are all answered
        can be resumed. What is queued already goes first. Raises what `RunRegistry.start` raises."""
        await self._add(conversation_id, text, attachments, _after)
        await self._decisions.deny_all(conversation_id, _SUPERSEDED)
        await self._runs.cancel_waiting(conversation_id)
        return await self.send(conversation_id)


def _both(queued: str | None, text: str) -> str:
    return "\n\n".join(part for part in (queued, text) if part and part.strip())


def _after(queued: str | None, text: str) -> str:
    """Both in one message; a caller may have put them together, or have tried before."""
    if not queued or text.startswith(queued):
        return text
    return queued if queued.endswith(text) else f"{queued}\n\n{text}"
