"""Connects the pipes of a child process to the event loop.

Invariant: stderr is always read, so a child never blocks on it; stdout is read as lines, each at most
`MAXIMUM_LINE_BYTES` (a longer one is noted and stands as an empty line), and paused while nobody takes
them; the end of the process is seen even where a grandchild keeps its pipes open (asyncio's own
`Process.wait` on 3.11 waits for the pipes).
"""

import asyncio
from collections import deque
from typing import cast

from sophos_desktop.core.mcp_host.stderr_tail import StderrTail

MAXIMUM_LINE_BYTES = 64 * 1024 * 1024
_WAITING_BYTES = 1024 * 1024
_LAST_OUTPUT_SECONDS = 0.5


class ChildProtocol(asyncio.SubprocessProtocol):
    """The pipes of one process. Lives on its loop from the spawn until the transport is closed."""

    def __init__(self, tail: StderrTail) -> None:
        self._tail = tail
        self._transport: asyncio.SubprocessTransport | None = None
        self._lines: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._open_line = bytearray()
        self._skipping = False
        self._line_number = 0
        self._paused = False
        self._something = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._no_more_output = False
        self._last_output: asyncio.TimerHandle | None = None
        self.exited = asyncio.Event()
        self.disconnected = asyncio.Event()

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._tail.feed(data)
            return
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._take_line(part)
        self._extend(rest)
        if ended:
            self._something.set()
        if self._waiting_bytes > _WAITING_BYTES and not self._paused:
            self._paused = True
            self._pause_output(paused=True)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._writable.set()
        elif fd == 1:
            self._end_output()
        else:
            self._tail.end()

    def process_exited(self) -> None:
        self.exited.set()
        self._writable.set()
        loop = asyncio.get_running_loop()
        self._last_output = loop.call_later(_LAST_OUTPUT_SECONDS, self._end_output)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._last_output is not None:
            self._last_output.cancel()
        self._end_output()
        self.disconnected.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # What the owner of the process uses.

    async def next_line(self) -> bytes | None:
        """The next line of stdout without its end; None when there will be no more."""
        while not self._lines:
            if self._no_more_output:
                return None
            self._something.clear()
            await self._something.wait()
        line = self._lines.popleft()
        self._waiting_bytes -= len(line)
        if self._paused and self._waiting_bytes <= _WAITING_BYTES // 2:
            self._paused = False
            self._pause_output(paused=False)
        return line

    async def writable(self) -> None:
        """Wait until the child reads what was written to its stdin, or is gone."""
        await self._writable.wait()

    def _take_line(self, part: bytes) -> None:
        self._extend(part)
        self._line_number += 1
        if self._skipping:
            self._skipping = False
            size = f"{MAXIMUM_LINE_BYTES // 1024 // 1024} MB"
            self._tail.note(f"stdout line {self._line_number}: longer than {size}, dropped")
        line = bytes(self._open_line)
        self._open_line = bytearray()
        self._lines.append(line)
        self._waiting_bytes += len(line)

    def _extend(self, part: bytes) -> None:
        if self._skipping:
            return
        self._open_line += part
        if len(self._open_line) > MAXIMUM_LINE_BYTES:
            self._open_line = bytearray()
            self._skipping = True

    def _end_output(self) -> None:
        if self._no_more_output:
            return
        if self._open_line or self._skipping:
            self._take_line(b"")
        self._no_more_output = True
        self._something.set()

    def _pause_output(self, *, paused: bool) -> None:
        if self._transport is None:
            return
        pipe = cast("asyncio.ReadTransport | None", self._transport.get_pipe_transport(1))
        if pipe is None or pipe.is_closing():
            return
        if paused:
            pipe.pause_reading()
        else:
            pipe.resume_reading()
