"""What is put into the queue of a server task.

Invariant: the outcome of a `Call` is settled exactly once; whoever waits for it may stop waiting by
cancelling it, at any time.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sophos_desktop.core.domain.ports import ToolCallLost, ToolServerDown
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.mcp_host.child import ServerChild

if TYPE_CHECKING:
    from sophos_desktop.core.mcp_host.session import ServerSession


@dataclass(slots=True, eq=False)
class Call:
    """A tool call on its way. `taken`: its task has begun, so its own time-out runs."""

    tool: str
    arguments: Mapping[str, Any]
    timeout_seconds: float
    outcome: "asyncio.Future[ToolResult]"
    taken: bool = False

    @property
    def abandoned(self) -> bool:
        """True if nobody waits for it any more."""
        return self.outcome.done()

    async def perform(self, session: "ServerSession") -> None:
        """Make the call and settle the outcome, whatever happens."""
        try:
            result = await session.call(self.tool, self.arguments, self.timeout_seconds)
        except (ToolCallLost, ToolServerDown) as error:
            self.fail(error)
        except BaseException:  # also cancelled: the server ended, or it is being stopped in mid-call
            how = "ended" if session.ended.is_set() else "was stopped"
            self.fail(ToolCallLost(f"The tool server {how} during the call of {self.tool}"))
            raise
        else:
            if not self.outcome.done():
                self.outcome.set_result(result)

    def fail(self, error: Exception) -> None:
        """Settle the outcome with an error, unless nobody waits for it any more."""
        if not self.outcome.done():
            self.outcome.set_exception(error)


@dataclass(slots=True, eq=False)
class Restart:
    """Somebody asked for a restart and waits for its end."""

    done: "asyncio.Future[None]"

    @property
    def abandoned(self) -> bool:
        """True if nobody waits for it any more: it is done all the same."""
        return False

    def finish(self) -> None:
        """Tell who asked."""
        if not self.done.done():
            self.done.set_result(None)


@dataclass(frozen=True, slots=True)
class ToolsChanged:
    """A process said that its tools changed."""

    child: ServerChild


@dataclass(frozen=True, slots=True)
class OutputEnded:
    """A process will say nothing more."""

    child: ServerChild


Message = Call | Restart | ToolsChanged | OutputEnded
