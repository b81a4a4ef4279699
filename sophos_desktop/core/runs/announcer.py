"""Announces what a checkpoint holds, and lets go of what it makes superfluous.

Invariant: called after the checkpoint's commit, never before (DURABILITY.md, rule 9). Recorded results, the
run's input text and superseded partials are dropped only once a checkpoint holds what they stand for.
"""

from collections.abc import Sequence

from sophos_desktop.core.agent.messages import to_domain
from sophos_desktop.core.agent.run_context import RunContext
from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.domain.events import MessageStored, StepEvent
from sophos_desktop.core.domain.run import RunRecord
from sophos_desktop.core.runs.event_stream import EventStream
from sophos_desktop.core.runs.partials import PartialKeeper
from sophos_desktop.core.runs.stores import Stores

_NODES = {Role.USER: "input", Role.ASSISTANT: "agent", Role.TOOL: "tools"}


class Announcer:
    """Lives for one sitting."""

    def __init__(
        self,
        stores: Stores,
        record: RunRecord,
        context: RunContext,
        stream: EventStream,
        partials: PartialKeeper,
    ) -> None:
        """`context.produced` is emptied at each checkpoint."""
        self._stores = stores
        self._record = record
        self._context = context
        self._stream = stream
        self._partials = partials
        self._superseded: Sequence[str] = ()
        self._since = context.clock.monotonic()

    def supersedes(self, run_ids: Sequence[str]) -> None:
        """The next message that is stored makes the partials of these runs superfluous."""
        self._superseded = run_ids

    async def checkpoint_stored(self, checkpoint_id: str, step: int, source: str) -> None:
        """A checkpoint of the thread is committed. Raises SophosError STORE_*."""
        if source == "input":
            # It holds the input for the next step, not in the thread yet.
            return
        messages = _in_order([to_domain(message) for message in self._context.produced])
        self._context.produced.clear()
        now = self._context.clock.monotonic()
        finished = StepEvent(
            step=step,
            node=_NODES[messages[-1].role] if messages else "",
            phase="finished",
            duration_ms=round((now - self._since) * 1000),
            checkpoint_id=checkpoint_id,
        )
        self._since = now
        await self._stream.emit(finished, *(MessageStored(message) for message in messages))
        await self._let_go(messages)

    async def _let_go(self, messages: Sequence[Message]) -> None:
        answered = [message.tool_call_id for message in messages if message.tool_call_id]
        if answered:
            await self._stores.journal.drop_results(self._record.conversation_id, answered)
        if any(message.id == self._record.input_message_id for message in messages):
            await self._stores.runs.input_arrived(self._record.id)
        if any(message.role is not Role.TOOL for message in messages):
            await self.drop_superseded()

    async def drop_superseded(self) -> None:
        """Something stands in the place of earlier runs' partials."""
        if self._superseded:
            await self._partials.drop(self._superseded)
            self._superseded = ()


def _in_order(messages: Sequence[Message]) -> Sequence[Message]:
    """As the thread has them: results in the order of their calls, not in that of their arrival."""

    def place(message: Message) -> tuple[str, int]:
        call, _, index = (message.tool_call_id or "").rpartition(":")
        return call, int(index) if index.isdecimal() else 0

    return sorted(messages, key=place) if all(message.tool_call_id for message in messages) else messages
