"""The event stream under any order of events and readers: what is replayed and what comes live is all."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sophos_desktop.core.domain.conversation import Message, Role
from sophos_desktop.core.domain.events import (
    DELTAS,
    Event,
    MessageStored,
    Notice,
    RunEvent,
    SittingEnded,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from sophos_desktop.core.runs.event_stream import EventStream
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.trace import StoredEvent, TraceStore
from sophos_desktop.foundation.clock import SystemClock

FIRST_SEQ = 5
"""A run that waited goes on: the numbers of its second sitting do not begin with one."""

Delta = TextDelta | ThinkingDelta


class KeptTrace(TraceStore):
    """Keeps what a file would; a file's turn of the loop included, so that readers come in between."""

    def __init__(self) -> None:
        super().__init__(Database(Path("nowhere")))
        self.kept: list[StoredEvent] = []

    async def append(self, events: Sequence[StoredEvent]) -> None:
        await asyncio.sleep(0)
        self.kept.extend(events)


deltas = st.builds(TextDelta, st.just(""), st.text(max_size=3)) | st.builds(
    ThinkingDelta, st.just(""), st.text(max_size=3)
)
answers = st.tuples(st.lists(deltas, max_size=6), st.booleans())
"""The deltas of a message, and whether it is stored in the end."""
sittings = st.lists(answers | st.just(Notice("CODE", "said")), max_size=6)


def spelled_out(sitting: Sequence[tuple[list[Delta], bool] | Notice]) -> list[Event]:
    """The events of a sitting, in order."""
    events: list[Event] = []
    for number, part in enumerate(sitting):
        if isinstance(part, Notice):
            events.append(part)
            continue
        made = [type(delta)(f"m{number}", delta.text) for delta in part[0]]
        events += made
        if part[1]:
            text = "".join(delta.text for delta in made if isinstance(delta, TextDelta))
            events.append(MessageStored(Message(f"m{number}", Role.ASSISTANT, text)))
    return events


async def read(stream: EventStream, from_seq: int) -> list[RunEvent]:
    """All that a reader gets, to the end."""
    return [event async for event in stream.events(from_seq)]


@settings(max_examples=120)
@given(
    sittings,
    st.lists(st.tuples(st.integers(0, 40), st.integers(FIRST_SEQ - 4, FIRST_SEQ + 40)), max_size=4),
    st.lists(st.booleans(), min_size=1, max_size=12),
)
async def test_whoever_begins_to_read_whenever_gets_everything_once_and_in_order(
    sitting: list[tuple[list[Delta], bool] | Notice], late: list[tuple[int, int]], pauses: list[bool]
) -> None:
    trace = KeptTrace()
    stream = EventStream("run", trace, SystemClock(), FIRST_SEQ)
    events = spelled_out(sitting)
    first = asyncio.ensure_future(read(stream, 1))
    await asyncio.sleep(0)
    others: list[tuple[int, int, asyncio.Future[list[RunEvent]]]] = []
    for place, event in enumerate(events):
        others += [
            (place, seq, asyncio.ensure_future(read(stream, seq))) for when, seq in late if when == place
        ]
        if isinstance(event, TextDelta | ThinkingDelta):
            stream.delta(event)
        else:
            await stream.emit(event)
        if pauses[place % len(pauses)]:
            await asyncio.sleep(0)
    await stream.emit(SittingEnded("completed", None, None, resumable=False, usage=Usage()))
    last_seq = FIRST_SEQ + len(events)

    whole = await first
    assert [event.seq for event in whole] == list(range(FIRST_SEQ, last_seq + 1)), "no gap, nothing twice"
    assert [event.event for event in whole[:-1]] == events, "nothing merged, nothing changed"
    assert [kept.seq for kept in trace.kept] == [
        event.seq for event in whole if not isinstance(event.event, DELTAS)
    ]
    others.append((len(events), 1, asyncio.ensure_future(read(stream, 1))))
    stored = {event.event.message.id for event in whole if isinstance(event.event, MessageStored)}
    for _, from_seq, future in others:
        got = await future
        expected = [event for event in whole if event.seq >= from_seq]
        seqs = [event.seq for event in got]
        assert seqs == sorted(set(seqs))
        assert all(event in expected for event in got)
        # Left out are at most deltas of a message that is told whole.
        for left_out in (event.event for event in expected if event not in got):
            assert isinstance(left_out, TextDelta | ThinkingDelta)
            assert left_out.message_id in stored
    replayed = await read(stream, 1)
    assert [e.event for e in replayed if isinstance(e.event, DELTAS)] == [
        event
        for event in events
        if isinstance(event, TextDelta | ThinkingDelta) and event.message_id not in stored
    ]


class SlowTrace(TraceStore):
    """Stores each lot only when the test says so."""

    def __init__(self) -> None:
        super().__init__(Database(Path("nowhere")))
        self.waiting: list[asyncio.Future[None]] = []

    async def append(self, events: Sequence[StoredEvent]) -> None:
        self.waiting.append(asyncio.get_running_loop().create_future())
        await self.waiting[-1]


async def rest() -> None:
    """Let everybody go on who can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_two_that_are_stored_at_once_are_seen_in_the_order_of_their_numbers() -> None:
    trace = SlowTrace()
    stream = EventStream("run", trace, SystemClock(), 1)
    seen: list[int] = []

    async def look() -> None:
        async for event in stream.events():
            seen.append(event.seq)

    reader = asyncio.ensure_future(look())
    first = asyncio.ensure_future(stream.emit(Notice("A", "first")))
    await rest()
    second = asyncio.ensure_future(stream.emit(Notice("B", "second")))
    await rest()
    stream.delta(TextDelta("m", "and a piece of text"))
    trace.waiting[1].set_result(None)  # the second is stored first
    await second
    await rest()
    assert seen == []
    trace.waiting[0].set_result(None)
    await first
    ending = asyncio.ensure_future(
        stream.emit(SittingEnded("completed", None, None, resumable=False, usage=Usage()))
    )
    await rest()
    trace.waiting[2].set_result(None)
    await ending
    await reader
    assert seen == [1, 2, 3, 4]


async def test_one_that_is_cancelled_while_it_is_stored_holds_nobody_up() -> None:
    trace = SlowTrace()
    stream = EventStream("run", trace, SystemClock(), 1)
    reader = asyncio.ensure_future(read(stream, 1))
    cut = asyncio.ensure_future(stream.emit(Notice("A", "first")))
    await rest()
    stream.delta(TextDelta("m", "a piece"))
    cut.cancel()
    await asyncio.gather(cut, return_exceptions=True)
    stream.publish_unstored(SittingEnded("cancelled", None, None, resumable=True, usage=Usage()))
    assert [type(event.event) for event in await reader] == [TextDelta, SittingEnded]
