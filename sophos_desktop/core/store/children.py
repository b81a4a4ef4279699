"""Records child processes (DURABILITY.md, rule 13).

Invariant: a row with a token is committed before a child is spawned, and removed only when it is gone.
"""

from collections.abc import Sequence

from sqlalchemy import delete, insert, select, update

from sophos_desktop.core.domain.ports import Child
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import children
from sophos_desktop.foundation.ids import new_id


class ChildStore:
    """Implements the port `ChildRecords` for one owner; lives as long as its database."""

    def __init__(self, database: Database, owner: str) -> None:
        """`owner`: the lock file's id of this process."""
        self._database = database
        self._owner = owner

    async def announce(self, what: str) -> str:
        """Record a child that is about to be spawned; returns its token."""
        token = new_id()
        async with self._database.write() as connection:
            await connection.execute(insert(children).values(token=token, owner=self._owner, what=what))
        return token

    async def spawned(self, token: str, pid: int, start_time: float) -> None:
        """Add what identifies the process."""
        async with self._database.write() as connection:
            await connection.execute(
                update(children).where(children.c.token == token).values(pid=pid, start_time=start_time)
            )

    async def ended(self, token: str) -> None:
        """The child is gone."""
        async with self._database.write() as connection:
            await connection.execute(delete(children).where(children.c.token == token))

    async def all(self) -> Sequence[Child]:
        """Every child on record, of any owner."""
        async with self._database.read() as connection:
            return [Child(**dict(row)) for row in (await connection.execute(select(children))).mappings()]
