"""Requests to start a tool server anew, which every process on the file takes up.

Invariant: one row a server, with the id of the newest request.
"""

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import app_state
from sophos_desktop.foundation.ids import new_id

_PREFIX = "mcp.restart."


class RestartRequestStore:
    """Lives as long as its database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, server: str) -> str:
        """Ask for a restart; returns the request's id."""
        request = new_id()
        statement = insert(app_state).values(key=_PREFIX + server, value=request)
        async with self._database.write() as connection:
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["key"], set_={"value": request})
            )
        return request

    async def newest(self) -> Mapping[str, str]:
        """The newest request of each server that was ever asked for."""
        statement = select(app_state).where(app_state.c.key.startswith(_PREFIX, autoescape=True))
        async with self._database.read() as connection:
            rows = (await connection.execute(statement)).mappings()
            return {row["key"].removeprefix(_PREFIX): row["value"] for row in rows}
