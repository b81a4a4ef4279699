"""Notices that another connection has written to the file.

Invariant: one connection of its own, since SQLite counts changes per connection; asking costs no lock and
no read of the file.
"""

from pathlib import Path

import aiosqlite


class ChangeCounter:
    """Lives from `open` to `close`, on one event loop."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        """Use `open`."""
        self._connection = connection

    @classmethod
    async def open(cls, path: Path) -> "ChangeCounter":
        """Watch an existing file."""
        return cls(await aiosqlite.connect(f"{path.as_uri()}?mode=ro", uri=True))

    async def read(self) -> int:
        """A number that is another one after each commit of any other connection, of any process."""
        async with self._connection.execute("PRAGMA data_version") as cursor:
            row = await cursor.fetchone()
        assert row is not None
        return int(row[0])

    async def close(self) -> None:
        """Stop watching."""
        await self._connection.close()
