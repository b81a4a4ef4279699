"""The command that writes conversations as documents: export.

Invariant: it needs no engine and starts no tool server. A file is there whole or not at all; stdout gets the
document, or the names of the files that were written, and nothing else.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sophos_desktop.cli.console import Console
from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.domain.exports import ExportFormat
from sophos_desktop.foundation.tasks import TaskOwner

if TYPE_CHECKING:
    from sophos_desktop.core.assembly import Core

_log = logging.getLogger(__name__)

PROGRESS_SECONDS = 1.0


async def export(call: Invocation) -> int:
    """One conversation to stdout or a file, several into a folder."""
    chosen = call.arguments
    several = chosen.all or len(chosen.ids) > 1
    if not chosen.all and not chosen.ids:
        raise SophosError(
            ErrorCode.BAD_REQUEST, "No conversation is named", "Give the id of one, or --all; see `list`"
        )
    if several and not chosen.output:
        raise SophosError(
            ErrorCode.BAD_REQUEST, "Several conversations need a folder", "Name one with -o FOLDER"
        )
    kind = ExportFormat(chosen.format)
    async with call.core() as core:
        ids = await _chosen(core, chosen.ids, everything=chosen.all)
        if not chosen.output:
            return await _print(call.console, core, ids[0], kind)
        # A path loses the slash at its end, which says that a folder is meant.
        is_folder = several or chosen.output.endswith((os.sep, os.altsep or os.sep))
        async with _progress(call.console) as progress:
            written = await core.exports.write(
                ids, Path(chosen.output), kind, progress.moved, into_folder=True if is_folder else None
            )
    if not written:
        await call.console.note("no conversations")
    await call.print_lines([str(path) for path in written])
    return 0


async def _chosen(core: "Core", parts: Sequence[str], *, everything: bool) -> Sequence[str]:
    if everything:
        return await core.conversations.ids()
    return [(await core.conversations.find(part)).id for part in parts]


async def _print(console: Console, core: "Core", conversation_id: str, kind: ExportFormat) -> int:
    async with aclosing(core.exports.document(conversation_id, kind)) as pieces:
        async for piece in pieces:
            await console.out(piece)
    return 0


class _Progress:
    """How far the export is; lives for one."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._done = 0
        self._total = 0

    def moved(self, done: int, total: int) -> None:
        """Another conversation is done."""
        self._done, self._total = done, total

    async def tell(self) -> None:
        """Say it from time to time, until cancelled."""
        said = 0
        while True:
            await asyncio.sleep(PROGRESS_SECONDS)
            if self._done not in (said, self._total):
                said = self._done
                await self._console.note(f"exported {said} of {self._total}")


@asynccontextmanager
async def _progress(console: Console) -> AsyncIterator[_Progress]:
    """A place to report to; on a terminal it is told to the person."""
    progress = _Progress(console)
    tasks = TaskOwner(lambda error: _log.error("the progress could not be told", exc_info=error))
    if console.can_show_progress:
        tasks.spawn(progress.tell(), "export progress")
    try:
        yield progress
    finally:
        await tasks.close()
