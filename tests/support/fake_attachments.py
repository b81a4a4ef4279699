"""What goes with messages in the fake core: drafts and queue hold references, contents are kept once.

Invariant: as in the core: what is sent or queued leaves the draft, and what nobody attached cannot be sent.
`error` refuses what adds, as a full disk would.
"""

from collections.abc import Sequence

from sophos_desktop.core.domain.attaching import MOST_ATTACHMENTS, made_attachment, too_many
from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError


class FakeAttachments:
    """In memory; `drafts` and `queued` are what the test may look at, and set."""

    def __init__(self) -> None:
        self.drafts: dict[str | None, list[AttachmentRef]] = {}
        self.queued: dict[str, list[AttachmentRef]] = {}
        self.contents: dict[str, bytes] = {}
        self.error: SophosError | None = None

    async def add(self, conversation_id: str | None, name: str, content: bytes) -> AttachmentRef:
        """Refused with `error`, or as the core refuses."""
        if self.error is not None:
            raise self.error
        made = made_attachment(name, content)
        held = self.drafts.setdefault(conversation_id, [])
        known = next((ref for ref in held if ref.sha256 == made.ref.sha256), None)
        if known is not None:
            return known
        if len(held) >= MOST_ATTACHMENTS:
            raise too_many()
        self.contents[made.ref.sha256] = content
        held.append(made.ref)
        return made.ref

    async def remove(self, conversation_id: str | None, sha256: str) -> None:
        """Out of the draft."""
        held = self.drafts.get(conversation_id, [])
        held[:] = [ref for ref in held if ref.sha256 != sha256]

    async def of_draft(self, conversation_id: str | None) -> Sequence[AttachmentRef]:
        """What the draft holds."""
        return tuple(self.drafts.get(conversation_id, ()))

    async def of_queued(self, conversation_id: str) -> Sequence[AttachmentRef]:
        """What the queued message holds."""
        return tuple(self.queued.get(conversation_id, ()))

    async def content(self, sha256: str) -> bytes:
        """The bytes."""
        if sha256 not in self.contents:
            raise SophosError(ErrorCode.NOT_FOUND, "There is no such attachment")
        return self.contents[sha256]

    def sent(
        self, conversation_id: str | None, given: Sequence[AttachmentRef | Attachment]
    ) -> tuple[AttachmentRef, ...]:
        """What a message takes along; the draft holds it no longer."""
        refs = tuple(self._taken(conversation_id, one) for one in given)
        held = self.drafts.get(conversation_id, [])
        held[:] = [ref for ref in held if ref not in refs]
        return refs

    def queue(self, conversation_id: str, given: Sequence[AttachmentRef | Attachment]) -> None:
        """What the queued message takes along, in place of what it had."""
        self.queued[conversation_id] = list(self.sent(conversation_id, given))

    def unqueue(self, conversation_id: str, *, to_draft: bool) -> None:
        """The queued message is taken back."""
        held = self.queued.pop(conversation_id, [])
        if to_draft:
            self.drafts[conversation_id] = held + self.drafts.get(conversation_id, [])

    def _taken(self, conversation_id: str | None, one: AttachmentRef | Attachment) -> AttachmentRef:
        if isinstance(one, Attachment):
            self.contents[one.ref.sha256] = one.content
            return one.ref
        if one not in [*self.drafts.get(conversation_id, ()), *self.queued.get(conversation_id or "", ())]:
            raise SophosError(ErrorCode.BAD_REQUEST, f"“{one.name}” is not attached any more")
        return one
