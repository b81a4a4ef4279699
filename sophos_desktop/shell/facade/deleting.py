"""What the window asks of the core about deleting.

Invariant: as for the rest of the facade: protocols alone.
"""

from collections.abc import Sequence
from typing import Any, Protocol


class MemoryFact(Protocol):
    """Something that a conversation's own calls added to the memory graph."""

    @property
    def words(self) -> str:
        """One line for a person."""


class Deletions(Protocol):
    """Deletes conversations so that it can be taken back for a while."""

    async def bury(self, conversation_id: str) -> float:
        """Gives for how many seconds it can be taken back. Raises SophosError SESSION_IN_PROGRESS."""

    async def restore(self, conversation_id: str) -> None:
        """Take it back. Raises SophosError NOT_FOUND if it is too late."""

    async def finish_deletion(self, conversation_id: str) -> None:
        """Remove what was buried; nothing if that was taken back."""

    async def finish_deletions(self) -> None:
        """Remove everything that was buried and cannot be taken back any more."""

    async def memory_facts(self, conversation_id: str) -> Sequence[MemoryFact]:
        """What its own calls added to the memory, where it outlives a deletion."""

    async def facts_still_there(self, facts: Sequence[Any], calls: Any) -> Sequence[MemoryFact]:
        """Those that the memory holds now. Raises SophosError of the call."""

    async def remove_facts(self, facts: Sequence[Any], calls: Any) -> Sequence[MemoryFact]:
        """Take them out of the memory; gives those that are gone. Raises SophosError of the calls."""
