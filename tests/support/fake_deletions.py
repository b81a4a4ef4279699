"""How the fake core deletes: a buried conversation is out of `known` until it is restored or finished."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.errors import ErrorCode, SophosError


@dataclass(frozen=True, slots=True)
class FakeFact:
    """A fact of the memory."""

    words: str


class FakeDeletions:
    """What `Conversations` does about deleting; `finished` are the ids that are gone for good, in order."""

    def __init__(self) -> None:
        self.known: dict[str, Conversation] = {}
        self.buried: dict[str, Conversation] = {}
        self.finished: list[str] = []
        self.undo_seconds = 60.0
        self.facts: dict[str, list[FakeFact]] = {}
        self.memory: list[FakeFact] = []
        self.memory_error: SophosError | None = None

    def is_active(self, conversation_id: str) -> bool:
        """True while a run is active there."""
        raise NotImplementedError

    async def bury(self, conversation_id: str) -> float:
        """Not while a run is active."""
        if self.is_active(conversation_id):
            raise SophosError(
                ErrorCode.SESSION_IN_PROGRESS, "A run is active in this conversation", "Stop it first."
            )
        self.buried[conversation_id] = self.known.pop(conversation_id)
        return self.undo_seconds

    async def restore(self, conversation_id: str) -> None:
        """Back into `known`."""
        if conversation_id not in self.buried:
            raise SophosError(ErrorCode.NOT_FOUND, "It is too late to take the deletion back")
        self.known[conversation_id] = self.buried.pop(conversation_id)

    async def finish_deletion(self, conversation_id: str) -> None:
        """Gone for good."""
        if self.buried.pop(conversation_id, None) is not None:
            self.finished.append(conversation_id)

    async def finish_deletions(self) -> None:
        """Whatever is left."""
        for conversation_id in tuple(self.buried):
            await self.finish_deletion(conversation_id)

    async def memory_facts(self, conversation_id: str) -> Sequence[FakeFact]:
        """What the test put there."""
        return self.facts.get(conversation_id, [])

    async def facts_still_there(self, facts: Sequence[Any], calls: Any) -> Sequence[FakeFact]:
        """Those that are in `memory`."""
        if self.memory_error is not None:
            raise self.memory_error
        return [fact for fact in facts if fact in self.memory]

    async def remove_facts(self, facts: Sequence[Any], calls: Any) -> Sequence[FakeFact]:
        """Out of `memory`."""
        gone = await self.facts_still_there(facts, calls)
        self.memory = [fact for fact in self.memory if fact not in gone]
        return gone
