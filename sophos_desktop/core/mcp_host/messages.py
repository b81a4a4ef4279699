"""What is asked of a server task, and the box in which that waits for it.

Invariant: the outcome of a `Call` is settled exactly once; whoever waits for it may stop waiting by
cancelling it, at any time; what the box took in is handed out once, or kept until it can be answered.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sophos_desktop.core.domain.ports import ToolCallLost, ToolObserver, ToolServerDown
from sophos_desktop.core.domain.specs import ToolResult

if TYPE_CHECKING:
    from sophos_desktop.core.mcp_host.session import ServerSession


@dataclass(slots=True, eq=False)
class Call:
    """A tool call on its way. `taken`: its task has begun, so its own time-out runs; `cut`: what is done to
    its server if it is about to be cut off on purpose, in words; `fingerprint`: the definition that it is
    meant for, empty for any."""

    tool: str
    arguments: Mapping[str, Any]
    timeout_seconds: float
    observe: ToolObserver | None
    outcome: "asyncio.Future[ToolResult]"
    taken: bool = False
    cut: str = ""
    fingerprint: str = ""

    @property
    def abandoned(self) -> bool:
        """True if nobody waits for it any more."""
        return self.outcome.done()

    async def perform(self, session: "ServerSession") -> None:
        """Make the call and settle the outcome, whatever happens."""
        self.taken = True
        sent = session.request()
        try:
            result = await session.call(self.tool, self.arguments, self.timeout_seconds, self.observe, sent)
        except (ToolCallLost, ToolServerDown) as error:
            self.fail(error)
        except BaseException:  # also cancelled: the server ended, or it is being stopped in mid-call
            how = self.cut or ("ended" if session.ended.is_set() else "was stopped")
            text = f"The tool server {how} during the call of {self.tool}"
            if sent.request_id is None:
                self.fail(ToolServerDown(text))
            else:
                self.fail(ToolCallLost(text, server_died=True))
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
    """Somebody asked for a restart and waits for its end. `who`: in words, empty for the user of this
    process; `patience_seconds`: how long calls that are under way may still take."""

    done: "asyncio.Future[None]"
    who: str = ""
    patience_seconds: float = 0.0

    @property
    def abandoned(self) -> bool:
        """True if nobody waits for it any more: it is done all the same."""
        return False

    def finish(self) -> None:
        """Tell who asked."""
        if not self.done.done():
            self.done.set_result(None)


@dataclass(frozen=True, slots=True, eq=False)
class OutputEnded:
    """A session will say nothing more."""

    session: "ServerSession"


Message = Call | Restart | OutputEnded
"""What may be in the box."""


class Inbox:
    """The messages of one server task, over all its lives: those to come and those that wait."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Message] = asyncio.Queue()
        self._waiting: list[Call | Restart] = []

    def put(self, message: Message) -> None:
        """Add a message; never waits."""
        self._queue.put_nowait(message)

    async def next(self) -> Message:
        """The next message, as soon as there is one."""
        return await self._queue.get()

    def keep(self, message: Call | Restart) -> None:
        """Have a message wait for the next life: nothing of it was done."""
        self._waiting.append(message)

    async def demand(self) -> Restart | None:
        """Wait until somebody wants the server; what they want stays. Returns the restart, if it is one."""
        self._waiting = [message for message in self._waiting if not message.abandoned]
        while not self._waiting:
            message = await self._queue.get()
            if isinstance(message, Call | Restart) and not message.abandoned:
                self._waiting.append(message)
                return message if isinstance(message, Restart) else None
        return None

    def take_waiting(self) -> list[Call]:
        """The calls that waited for the server to be ready; who asked for the restart is told."""
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            if isinstance(message, Restart):
                message.finish()
        return [message for message in waiting if isinstance(message, Call)]

    def answer_all(self, error: Callable[[], Exception]) -> None:
        """The start failed, or the end has come: so do the calls that waited for the server."""
        while not self._queue.empty():
            message = self._queue.get_nowait()
            if isinstance(message, Call | Restart):
                self._waiting.append(message)
        for call in self.take_waiting():
            call.fail(error())
