"""Keeps the text that arrived and is not in the thread (DURABILITY.md, rule 11).

Invariant: a partial never changes what is left to do. While an answer streams it is saved every few
seconds, so that a kill costs no more than that of what the user has read.
"""

import asyncio
from collections.abc import Sequence

from sophos_desktop.core.agent.graph_runner import Thread
from sophos_desktop.core.domain.conversation import Message, MessageState, Role
from sophos_desktop.core.runs.event_stream import Arrived, EventStream
from sophos_desktop.core.store.trace import Partial, TraceStore
from sophos_desktop.foundation.clock import Clock, to_text

SAVE_EVERY_SECONDS = 2.0
# A save writes the whole text: it may take this share of the time at most.
_LARGEST_SHARE = 0.05


class PartialKeeper:
    """Lives for one sitting."""

    def __init__(self, trace: TraceStore, clock: Clock, conversation_id: str, run_id: str) -> None:
        """`run_id`: the run whose partial this is."""
        self._trace = trace
        self._clock = clock
        self._conversation_id = conversation_id
        self._run_id = run_id
        self.model: str | None = None

    async def keep(self, stream: EventStream) -> None:
        """Save what arrived, again and again, until cancelled. Raises SophosError STORE_*."""
        pause = SAVE_EVERY_SECONDS
        saved = 0
        while True:
            await asyncio.sleep(pause)
            arrived = stream.arrived
            size = 0 if arrived is None else len(arrived.text) + len(arrived.thinking)
            if arrived is None or size == saved:
                continue
            began = self._clock.monotonic()
            await self._write(arrived, MessageState.INCOMPLETE, self.model)
            saved = size
            pause = max(SAVE_EVERY_SECONDS, (self._clock.monotonic() - began) / _LARGEST_SHARE)

    async def save(
        self, arrived: Arrived | None, thread: Thread, state: MessageState, model: str | None
    ) -> bool:
        """Save what arrived of a message that the thread does not hold; else drop what was saved of it.

        True if there is something."""
        if arrived is None or thread.holds(arrived.message_id) or not (arrived.text or arrived.thinking):
            await self._trace.drop_partials([self._run_id])
            return False
        await self._write(arrived, state, model)
        return True

    async def _write(self, arrived: Arrived, state: MessageState, model: str | None) -> None:
        await self._trace.save_partial(
            Partial(
                run_id=self._run_id,
                message_id=arrived.message_id,
                text="".join(arrived.text),
                thinking="".join(arrived.thinking),
                state=state.value,
                at=to_text(self._clock.now()),
                model=model,
            )
        )

    async def left_by_earlier_runs(self, thread: Thread) -> Sequence[tuple[str, Message]]:
        """The partials of other runs that the thread does not hold, oldest first, by run id."""
        found = await self._trace.partials(self._conversation_id)
        return [
            (partial.run_id, partial_message(partial))
            for partial in found
            if partial.run_id != self._run_id and not thread.holds(partial.message_id)
        ]

    async def drop(self, run_ids: Sequence[str]) -> None:
        """These partials are in the thread, or a continuation stands in their place."""
        await self._trace.drop_partials(run_ids)


def answer_so_far(halves: Sequence[Message]) -> Sequence[Message]:
    """Of the attempts at one answer, oldest first, the one that counts: the last of which there is text, else
    the last. Whoever resumed wanted the answer anew, so none before it is sent to the model."""
    with_text = [half for half in halves if half.text.strip()]
    return (with_text or list(halves))[-1:]


def partial_message(partial: Partial) -> Message:
    """A partial as front ends show it."""
    return Message(
        id=partial.message_id,
        role=Role.ASSISTANT,
        text=partial.text,
        thinking=partial.thinking or None,
        state=MessageState(partial.state),
        at=partial.at,
        model=partial.model,
        run_id=partial.run_id,
    )
