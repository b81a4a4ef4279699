"""A sitting of the fake core: the test says what happens in it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from sophos_desktop.core.domain.conversation import Message, Role, ToolCall, ToolStatus
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.events import (
    Event,
    MessageStored,
    RunEvent,
    RunStarted,
    SittingEnded,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    Usage,
)
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.foundation.clock import to_text
from tests.support.fake_core_parts import START

if TYPE_CHECKING:
    from tests.support.fake_core import FakeCore


class FakeHandle:
    """A sitting; the test says what happens in it."""

    def __init__(self, core: "FakeCore", conversation_id: str, run_id: str) -> None:
        self.run_id = run_id
        self.conversation_id = conversation_id
        self.is_stopped = False
        self._core = core
        self._log: list[RunEvent] = []
        self._waiters: list[asyncio.Future[None]] = []
        self.tell(RunStarted(conversation_id, "message", "ollama", "qwen3:8b"))

    @property
    def told(self) -> Sequence[RunEvent]:
        """All events so far."""
        return tuple(self._log)

    async def events(self, from_seq: int = 1) -> AsyncIterator[RunEvent]:
        """Replay, then live."""
        position = 0
        while True:
            while position < len(self._log):
                item = self._log[position]
                position += 1
                if item.seq >= from_seq:
                    yield item
                if isinstance(item.event, SittingEnded):
                    return
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def tell(self, event: Event) -> None:
        """Any event."""
        self._log.append(RunEvent(self.run_id, len(self._log) + 1, to_text(START), event))
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def say(self, text: str, message_id: str = "answer") -> None:
        """A piece of the answer."""
        self.tell(TextDelta(message_id, text))

    def think(self, text: str, message_id: str = "answer") -> None:
        """A piece of thinking."""
        self.tell(ThinkingDelta(message_id, text))

    def store(self, message: Message) -> None:
        """A message is in the thread."""
        self._core.conversations.stored[self.conversation_id].append(message)
        self.tell(MessageStored(message))

    def answer(self, text: str, message_id: str = "answer", *, thinking: str | None = None) -> None:
        """The whole answer is in the thread."""
        self.store(Message(message_id, Role.ASSISTANT, text, thinking))

    def call(self, call: ToolCall, result: str, status: ToolStatus = ToolStatus.OK) -> None:
        """A tool call from its start to its stored result."""
        self.tell(ToolCallStarted(call.id, call.server, call.tool, call.args, 1))
        self.tell(ToolCallFinished(call.id, status.value, result, 9, recorded=False))
        self.store(Message(f"{call.id}/result", Role.TOOL, result, tool_call_id=call.id, tool_status=status))

    def end(
        self,
        status: RunStatus = RunStatus.COMPLETED,
        error: SophosError | None = None,
        *,
        unfinished: bool = False,
    ) -> None:
        """Record the outcome, then tell it."""
        code, message = (str(error.code), error.message) if error else (None, None)
        self._core.runs.finish(self, status, code, message, unfinished=unfinished)
        self.tell(SittingEnded(status.value, code, message, unfinished, Usage()))
