"""A ChildRecords that keeps its rows in memory, for tests of what starts child processes."""

import asyncio
from dataclasses import dataclass, field, replace

from sophos_desktop.core.domain.ports import Child


@dataclass(slots=True)
class ListedChildren:
    """The rows by token; `history` has every call in order."""

    rows: dict[str, Child] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    was_spawned: asyncio.Event = field(default_factory=asyncio.Event)

    async def announce(self, what: str) -> str:
        """Record a child that is about to be spawned."""
        token = f"token-{len(self.history)}"
        self.rows[token] = Child("owner", token, what)
        self.history.append("announce")
        return token

    async def spawned(self, token: str, pid: int, start_time: float) -> None:
        """Add what identifies the process."""
        self.rows[token] = replace(self.rows[token], pid=pid, start_time=start_time)
        self.history.append("spawned")
        self.was_spawned.set()

    async def ended(self, token: str) -> None:
        """The child is gone."""
        del self.rows[token]
        self.history.append("ended")
