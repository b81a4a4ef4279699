"""What the window asks of the core about calls that wait for the user, and about what was decided for good.

Invariant: as in the package; the core fits these protocols without knowing them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sophos_desktop.core.domain.policy import Permission
from sophos_desktop.core.domain.ports import DecisionKind


class PendingDecision(Protocol):
    """A call that waits for the user's word."""

    @property
    def conversation_id(self) -> str:
        """Where it waits."""

    @property
    def tool_call_id(self) -> str:
        """Which call."""

    @property
    def server(self) -> str:
        """Its server."""

    @property
    def tool(self) -> str:
        """Its tool."""

    @property
    def args(self) -> Mapping[str, Any]:
        """Its arguments."""

    @property
    def why(self) -> str:
        """`uncertain` or `approval`."""

    @property
    def attempt(self) -> int:
        """How many attempts had been made when it was asked."""

    @property
    def reason(self) -> str:
        """Why it is asked."""

    @property
    def scope(self) -> str:
        """What "always" would hold for: a host, or everything (empty)."""

    @property
    def input_schema(self) -> Mapping[str, Any] | None:
        """The tool's, if its server was there when this was read."""


class Decisions(Protocol):
    """The questions that runs wait for, and what was decided for good."""

    async def pending(self, conversation_id: str | None = None) -> Sequence[Any]:
        """The open ones, each a `PendingDecision`."""

    async def problem_with(self, question: Any, args: Mapping[str, Any]) -> str | None:
        """What is wrong with changed arguments; None if they fit, or if nothing is known of the tool."""

    async def decide(
        self,
        conversation_id: str,
        tool_call_id: str,
        kind: DecisionKind,
        *,
        args: Mapping[str, Any] | None = None,
        reason: str | None = None,
        result: str | None = None,
        always: bool = False,
    ) -> object:
        """Answer one. Raises SophosError DECISION_STALE, BAD_REQUEST."""

    async def permissions(self, server: str | None = None) -> Sequence[Permission]:
        """What was decided for good."""

    async def forget(self, server: str, tool: str | None = None, scope: str | None = None) -> int:
        """Take back what was decided for good; returns how many decisions."""


class ServerEntries(Protocol):
    """What is configured of the tool servers."""

    def load(self) -> Any:
        """Reads the files: `servers`, each with `name`, `approval`, `built_in`, `disabled`. Blocks."""
