"""Follows a run that another process executes, by what it stores.

Invariant: what is told is what was stored, one sitting of the run, from its `run_started` to its `end`. If
the process that owns the run dies, recovery gives it its outcome here.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from sophos_desktop.core.domain.events import (
    SCHEMA_VERSION,
    RunEvent,
    SittingEnded,
    ToolDecided,
    event_from_json,
)
from sophos_desktop.core.domain.run import RunRecord, RunStatus
from sophos_desktop.core.runs.conversations import Conversations
from sophos_desktop.core.runs.recovery import Recovery
from sophos_desktop.core.runs.watcher import StoreWatcher
from sophos_desktop.foundation.clock import Clock

# Whether the owner lives is asked less often than whether it wrote: it costs a lock.
RECOVER_SECONDS = 1.0
# The outcome is committed a moment before its event is.
END_EVENT_SECONDS = 5.0

StoredEvent = Mapping[str, Any]


class Follower:
    """Lives as long as the core; follows any number of runs at once."""

    def __init__(
        self, conversations: Conversations, recovery: Recovery, watcher: StoreWatcher, clock: Clock
    ) -> None:
        """`watcher` says when to look again."""
        self._conversations = conversations
        self._recovery = recovery
        self._watcher = watcher
        self._clock = clock

    def follow(self, record: RunRecord) -> "FollowedRun":
        """A run as the front ends follow their own ones."""
        return FollowedRun(record.id, record.conversation_id, self, record)

    async def sitting(self, record: RunRecord) -> AsyncGenerator[StoredEvent, None]:
        """The stored events of the run's current sitting, or of its last one; the last is its `end`."""
        wrote = asyncio.Event()
        unsubscribe = self._watcher.subscribe(wrote.set)
        try:
            async for event in self._sitting(record, wrote):
                yield event
        finally:
            unsubscribe()

    async def _sitting(self, record: RunRecord, wrote: asyncio.Event) -> AsyncGenerator[StoredEvent, None]:
        told = 0
        look_at_owner = self._clock.monotonic() + RECOVER_SECONDS
        ended_since: float | None = None
        while True:
            wrote.clear()
            record = await self._conversations.find_run(record.id)
            running = record.status is RunStatus.RUNNING
            fresh: Sequence[StoredEvent] = await self._conversations.trace(record.id, told)
            if told == 0:
                fresh = current_sitting(fresh, running=running)
            for event in fresh:
                told = event["seq"]
                yield event
                if event["type"] == "end":
                    return
            now = self._clock.monotonic()
            if running:
                ended_since = None
                if now >= look_at_owner:
                    await self._recovery.before_claim(record.conversation_id)
                    look_at_owner = now + RECOVER_SECONDS
            else:
                ended_since = now if ended_since is None else ended_since
                if now - ended_since > END_EVENT_SECONDS:
                    yield _missing_end(record, told + 1)
                    return
            await _first_of(wrote, RECOVER_SECONDS)


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """A run of another process, to be followed like one's own; its deltas are not stored, so its answers
    arrive whole."""

    run_id: str
    conversation_id: str
    _follower: Follower
    _record: RunRecord

    async def events(self, from_seq: int = 1) -> AsyncIterator[RunEvent]:
        """The events of its current sitting from a number on; ends after SittingEnded."""
        async with aclosing(self._follower.sitting(self._record)) as stored:
            async for value in stored:
                try:
                    event = event_from_json(value)
                except KeyError:
                    continue  # of a newer version: nothing this one could show
                if event.seq >= from_seq:
                    yield event

    async def wait(self) -> SittingEnded:
        """The end of the sitting."""
        async for event in self.events():
            if isinstance(event.event, SittingEnded):
                return event.event
        raise AssertionError("a sitting ends with its end")


async def _first_of(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        pass


def current_sitting(events: Sequence[StoredEvent], *, running: bool) -> Sequence[StoredEvent]:
    """What belongs to the run's sitting now; if it does not run, to its last one. What was decided between
    two sittings belongs to neither."""
    ends = [index for index, event in enumerate(events) if event["type"] == "end"]
    if not running and ends and all(event["type"] == ToolDecided.type for event in events[ends[-1] + 1 :]):
        events = events[: ends.pop() + 1]
    since = events[ends[-1] + 1 :] if ends else events
    first = next(
        (index for index, event in enumerate(since) if event["type"] != ToolDecided.type), len(since)
    )
    return since[first:] if ends else since


def _missing_end(record: RunRecord, seq: int) -> StoredEvent:
    """The end as the row tells it, for a run whose event could not be stored."""
    ended = record.status not in (RunStatus.RUNNING, RunStatus.WAITING)
    return {
        "v": SCHEMA_VERSION,
        "run_id": record.id,
        "seq": seq,
        "at": record.finished_at,
        "type": "end",
        "status": record.status.value,
        "error_code": record.error_code,
        "error_message": record.error_message,
        "resumable": ended and record.unfinished,
        "usage": {"prompt_tokens": 0, "output_tokens": 0, "model_calls": 0, "tool_calls": 0},
    }
