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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from sophos_desktop.core.domain.attaching import text_in
from sophos_desktop.core.domain.errors import ErrorCode, SophosError

# How long a reader that does not read is waited for once the program was asked to end.
HURRIED_SECONDS = 2.0

# Pieces of an answer are written together, as often as a person sees a difference: each write is handed to a
# thread, which costs as much as a hundred pieces do.
PIECES_SECONDS = 0.01
# A reader that is slower than the engine holds the run up here, and not our memory.
UNWRITTEN_CHARACTERS = 65_536

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
        self._pieces: list[str] = []
        self._piece_characters = 0
        self._pieces_timer: asyncio.TimerHandle | None = None
        self._pieces_in_flight: set[asyncio.Future[None]] = set()
        self._pieces_failure: Exception | None = None
        self._on_lost: Callable[[], None] = _nothing
        self.stuck = False
        self.input_had_no_text = False
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

    async def out_piece(self, text: str) -> None:
        """Write to stdout soon, before whatever is written later; waits only where much is unwritten.

        Raises as `out`, perhaps for an earlier piece."""
        self._raise_lost()
        if self._stdout is None:
            return
        self._pieces.append(_cleaned(text, terminal=self.stdout_is_terminal))
        self._piece_characters += len(text)
        if self._piece_characters > UNWRITTEN_CHARACTERS:
            await self.flush()
        elif self._pieces_timer is None:
            loop = asyncio.get_running_loop()
            self._pieces_timer = loop.call_later(PIECES_SECONDS, self._send_pieces)

    async def flush(self) -> None:
        """Wait until every piece is written. Raises as `out`."""
        self._send_pieces()
        while self._pieces_in_flight:
            await asyncio.wait(self._pieces_in_flight)
        self._raise_lost()

    @contextmanager
    def telling_of_loss(self, on_lost: Callable[[], None]) -> Iterator[None]:
        """Inside, `on_lost` is called on the loop when a piece could not be written: what comes next, and
        would raise, may be long in coming."""
        self._on_lost = on_lost
        try:
            yield
        finally:
            self._on_lost = _nothing

    async def out_bytes(self, data: bytes) -> None:
        """Write to stdout as it is; not for terminals. Raises as `out`."""
        await self._out(data)

    async def _out(self, data: str | bytes) -> None:
        self._raise_lost()
        if self._stdout is None:
            return
        try:
            await self._write(self._stdout, data)
        except OSError as error:
            self._raise_lost()  # a piece before it failed, and says why
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
        self._put_pieces_now()

    def hurry(self) -> None:
        """The program was asked to end: give up on a reader that does not read. Needs the loop."""
        asyncio.get_running_loop().call_later(HURRIED_SECONDS, self._give_up)

    async def ask(self, question: str) -> str | None:
        """A line from the terminal, without its end; None if the terminal was closed."""
        if self._stdin is None or self._stderr is None:
            return None
        await self._write(self._stderr, _cleaned(question, terminal=True))
        try:
            data = await _read(self._stdin.fileno(), up_to_line_end=True)
        except OSError:
            data = b""
        line = data.decode(self._stdin.encoding, "replace")
        return line.rstrip("\r\n") if line else None

    async def read_all(self) -> str:
        """All of stdin (UTF-8, or UTF-16 with a byte order mark), without the line end at its end; what is no
        text is replaced, which `input_had_no_text` says. Raises SophosError BAD_REQUEST."""
        if self._stdin is None:
            raise SophosError(ErrorCode.BAD_REQUEST, "There is no standard input to read", "Give the text")
        buffer: Any = getattr(self._stdin, "buffer", None)
        if buffer is None:
            return str(self._stdin.read()).rstrip("\r\n")
        try:
            descriptor = self._stdin.fileno()
        except OSError:  # a stream in memory, which never waits
            descriptor = -1
        try:
            data = buffer.read() if descriptor < 0 else await _read(descriptor, up_to_line_end=False)
        except OSError as error:
            why = error.strerror or str(error)
            title = f"Standard input cannot be read: {why}"
            raise SophosError(ErrorCode.BAD_REQUEST, title, "Give the text") from error
        text = text_in(data)
        if text is None:
            text = data.decode("utf-8-sig", "replace")
            self.input_had_no_text = "\ufffd" in text
        return text.rstrip("\r\n")

    def _raise_lost(self) -> None:
        failure, self._pieces_failure = self._pieces_failure, None
        if (lost := failure or self._lost) is not None:
            raise lost

    def _send_pieces(self) -> None:
        text = self._taken_pieces()
        if not text or self._stdout is None or self._lost is not None:
            return
        done = self._begin(self._stdout, text)
        self._pieces_in_flight.add(done)
        done.add_done_callback(self._on_pieces_written)

    def _on_pieces_written(self, done: "asyncio.Future[None]") -> None:
        self._pieces_in_flight.discard(done)
        error = None if done.cancelled() else done.exception()
        if isinstance(error, OSError) and self._lost is None:
            self._pieces_failure = self._lose(error)
            self._on_lost()

    def _taken_pieces(self) -> str:
        if self._pieces_timer is not None:
            self._pieces_timer.cancel()
        text, self._pieces, self._piece_characters, self._pieces_timer = "".join(self._pieces), [], 0, None
        return text

    def _put_pieces_now(self) -> None:
        text = self._taken_pieces()
        if text and self._lost is None:
            self._put_now(self._stdout, text)

    async def _write(self, stream: TextIO, text: str | bytes) -> None:
        self._send_pieces()
        await self._begin(stream, text)

    def _begin(self, stream: TextIO, text: str | bytes) -> "asyncio.Future[None]":
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._pending.add(done)
        done.add_done_callback(self._pending.discard)
        if self._writer is None:
            self._writer = threading.Thread(target=self._serve, name="output", daemon=True)
            self._writer.start()
        self._jobs.put((stream, text, lambda error: _tell(loop, done, None, error)))
        return done

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
        self._put_pieces_now()
        self._put_now(stream, text)

    def _put_now(self, stream: TextIO | None, text: str) -> None:
        if stream is None or self.stuck:
            return
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            _drop(stream)


def _nothing() -> None:
    """Nobody wants to know."""


def _put(stream: TextIO, data: str | bytes) -> None:
    if isinstance(data, str):
        stream.write(data)
    elif (buffer := getattr(stream, "buffer", None)) is None:
        stream.write(data.decode("utf-8", "replace"))
    else:
        stream.flush()
        buffer.write(data)
    stream.flush()


async def _read(descriptor: int, *, up_to_line_end: bool) -> bytes:
    """What comes until a line ends, or until all ends. Raises OSError. Whoever is cancelled stops waiting: a
    signal must end the command though nobody types.

    Not through the stream: a thread that waits inside it keeps the interpreter from ending."""
    loop = asyncio.get_running_loop()
    everything: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        data = bytearray()
        failure: OSError | None = None
        try:
            while not (up_to_line_end and data.endswith(b"\n")) and (more := os.read(descriptor, 65536)):
                data += more
        except OSError as error:
            failure = error
        _tell(loop, everything, bytes(data), failure)

    threading.Thread(target=read, name="standard input", daemon=True).start()
    return await everything


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
