"""Writes conversations to documents: the thread in words, or its checkpoints one a line.

Invariant: an export reads beside the runs, in a worker thread on a connection that cannot write, so no run
waits for it; a file is there whole or not at all; nothing is ever read back.
"""

import asyncio
import errno
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sophos_desktop.core.agent.history import ThreadHistory
from sophos_desktop.core.domain.conversation import Conversation
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.core.domain.ports import ToolAttempt
from sophos_desktop.core.domain.run import RunRecord
from sophos_desktop.core.domain.thread_promises import ThreadPromise
from sophos_desktop.core.export.checkpoint_lines import checkpoint_line
from sophos_desktop.core.export.markdown import Transcript, markdown_document
from sophos_desktop.core.runs.partials import partial_message
from sophos_desktop.core.runs.stores import Stores
from sophos_desktop.core.store.checkpoints import CheckpointReader
from sophos_desktop.core.store.trace import Partial
from sophos_desktop.foundation.atomic_file import atomic_writer

_T = TypeVar("_T")

Progress = Callable[[int, int], None]
"""Called on the loop with how many conversations are done, of how many."""

_CHUNK_CHARACTERS = 1 << 16
_REMEDIES = {
    errno.ENOSPC: "Free some space on the disk, or choose another folder",
    errno.ENOENT: "Choose a folder that exists",
    errno.ENOTDIR: "Choose a folder that exists",
    errno.EEXIST: "Choose another name: there is a file of this one, and a folder is needed",
    errno.ENAMETOOLONG: "Choose a shorter name",
    errno.EISDIR: "Give the name of a file",
}
# What is wrong with one conversation and says nothing about the others.
_OF_ONE = (ErrorCode.THREAD_UNREADABLE, ErrorCode.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the app's tables say of a conversation."""

    conversation: Conversation
    runs: Sequence[RunRecord]
    attempts: Sequence[ToolAttempt]
    partials: Sequence[Partial]
    promise: ThreadPromise | None


class Exports:
    """Lives as long as the core; several exports may run at once."""

    def __init__(self, stores: Stores, database: Path) -> None:
        """`database`: the file that the stores are open on."""
        self._stores = stores
        self._database = database

    async def document(self, conversation_id: str, kind: ExportFormat) -> AsyncGenerator[str, None]:
        """The document in pieces of some 64,000 characters; close it (`aclosing`) if you leave early.

        Raises SophosError NOT_FOUND, THREAD_UNREADABLE, STORE_*."""
        chunks = _chunks(self._pieces(await self._rows(conversation_id), kind))
        try:
            while (chunk := await _in_worker(lambda: next(chunks, None))) is not None:
                yield chunk
        finally:
            await _in_worker(chunks.close)

    async def write(
        self,
        conversation_ids: Sequence[str],
        target: Path,
        kind: ExportFormat,
        on_progress: Progress | None = None,
        *,
        into_folder: bool | None = None,
    ) -> list[Path]:
        """Write each conversation to a file of its own; gives the files that were written, readable by their
        owner alone. A file that was there is replaced.

        `target` is a folder if it is one, if there are several conversations, or if `into_folder` says so (it
        is made if it is missing); else it is the file. Cancelling leaves no half file; those that are done
        stay. One conversation that cannot be read does not stop the others: it is reported at the end.
        Raises SophosError EXPORT_FAILED (with the system's reason), NOT_FOUND, THREAD_UNREADABLE, STORE_*."""
        ids = list(dict.fromkeys(conversation_ids))
        if into_folder is None:
            into_folder = len(ids) != 1 or await _in_worker(lambda: _is_folder(target))
        if into_folder:
            await _in_worker(lambda: _make_folder(target))
        written: list[Path] = []
        left_out: dict[str, SophosError] = {}
        for done, conversation_id in enumerate(ids, start=1):
            path = target / kind.file_name(conversation_id) if into_folder else target
            try:
                await self._write_one(conversation_id, path, kind)
                written.append(path)
            except SophosError as error:
                if len(ids) == 1 or error.code not in _OF_ONE:
                    raise
                left_out[conversation_id] = error
            if on_progress is not None:
                on_progress(done, len(ids))
        if left_out:
            raise _incomplete(left_out, len(ids))
        return written

    async def _write_one(self, conversation_id: str, path: Path, kind: ExportFormat) -> None:
        chunks = _chunks(self._pieces(await self._rows(conversation_id), kind))
        given_up = threading.Event()
        await _in_worker(lambda: _write_file(path, chunks, given_up), given_up)

    async def _rows(self, conversation_id: str) -> _Rows:
        # Before the thread: a run that ends meanwhile then shows as running, not as ended without its answer.
        conversation = await self._stores.conversations.get(conversation_id)
        if conversation is None:
            raise SophosError(ErrorCode.NOT_FOUND, "There is no such conversation", "See `list`")
        return _Rows(
            conversation,
            await self._stores.runs.of_conversation(conversation_id),
            await self._stores.journal.attempts(conversation_id),
            await self._stores.trace.partials(conversation_id),
            await self._stores.graph.promised(conversation_id),
        )

    def _pieces(self, rows: _Rows, kind: ExportFormat) -> Generator[str, None, None]:
        conversation_id = rows.conversation.id
        with closing(CheckpointReader(self._database)) as reader:
            history = ThreadHistory(reader, reader.oldest_first)
            thread = history.read(conversation_id)
            thread.refuse_less_than(rows.promise)
            if kind is ExportFormat.CHECKPOINTS:
                for record in history.checkpoints(conversation_id):
                    yield checkpoint_line(record)
            else:
                left = [partial for partial in rows.partials if not thread.holds(partial.message_id)]
                messages = [*thread.to_domain(), *map(partial_message, left)]
                transcript = Transcript(rows.conversation, messages, rows.runs, rows.attempts)
                yield from markdown_document(transcript)


def _chunks(pieces: Generator[str, None, None]) -> Generator[str, None, None]:
    """The same text in pieces that are worth a change of threads."""
    waiting: list[str] = []
    size = 0
    with closing(pieces):
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size >= _CHUNK_CHARACTERS:
                yield "".join(waiting)
                waiting, size = [], 0
        if waiting:
            yield "".join(waiting)


class _GivenUp(Exception):
    """The task that asked for the file was cancelled."""


def _write_file(path: Path, chunks: Generator[str, None, None], given_up: threading.Event) -> None:
    with closing(chunks):
        try:
            with atomic_writer(path) as file:
                for chunk in chunks:
                    if given_up.is_set():
                        raise _GivenUp
                    file.write(chunk.encode("utf-8", "replace"))
                if given_up.is_set():
                    raise _GivenUp
        except OSError as error:
            raise _export_failed(path, error) from error


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        raise _export_failed(path, error) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _export_failed(folder, error) from error


def _export_failed(path: Path, error: OSError) -> SophosError:
    return SophosError(
        ErrorCode.EXPORT_FAILED,
        f"{path} cannot be written: {error.strerror or error}",
        _REMEDIES.get(error.errno or 0, "Choose a folder that you may write to"),
    )


def _incomplete(left_out: dict[str, SophosError], count: int) -> SophosError:
    first = next(iter(left_out.values()))
    names = ", ".join(list(left_out)[:8]) + (" …" if len(left_out) > 8 else "")
    return SophosError(
        first.code,
        f"{len(left_out)} of {count} conversations could not be exported: {names}. {first.title}",
        "The others are written. Run `doctor`, or export these one by one for each one's reason",
    )


async def _in_worker(work: Callable[[], _T], given_up: threading.Event | None = None) -> _T:
    """Run blocking work in a thread. Cancelled, it tells the work by `given_up` and waits until it has ended,
    so that nothing goes on behind the caller's back."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if given_up is not None:
            given_up.set()
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError:
                continue  # it is raised in any case, at the end
        future.exception()  # what became of the work is of no interest any more
        raise
