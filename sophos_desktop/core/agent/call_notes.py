"""What a server says while a call of it is under way, on its way to the trace.

Invariant: notes are told in their order, none after the call's end; however much a server says, only so much
waits and only so much is told, and what was left out is said at the end. Nothing here changes an answer.
"""

import asyncio
import logging
from collections import deque
from types import TracebackType

from sophos_desktop.core.agent.run_context import RunSink
from sophos_desktop.core.domain.errors import SophosError
from sophos_desktop.core.domain.events import ToolNoted
from sophos_desktop.core.domain.specs import ToolNote
from sophos_desktop.foundation.tasks import TaskOwner

_log = logging.getLogger(__name__)

WAITING_NOTES = 64
TOLD_NOTES = 1_000
TEXT_CHARACTERS = 4_000


class CallNotes:
    """Lives for one call, on its loop; costs nothing until the first note."""

    def __init__(self, sink: RunSink, tool_call_id: str, server: str) -> None:
        """Notes become events of `sink`."""
        self._sink = sink
        self._tool_call_id = tool_call_id
        self._server = server
        self._waiting: deque[ToolNote] = deque()
        self._told = 0
        self._left_out = 0
        self._closed = False
        self._telling: asyncio.Task[None] | None = None
        self._tasks = TaskOwner(lambda error: _log.error("notes of a call failed", exc_info=error))

    async def __aenter__(self) -> "CallNotes":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tell what still waits; if the call was cancelled, let it go."""
        self._closed = True
        try:
            if self._telling is not None and not isinstance(error, asyncio.CancelledError):
                await asyncio.wait([self._telling])
                await self._tell_rest()
        finally:
            self._waiting.clear()
            await self._tasks.close()

    def observe(self, note: ToolNote) -> None:
        """Take a note; a `ToolObserver`. After the call's end it is dropped."""
        if self._closed:
            return
        if self._told + len(self._waiting) >= TOLD_NOTES:
            self._left_out += 1
            return
        if len(self._waiting) >= WAITING_NOTES:
            self._waiting.popleft()
            self._left_out += 1
        self._waiting.append(note)
        if self._telling is None or self._telling.done():
            self._telling = self._tasks.spawn(self._tell(), f"notes {self._tool_call_id}")

    async def _tell(self) -> None:
        while self._waiting:
            notes = [*self._waiting]
            self._waiting.clear()
            self._told += len(notes)
            await self._emit([self._event(note) for note in notes])

    async def _tell_rest(self) -> None:
        if self._left_out:
            plural = "note was" if self._left_out == 1 else "notes were"
            text = f"{self._left_out} more {plural} left out"
            await self._emit([self._event(ToolNote("log", text, level="warning"))])

    async def _emit(self, events: list[ToolNoted]) -> None:
        try:
            await self._sink.emit(*events)
        except SophosError as error:
            _log.info("%s could not be traced: %s", ToolNoted.type, error.code)

    def _event(self, note: ToolNote) -> ToolNoted:
        text = note.text
        if len(text) > TEXT_CHARACTERS:
            text = text[: TEXT_CHARACTERS - 1] + "…"
        return ToolNoted(
            tool_call_id=self._tool_call_id,
            server=self._server,
            kind=note.kind,
            text=text,
            level=note.level,
            progress=note.progress,
            total=note.total,
        )
