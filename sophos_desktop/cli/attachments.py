"""The command that gives what is kept beside the conversations: attachment.

Invariant: the bytes come out as they were stored, on stdout or as a file that is there whole or not at all; a
terminal gets them only where they are text, without control characters.
"""

import asyncio
from pathlib import Path

from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.core.domain.conversation import Attachment
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.atomic_file import write_atomically


async def attachment(call: Invocation) -> int:
    """An attachment's bytes; with `--json` what it is. `sha256`: all of the digest or a part; `output`: a
    file, or a folder where it gets its own name."""
    chosen = call.arguments
    async with call.core() as core:
        found = await core.conversations.attachment(chosen.sha256)
    if chosen.output:
        target = Path(chosen.output)
        if await asyncio.to_thread(target.is_dir):
            # A name comes from a tool or a person: no part of it may be a folder.
            target /= Path(found.ref.name).name or found.ref.sha256
        await asyncio.to_thread(_write, target, found.content)
        if not call.as_json:
            await call.print_lines([str(target)])
    if call.as_json:
        await call.print_json(found.ref.to_json())
    elif not chosen.output:
        await _print(call, found)
    return 0


async def _print(call: Invocation, found: Attachment) -> None:
    if not call.console.stdout_is_terminal:
        await call.console.out_bytes(found.content)
        return
    try:
        await call.console.out(found.content.decode("utf-8") + "\n")
    except UnicodeDecodeError as error:
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            f"{found.ref.name} is no text ({found.ref.mime_type})",
            "Write it into a file with -o FILE",
        ) from error


def _write(target: Path, content: bytes) -> None:
    try:
        write_atomically(target, content)
    except OSError as error:
        raise SophosError(
            ErrorCode.EXPORT_FAILED,
            f"{target} cannot be written: {error.strerror or error}",
            "Choose a file in a folder that you may write to",
        ) from error
