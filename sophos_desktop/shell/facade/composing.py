"""What the window asks of the core while a message is written: attachments of drafts, and the model.

Invariant: as in the package: protocols over domain types alone.
"""

from collections.abc import Sequence
from typing import Protocol

from sophos_desktop.core.domain.conversation import AttachmentRef
from sophos_desktop.core.domain.model_choices import ContextUse, EngineModels, ModelStanding
from sophos_desktop.core.domain.specs import EngineChoice, EngineKind, ModelInfo


class Attachments(Protocol):
    """What goes with a message that is not sent yet. None is the chat that does not exist yet."""

    async def add(self, conversation_id: str | None, name: str, content: bytes) -> AttachmentRef:
        """Keep a text file or an image with the draft; what is there already is kept once.

        Raises SophosError BAD_REQUEST (too large, neither text nor image, too many), STORE_*."""

    async def remove(self, conversation_id: str | None, sha256: str) -> None:
        """Take one away from the draft. Raises SophosError STORE_*."""

    async def of_draft(self, conversation_id: str | None) -> Sequence[AttachmentRef]:
        """What the draft holds, in its order. Raises SophosError STORE_*."""

    async def content(self, sha256: str) -> bytes:
        """The bytes. Raises SophosError NOT_FOUND, STORE_*."""


class Models(Protocol):
    """Which models there are, and which one a conversation takes."""

    async def all(self) -> Sequence[ModelInfo]:
        """Those that can chat, of every engine that answers; an engine that does not is left out."""

    async def by_engine(self) -> Sequence[EngineModels]:
        """Those that can chat, of every engine, or why an engine has none; bounded in time."""

    async def standing(self, conversation_id: str | None) -> ModelStanding:
        """What the next message would go to and why, and what the settings say. Raises SophosError NOT_FOUND,
        STORE_*."""

    async def context_use(self, conversation_id: str) -> ContextUse | None:
        """How much of its context the last call of a conversation filled; None where that is not known."""

    async def chosen(self, conversation_id: str | None) -> EngineChoice:
        """What the next message would go to. Raises SophosError."""

    async def choose(self, conversation_id: str | None, engine: EngineKind | None, model: str | None) -> None:
        """Take this model from the next run on; twice None leaves it to the settings. None as the
        conversation: the chat that does not exist yet. Raises SophosError BAD_REQUEST, NOT_FOUND, STORE_*."""
