"""What the user decided about tools for good.

Invariant: one row per server, tool and scope; the newest decision takes the place of an older one.
"""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert

from sophos_desktop.core.domain.policy import Permission, Policy
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import tool_permissions
from sophos_desktop.foundation.clock import Clock, to_text


class PermissionStore:
    """Lives as long as its database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Times of decisions come from `clock`."""
        self._database = database
        self._clock = clock

    async def all(self, server: str | None = None) -> Sequence[Permission]:
        """Every decision, or those about one server, by server, tool and scope."""
        statement = select(tool_permissions).order_by(
            tool_permissions.c.server, tool_permissions.c.tool, tool_permissions.c.scope
        )
        if server is not None:
            statement = statement.where(tool_permissions.c.server == server)
        async with self._database.read() as connection:
            return [
                Permission(
                    server=row["server"],
                    tool=row["tool"],
                    scope=row["scope"],
                    fingerprint=row["fingerprint"],
                    decision=Policy(row["decision"]),
                    decided_at=row["decided_at"],
                )
                for row in (await connection.execute(statement)).mappings()
            ]

    async def remember(self, permission: Permission) -> None:
        """Record a decision; its time is now."""
        key = {"server": permission.server, "tool": permission.tool, "scope": permission.scope}
        values = {
            "fingerprint": permission.fingerprint,
            "decision": permission.decision.value,
            "decided_at": to_text(self._clock.now()),
        }
        statement = insert(tool_permissions).values(**key, **values)
        async with self._database.write() as connection:
            await connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=values))

    async def forget(self, server: str, tool: str | None = None, scope: str | None = None) -> int:
        """Take decisions back; returns how many. None stands for every tool, every scope."""
        statement = delete(tool_permissions).where(tool_permissions.c.server == server)
        if tool is not None:
            statement = statement.where(tool_permissions.c.tool == tool)
        if scope is not None:
            statement = statement.where(tool_permissions.c.scope == scope)
        async with self._database.write() as connection:
            return (await connection.execute(statement)).rowcount
