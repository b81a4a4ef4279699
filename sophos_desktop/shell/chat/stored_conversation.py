"""Reads all that is shown of one conversation from the core.

Invariant: nothing is shown or changed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sophos_desktop.core.domain.conversation import Conversation, Message
from sophos_desktop.core.domain.queued import Queued
from sophos_desktop.core.domain.run import LeftFailure
from sophos_desktop.shell.chat.call_statuses import unresolved
from sophos_desktop.shell.facade import Core, PendingDecision


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as the store has it. `unresolved`: how many calls a resume has to settle first."""

    conversation: Conversation
    messages: Sequence[Message]
    pending: Sequence[PendingDecision]
    queued: Queued
    failures: Sequence[LeftFailure] = ()
    unresolved: int = 0


async def read_conversation(core: Core, conversation_id: str) -> StoredConversation:
    """Raises SophosError NOT_FOUND, THREAD_UNREADABLE, STORE_*."""
    conversation = await core.conversations.find(conversation_id)
    messages = await core.conversations.messages(conversation_id)
    count = 0
    if conversation.resumable:
        count = len(unresolved(messages, await core.conversations.call_records(conversation_id)))
    return StoredConversation(
        conversation,
        messages,
        await core.decisions.pending(conversation_id),
        await core.queue.waiting(conversation_id),
        await core.conversations.left_failures(conversation_id),
        count,
    )
