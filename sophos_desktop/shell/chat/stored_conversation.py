"""Reads all that is shown of one conversation from the core.

Invariant: nothing is shown or changed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sophos_desktop.core.domain.conversation import Conversation, Message
from sophos_desktop.core.domain.queued import Queued
from sophos_desktop.shell.facade import Core, PendingDecision


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as the store has it."""

    conversation: Conversation
    messages: Sequence[Message]
    pending: Sequence[PendingDecision]
    queued: Queued


async def read_conversation(core: Core, conversation_id: str) -> StoredConversation:
    """Raises SophosError NOT_FOUND, THREAD_UNREADABLE, STORE_*."""
    return StoredConversation(
        await core.conversations.find(conversation_id),
        await core.conversations.messages(conversation_id),
        await core.decisions.pending(conversation_id),
        await core.queue.waiting(conversation_id),
    )
