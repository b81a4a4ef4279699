"""What a checkpoint says about a conversation, for exports and other readers of histories.

Invariant: frozen; holds no text but the beginning of the last message. `to_json` is the shape of issue 4.
"""

from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.domain.conversation import Message, Role

LAST_TEXT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class LastMessage:
    """The newest message as of a checkpoint; `text` has at most `LAST_TEXT_LENGTH` characters."""

    id: str
    role: Role
    text: str

    @staticmethod
    def of(message: Message) -> "LastMessage":
        """The beginning of a message."""
        return LastMessage(message.id, message.role, message.text[:LAST_TEXT_LENGTH])

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {"id": self.id, "role": self.role.value, "text": self.text}


@dataclass(frozen=True, slots=True)
class CheckpointRecord:
    """One checkpoint. `next`: the nodes that the step after it consists of, once for each task."""

    checkpoint_id: str
    created_at: str
    step: int
    source: str
    next: tuple[str, ...]
    message_count: int
    last_message: LastMessage | None
    run_id: str | None

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "checkpoint_id": self.checkpoint_id,
            "created_at": self.created_at,
            "step": self.step,
            "source": self.source,
            "next": list(self.next),
            "message_count": self.message_count,
            "last_message": self.last_message.to_json() if self.last_message else None,
            "run_id": self.run_id,
        }
