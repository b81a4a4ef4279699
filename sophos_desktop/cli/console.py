"""The three standard streams, as the commands use them.

Invariant: a reader that is slow, stuck or gone never stops the event loop, and no text makes a stream fail:
whatever the locale cannot say is replaced, and a terminal gets no control characters but our colours.
"""

import asyncio
import errno
import os
import queue
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from sophos_desktop.core.domain.errors import ErrorCode, SophosError

# How long a reader that does not read is waited for once the program was asked to end.
HURRIED_SECONDS = 2.0

# Windows says EINVAL where a pipe's reader has left.
_READER_LEFT = (errno.EPIPE, errno.EINVAL, errno.ESHUTDOWN, errno.ECONNRESET)
_FORBIDDEN_ON_TERMINALS = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")

_Job = tuple[TextIO, str | bytes, Callable[[OSError | None], None]] | None


class Console:
    """Lives as long as the program. Writes in a thread of its own, so that the loop goes on meanwhile."""

    def __init__(
        self,
        stdin: TextIO | None,
        stdout: TextIO | None,
        stderr: TextIO | None,
        environ: Mapping[str, str],
    ) -> None:
        """A stream may be missing: then nothing is read, or what is written goes nowhere.

        `stuck`: a reader does not read; the interpreter must not wait for its stream at the end."""
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._pending: set[asyncio.Future[None]] = set()
        self._lost: BrokenPipeError | None = None
        self.stuck = False
        self.stdout_is_terminal = _is_terminal(stdout)
        self._stderr_is_terminal = _is_terminal(stderr)
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.coloured = self.stdout_is_terminal and not plain
        for stream, terminal in ((stdout, self.stdout_is_terminal), (stderr, self._stderr_is_terminal)):
            _make_tolerant(stream, environ, terminal=terminal)

    @property
    def can_ask(self) -> bool:
        """True if there is somebody to ask: the question goes to stderr, the answer comes from stdin."""
        return _is_terminal(self._stdin) and self._stderr_is_terminal

    @property
    def can_show_progress(self) -> bool:
        """True if stderr is a terminal, where lines that come and go by are no nuisance."""
        return self._stderr_is_terminal

    @property
    def reader_has_left(self) -> bool:
        """True once stdout was found closed."""
        return self._lost is not None

    async def out(self, text: str) -> None:
        """Write to stdout, and wait until that is done.

        Raises BrokenPipeError if its reader has left; SophosError EXPORT_FAILED if it cannot be written."""
        await self._out(_cleaned(text, terminal=self.stdout_is_terminal))

    async def out_bytes(self, data: bytes) -> None:
        """Write to stdout as it is; not for terminals. Raises as `out`."""
        await self._out(data)

    async def _out(self, data: str | bytes) -> None:
        if self._lost is not None:
            raise self._lost
        if self._stdout is None:
            return
        try:
            await self._write(self._stdout, data)
        except OSError as error:
            raise self._lose(error) from error

    async def note(self, text: str) -> None:
        """Write a line to stderr. A stderr that is gone costs nothing else."""
        if self._stderr is None:
            return
        try:
            await self._write(self._stderr, _cleaned(text, terminal=self._stderr_is_terminal) + "\n")
        except OSError:
            self._stderr = None

    def note_now(self, text: str) -> None:
        """`note` without a loop: for the last words."""
        self._now(self._stderr, _cleaned(text, terminal=self._stderr_is_terminal) + "\n")

    def out_now(self, text: str) -> None:
        """Write to stdout without a loop; a reader that has left is no error."""
        if self._lost is None:
            self._now(self._stdout, _cleaned(text, terminal=self.stdout_is_terminal))

    def close(self) -> None:
        """End the thread, unless a reader holds it."""
        if self._writer is not None and not self.stuck:
            self._jobs.put(None)
            self._writer.join()

    def hurry(self) -> None:
        """The program was asked to end: give up on a reader that does not read. Needs the loop."""
        asyncio.get_running_loop().call_later(HURRIED_SECONDS, self._give_up)

    async def ask(self, question: str) -> str | None:
        """A line from the terminal, without its end; None if the terminal was closed."""
        if self._stdin is None or self._stderr is None:
            return None
        await self._write(self._stderr, _cleaned(question, terminal=True))
        descriptor, encoding = self._stdin.fileno(), self._stdin.encoding
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            # Not through the stream: a thread that waits inside it keeps the interpreter from ending.
            data = b""
            try:
                while not data.endswith(b"\n") and (more := os.read(descriptor, 65536)):
                    data += more
            except OSError:
                data = b""
            _tell(loop, answer, data, None)

        threading.Thread(target=read, name="terminal", daemon=True).start()
        line = (await answer).decode(encoding, "replace")
        return line.rstrip("\r\n") if line else None

    def read_all(self) -> str:
        """All of stdin, without the line end at its end. Raises SophosError BAD_REQUEST."""
        if self._stdin is None:
            raise SophosError(ErrorCode.BAD_REQUEST, "There is no standard input to read", "Give the text")
        buffer: Any = getattr(self._stdin, "buffer", None)
        text = self._stdin.read() if buffer is None else buffer.read().decode("utf-8-sig", "replace")
        return str(text).rstrip("\r\n")

    async def _write(self, stream: TextIO, text: str | bytes) -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._pending.add(done)
        done.add_done_callback(self._pending.discard)
        if self._writer is None:
            self._writer = threading.Thread(target=self._serve, name="output", daemon=True)
            self._writer.start()
        self._jobs.put((stream, text, lambda error: _tell(loop, done, None, error)))
        await done

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            stream, text, tell = job
            failure: OSError | None = None
            self.stuck = True
            try:
                _put(stream, text)
            except OSError as error:
                failure = error
            except ValueError as error:  # somebody closed the stream
                failure = OSError(errno.EPIPE, str(error))
            self.stuck = False
            tell(failure)

    def _give_up(self) -> None:
        for done in tuple(self._pending):
            if not done.done():
                done.set_exception(BrokenPipeError(errno.EPIPE, "the reader does not read"))

    def _lose(self, error: OSError) -> Exception:
        self._lost = BrokenPipeError(errno.EPIPE, "the reader has left")
        if not self.stuck:
            _drop(self._stdout)
        if error.errno in _READER_LEFT:
            return self._lost
        return SophosError(
            ErrorCode.EXPORT_FAILED,
            f"The output cannot be written: {error.strerror or error}",
            "Everything up to here is stored; see `show`",
        )

    def _now(self, stream: TextIO | None, text: str) -> None:
        if stream is None or self.stuck:
            return
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            _drop(stream)


def _put(stream: TextIO, data: str | bytes) -> None:
    if isinstance(data, str):
        stream.write(data)
    elif (buffer := getattr(stream, "buffer", None)) is None:
        stream.write(data.decode("utf-8", "replace"))
    else:
        stream.flush()
        buffer.write(data)
    stream.flush()


def _tell(
    loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]", value: object, error: OSError | None
) -> None:
    """Settle a future of the loop from another thread."""

    def settle() -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        pass  # the loop has ended meanwhile: nobody waits any more


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _make_tolerant(stream: TextIO | None, environ: Mapping[str, str], *, terminal: bool) -> None:
    """Files and pipes get UTF-8 unless the user says otherwise; what cannot be said is replaced."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:
        return
    if terminal or environ.get("PYTHONIOENCODING"):
        reconfigure(errors="replace")
    else:
        reconfigure(encoding="utf-8", errors="replace")


def _cleaned(text: str, *, terminal: bool) -> str:
    """Answers and tool results are untrusted: on a terminal a control sequence could rewrite the screen."""
    if not terminal:
        return text
    return _FORBIDDEN_ON_TERMINALS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def _drop(stream: TextIO | None) -> None:
    """Let what is still buffered go nowhere, or the interpreter complains about it at its end."""
    try:
        descriptor = stream.fileno() if stream is not None else -1
        nowhere = os.open(os.devnull, os.O_WRONLY)
    except (OSError, ValueError):
        return
    try:
        if descriptor >= 0:
            os.dup2(nowhere, descriptor)
    finally:
        os.close(nowhere)
