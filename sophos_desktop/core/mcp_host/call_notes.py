"""Brings what a server says during calls to those who made them.

Invariant: bounded whatever the server does: at most `MAXIMUM_NOTES` a call, each of at most
`MAXIMUM_CHARACTERS`, progress at most four times a second with the last one always told; after the end of a
call nothing is told any more; what nobody is there for goes into the server's tail.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sophos_desktop.core.domain.ports import ToolObserver
from sophos_desktop.core.domain.specs import ToolNote
from sophos_desktop.core.mcp_host.shown_text import shown
from sophos_desktop.core.mcp_host.stderr_tail import StderrTail
from sophos_desktop.foundation.clock import Clock

MAXIMUM_NOTES = 200
MAXIMUM_CHARACTERS = 500
PROGRESS_PAUSE_SECONDS = 0.25

_log = logging.getLogger(__name__)


class CallNotes:
    """The notes of one call, from before it is sent to its end."""

    def __init__(self, observe: ToolObserver, clock: Clock) -> None:
        self._observe: ToolObserver | None = observe
        self._clock = clock
        self._told = 0
        self._next_progress_at = clock.monotonic()
        self._held_back: ToolNote | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.left_out = 0

    def tell(self, note: ToolNote) -> None:
        """A log line or a declined request."""
        if self._told < MAXIMUM_NOTES - 1:  # the last place is kept for the last progress
            self._deliver(note)
        else:
            self.left_out += 1

    def progressed(self, note: ToolNote) -> None:
        """How far the call is: told now, or soon if no later progress takes its place."""
        full = self._told >= MAXIMUM_NOTES - 1
        if full and self._held_back is not None:
            self.left_out += 1
        self._held_back = note
        if full:
            return
        wait_seconds = self._next_progress_at - self._clock.monotonic()
        if wait_seconds <= 0:
            self._tell_held_back()
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(wait_seconds, self._tell_held_back)

    def close(self, *, tell_last: bool) -> None:
        """The call is over. `tell_last`: somebody still listens, so the progress held back is told."""
        if tell_last:
            self._tell_held_back()
        self._stop_timer()
        self._observe = None

    def _tell_held_back(self) -> None:
        self._stop_timer()
        note, self._held_back = self._held_back, None
        if note is not None:
            self._next_progress_at = self._clock.monotonic() + PROGRESS_PAUSE_SECONDS
            self._deliver(note)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _deliver(self, note: ToolNote) -> None:
        if self._observe is None:
            return
        self._told += 1
        try:
            self._observe(replace(note, text=shown(note.text, MAXIMUM_CHARACTERS)))
        except Exception:  # noqa: BLE001  # must not end the session it is told from
            _log.exception("an observer of a tool call failed")
            self._observe = None


class CallsUnderWay:
    """The calls of one session that are under way, by their progress tokens."""

    def __init__(self, clock: Clock, tail: StderrTail) -> None:
        self._clock = clock
        self._tail = tail
        self._last_token = 0
        self._notes: dict[int, CallNotes] = {}

    @contextmanager
    def call(self, tool: str, observe: ToolObserver | None) -> Iterator[int]:
        """Around one call; gives its progress token. The observer hears nothing after it was left."""
        self._last_token += 1
        token = self._last_token
        notes = CallNotes(observe, self._clock) if observe is not None else None
        if notes is not None:
            self._notes[token] = notes
        listens = True
        try:
            yield token
        except asyncio.CancelledError:
            listens = False
            raise
        finally:
            if notes is not None:
                del self._notes[token]
                notes.close(tell_last=listens)
                if notes.left_out:
                    self._tail.note(f"{notes.left_out} more notes during the call of {tool} were left out")

    def progressed(self, token: object, note: ToolNote) -> None:
        """Progress of the call with that token; of a call that is over it is dropped."""
        notes = self._notes.get(token) if isinstance(token, int) else None
        if notes is not None:
            notes.progressed(note)

    def said(self, note: ToolNote) -> None:
        """Something that names no call: every call under way hears it, else the tail keeps it."""
        for notes in tuple(self._notes.values()):
            notes.tell(note)
        if not self._notes:
            level = f" {note.level}" if note.level else ""
            self._tail.note(f"{note.kind}{level}: {shown(note.text, MAXIMUM_CHARACTERS)}")
