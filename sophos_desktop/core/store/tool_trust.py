"""What the user said of tool servers, and each tool as it was last seen.

Invariant: a server's word counts for the fingerprint it was given for; two processes that see the same tools
at once both leave the newest definition, and one of them learns of the change.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import known_tools, trusted_servers
from sophos_desktop.foundation.clock import Clock, to_text

_DAY_CHARACTERS = len("2026-11-30")


@dataclass(frozen=True, slots=True)
class TrustedServer:
    """The user's word: the fingerprint of the server's command or address then, and when."""

    fingerprint: str
    trusted_at: str


@dataclass(frozen=True, slots=True)
class SeenTools:
    """How a server's tools differ from what was remembered: `changed` with the time of the last sight,
    `added` unless this was the first sight of the whole server."""

    changed: Mapping[str, str]
    added: tuple[str, ...]


class ToolTrustStore:
    """Lives as long as its database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def trusted(self) -> Mapping[str, TrustedServer]:
        """Everything the user trusts, by server."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(trusted_servers))).mappings()
            return {row["server"]: TrustedServer(row["fingerprint"], row["trusted_at"]) for row in rows}

    async def trust(self, server: str, fingerprint: str) -> None:
        """Record the user's word, in place of an older one."""
        values = {"fingerprint": fingerprint, "trusted_at": to_text(self._clock.now())}
        statement = insert(trusted_servers).values(server=server, **values)
        async with self._database.write() as connection:
            await connection.execute(statement.on_conflict_do_update(index_elements=["server"], set_=values))

    async def revoke(self, server: str) -> bool:
        """Take the word back. False if there was none."""
        async with self._database.write() as connection:
            result = await connection.execute(
                delete(trusted_servers).where(trusted_servers.c.server == server)
            )
            return result.rowcount > 0

    async def forget(self, server: str) -> None:
        """Remove all that is remembered of a server that the user took out."""
        async with self._database.write() as connection:
            for table in (trusted_servers, known_tools):
                await connection.execute(delete(table).where(table.c.server == server))

    async def remember(self, server: str, tools: Mapping[str, str]) -> SeenTools:
        """Compare a server's tools (name to fingerprint) with what was remembered, and remember them.

        A tool that is gone stays remembered, so that one that comes back as another is noticed."""
        now = to_text(self._clock.now())
        async with self._database.read() as connection:
            known = await _known(connection, server)
        if _differing(known, tools, now):
            async with self._database.write() as connection:
                # Again, within the transaction: another process may have been faster.
                known = await _known(connection, server)
                for name in _differing(known, tools, now):
                    values = {"fingerprint": tools[name], "seen_at": now}
                    statement = insert(known_tools).values(server=server, tool=name, **values)
                    await connection.execute(
                        statement.on_conflict_do_update(index_elements=["server", "tool"], set_=values)
                    )
        return SeenTools(
            {name: known[name][1] for name in tools if name in known and known[name][0] != tools[name]},
            tuple(name for name in tools if known and name not in known),
        )


async def _known(connection: AsyncConnection, server: str) -> dict[str, tuple[str, str]]:
    statement = select(known_tools).where(known_tools.c.server == server)
    rows = (await connection.execute(statement)).mappings()
    return {row["tool"]: (row["fingerprint"], row["seen_at"]) for row in rows}


def _differing(known: Mapping[str, tuple[str, str]], tools: Mapping[str, str], now: str) -> list[str]:
    """The tools whose row is to be written: one that is as it was is written once a day."""
    today = now[:_DAY_CHARACTERS]
    return [
        name
        for name, fingerprint in tools.items()
        if name not in known or known[name][0] != fingerprint or known[name][1][:_DAY_CHARACTERS] < today
    ]
