"""Judges tool calls by what the user decided, mcp.json says and the settings say.

Invariant: what was decided is read for each call, so a permission that is taken back, here or in another
process, holds from the next call on.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sophos_desktop.core.domain.policy import Policy, ServerRule, Verdict, judge
from sophos_desktop.core.domain.specs import ToolSpec
from sophos_desktop.core.store.permissions import PermissionStore

_UNKNOWN = ServerRule()


class PolicyGate:
    """Implements the port `ToolGate`; lives as long as the core."""

    def __init__(
        self,
        permissions: PermissionStore,
        rules: Mapping[str, ServerRule],
        general: Callable[[], Policy | None],
    ) -> None:
        """`rules` by server; `general`: the setting tools.approval, None for each tool's default."""
        self._permissions = permissions
        self._rules = rules
        self._general = general

    async def judge(self, spec: ToolSpec, args: Mapping[str, Any], heard_servers: Collection[str]) -> Verdict:
        """What happens to a call. Raises SophosError STORE_*."""
        return judge(
            spec,
            args,
            self._rules.get(spec.server, _UNKNOWN),
            await self._permissions.all(spec.server),
            general=self._general(),
            heard_servers=heard_servers,
        )

    async def offers(self, tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
        """The tools that are not forbidden altogether. Raises SophosError STORE_*."""
        if not tools:
            return ()
        decided = await self._permissions.all()
        general = self._general()
        offered = []
        for spec in tools:
            verdict = judge(
                spec,
                {},
                self._rules.get(spec.server, _UNKNOWN),
                [permission for permission in decided if permission.server == spec.server],
                general=general,
                heard_servers=(),
            )
            if verdict.policy is not Policy.DENY:
                offered.append(spec)
        return offered

    def rule(self, server: str) -> ServerRule:
        """What is known of a server beforehand."""
        return self._rules.get(server, _UNKNOWN)
