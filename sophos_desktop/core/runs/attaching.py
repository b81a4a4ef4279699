"""What goes with a message that is not sent yet: text files and images, kept beside the draft.

Invariant: what `add` gave back is on the disk, and stays with the draft until the claim that sends it, the
queue, or the user takes it away; each content is stored once.
"""

import asyncio
from collections.abc import Sequence

from sophos_desktop.core.domain.attaching import made_attachment
from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.attachments import draft_of, queued_in


class Attaching:
    """Lives as long as the core. A conversation that is None is the chat that does not exist yet."""

    def __init__(self, stores: Stores) -> None:
        """Keeps nothing of its own."""
        self._stores = stores

    async def add(self, conversation_id: str | None, name: str, content: bytes) -> AttachmentRef:
        """Keep a text file or an image with the draft; what is there already is kept once, under the name
        that it has there. Its type comes from the content, and its name is made safe.

        Raises SophosError BAD_REQUEST (empty, too large, neither text nor image, too many), NOT_FOUND (the
        conversation is deleted), STORE_*."""
        attachment = await asyncio.to_thread(made_attachment, name, content)
        return await self._stores.attachments.add_to_draft(conversation_id, attachment)

    async def remove(self, conversation_id: str | None, sha256: str) -> None:
        """Take one away from the draft. Raises SophosError STORE_*."""
        await self._stores.attachments.remove_from_draft(conversation_id, sha256)

    async def of_draft(self, conversation_id: str | None) -> Sequence[AttachmentRef]:
        """What the draft holds, in its order. Raises SophosError STORE_*."""
        return await self._stores.attachments.held_by(draft_of(conversation_id))

    async def of_queued(self, conversation_id: str) -> Sequence[AttachmentRef]:
        """What the queued message holds, in its order. Raises SophosError STORE_*."""
        return await self._stores.attachments.held_by(queued_in(conversation_id))

    async def content(self, sha256: str) -> bytes:
        """The bytes. Raises SophosError NOT_FOUND, STORE_*."""
        found = await self._stores.attachments.content(sha256)
        if found is None:
            raise SophosError(
                ErrorCode.NOT_FOUND, f"There is no attachment “{sha256[:8]}”", "It was taken away meanwhile"
            )
        return found
