"""The events of one sitting: persisted, then published; replayed, then live.

Invariant: numbers have no gap within a sitting; an event that lasts is stored before anybody sees it, and all
are seen in the order of their numbers, whichever was stored first. The buffer is no persistence: it lives as
long as the sitting's handle, and holds each message's text once.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from sophos_desktop.core.domain.conversation import Message, MessageState, Role
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.events import (
    DELTAS,
    Event,
    MessageStored,
    ModelCallFinished,
    RunEvent,
    SittingEnded,
    StepEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolDecided,
    Usage,
    event_fields,
    event_from_json,
)
from sophos_desktop.core.store.trace import StoredEvent, TraceStore
from sophos_desktop.foundation.clock import Clock, to_text


@dataclass(slots=True)
class Arrived:
    """What has arrived of a message that is not stored yet."""

    message_id: str
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)

    def as_message(self, state: MessageState, at: str, model: str | None, run_id: str) -> Message:
        """The partial message."""
        return Message(
            id=self.message_id,
            role=Role.ASSISTANT,
            text="".join(self.text),
            thinking="".join(self.thinking) or None,
            state=state,
            at=at,
            model=model,
            run_id=run_id,
        )


@dataclass(eq=False, slots=True)
class _Reader:
    """How far a reader has come."""

    seq: int


class EventStream:
    """Lives for one sitting, and afterwards as long as somebody holds it. Used on one loop."""

    def __init__(self, run_id: str, trace: TraceStore, clock: Clock, first_seq: int) -> None:
        """`first_seq`: the number of the sitting's first event."""
        self.run_id = run_id
        self._trace = trace
        self._clock = clock
        self._next_seq = first_seq
        self._open: set[int] = set()  # numbers whose events are being stored
        self._held: list[RunEvent] = []  # those that wait for one of these
        self._buffer: list[RunEvent] = []
        self._grew = asyncio.Event()
        self._readers: list[_Reader] = []
        self.arrived: Arrived | None = None
        self.ended: SittingEnded | None = None
        self.usage = Usage()

    def delta(self, event: TextDelta | ThinkingDelta) -> None:
        """Publish more text of a message."""
        if self.arrived is None or self.arrived.message_id != event.message_id:
            self.arrived = Arrived(event.message_id)
        parts = self.arrived.text if isinstance(event, TextDelta) else self.arrived.thinking
        parts.append(event.text)
        self._publish([self._number(event)])

    def replay(self, stored: Sequence[StoredEvent]) -> None:
        """Publish what others stored right before this sitting: decisions on its run."""
        for event in stored:
            envelope = {"run_id": event.run_id, "seq": event.seq, "at": event.at, "type": event.event}
            self._publish([event_from_json({**event.data, **envelope})])

    async def emit(self, *events: Event) -> None:
        """Store the events in one transaction, then publish them. Raises SophosError STORE_*."""
        numbered = [self._number(event) for event in events]
        numbers = {event.seq for event in numbered}
        self._open |= numbers
        stored: Sequence[RunEvent] = ()
        try:
            await self._trace.append([_to_store(event) for event in numbered])
            stored = numbered
        except SophosError:
            if self._next_seq == numbered[-1].seq + 1:  # nobody has seen or stored these numbers
                self._next_seq = numbered[0].seq
            raise
        finally:  # also when cancelled: later ones may be waiting
            self._open -= numbers
            for event in stored:
                if isinstance(event.event, MessageStored):
                    self._is_stored(event.event.message.id)
                self.usage = _counted(self.usage, event.event)
            self._publish(stored)

    def publish_unstored(self, event: Event) -> None:
        """Publish an event that the store refused, so that nobody waits for ever."""
        self._publish([self._number(event)])

    def _number(self, event: Event) -> RunEvent:
        numbered = RunEvent(self.run_id, self._next_seq, to_text(self._clock.now()), event)
        self._next_seq += 1
        return numbered

    def _publish(self, events: Sequence[RunEvent]) -> None:
        """Show these, and what waited for them. Two that are stored at once may be done in any order, and a
        reader who has seen a number never looks for a lower one."""
        self._held += events
        before = min(self._open, default=self._next_seq)
        ready = sorted((event for event in self._held if event.seq < before), key=lambda event: event.seq)
        if not ready:
            return
        self._held = [event for event in self._held if event.seq >= before]
        for event in ready:
            if isinstance(event.event, MessageStored):
                self._forget_deltas(event.event.message.id)
            self._buffer.append(event)
            if isinstance(event.event, SittingEnded):
                self.ended = event.event
        self._wake()

    def _wake(self) -> None:
        self._grew.set()
        self._grew = asyncio.Event()

    def _is_stored(self, message_id: str) -> None:
        if self.arrived is not None and self.arrived.message_id == message_id:
            self.arrived = None

    def _forget_deltas(self, message_id: str) -> None:
        """The stored message says it all, but for readers who are still in the middle of it."""
        read_by_all = min((reader.seq for reader in self._readers), default=self._next_seq)
        self._buffer = [
            kept
            for kept in self._buffer
            if not (
                isinstance(kept.event, DELTAS)
                and kept.event.message_id == message_id
                and kept.seq <= read_by_all
            )
        ]

    async def events(self, from_seq: int = 1) -> AsyncIterator[RunEvent]:
        """All events of the sitting from a number on, then live ones; ends after SittingEnded.

        A reader who comes late gets a stored message in place of its deltas."""
        reader = _Reader(from_seq - 1)
        self._readers.append(reader)
        try:
            while True:
                grew = self._grew
                fresh = self._after(reader.seq)
                for event in fresh:
                    reader.seq = event.seq
                    yield event
                    if isinstance(event.event, SittingEnded):
                        return
                if not fresh:
                    if self.ended is not None:
                        return  # asked for what comes after the end
                    await grew.wait()
        finally:
            self._readers.remove(reader)

    def _after(self, seq: int) -> Sequence[RunEvent]:
        # The newest are at the end: walk back only as far as needed.
        index = len(self._buffer)
        while index > 0 and self._buffer[index - 1].seq > seq:
            index -= 1
        return self._buffer[index:]

    async def wait(self) -> SittingEnded:
        """The end of the sitting."""
        while self.ended is None:
            await self._grew.wait()
        return self.ended


def _counted(usage: Usage, event: Event) -> Usage:
    if isinstance(event, ModelCallFinished):
        return replace(
            usage,
            prompt_tokens=usage.prompt_tokens + (event.prompt_tokens or 0),
            output_tokens=usage.output_tokens + (event.output_tokens or 0),
            model_calls=usage.model_calls + 1,
        )
    if isinstance(event, ToolCallStarted):
        return replace(usage, tool_calls=usage.tool_calls + 1)
    return usage


def _to_store(event: RunEvent) -> StoredEvent:
    kind = event.event
    data = event_fields(kind)
    name: str | None = None
    if isinstance(kind, MessageStored):
        data = {"message": _without_texts(kind.message)}
        name = kind.message.id
    elif isinstance(kind, ToolCallFinished):
        data["text"] = None
        data["text_bytes"] = len(kind.text.encode("utf-8", "surrogatepass"))
        name = kind.tool_call_id
    elif isinstance(kind, ToolCallStarted):
        del data["args"]
        name = kind.tool_call_id
    elif isinstance(kind, ToolDecided):
        name = kind.tool_call_id
    return StoredEvent(
        run_id=event.run_id,
        seq=event.seq,
        at=event.at,
        event=kind.type,
        data=data,
        step=kind.step if isinstance(kind, StepEvent) else None,
        node=kind.node if isinstance(kind, StepEvent) else None,
        name=name,
    )


def _without_texts(message: Message) -> dict[str, object]:
    """Texts are stored once, in the thread: the trace keeps ids, sizes and states."""
    full = message.to_json()
    for text in ("text", "thinking", "tool_calls", "sent_args"):
        full.pop(text)
    full["text_bytes"] = len(message.text.encode("utf-8", "surrogatepass"))
    return full
