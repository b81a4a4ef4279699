"""The message that waits until its conversation's run has ended, as it was seen at one moment.

Invariant: two that are equal are the same message with the same attachments; `NOTHING` is that none waits.
"""

from dataclasses import dataclass

from sophos_desktop.core.domain.conversation import AttachmentRef


@dataclass(frozen=True, slots=True)
class Queued:
    """`text` is empty for attachments alone, and None if no message waits."""

    text: str | None = None
    attachments: tuple[AttachmentRef, ...] = ()


NOTHING = Queued()
