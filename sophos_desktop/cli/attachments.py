"""Files on their way in and out: what `ask --attach` reads, and the command `attachment`, which gives them.

Invariant: what is attached is read and checked before anything is stored. The bytes come out as they were
stored, on stdout or as a file that is there whole or not at all; a terminal gets them only where they are
text, without control characters.
"""

import asyncio
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sophos_desktop.cli.argument_types import text
from sophos_desktop.cli.invocation import Invocation
from sophos_desktop.core.domain.attaching import (
    LARGEST_IMAGE_BYTES,
    LARGEST_TEXT_BYTES,
    MOST_ATTACHMENTS,
    image_type,
    made_attachment,
    too_large,
    too_many,
)
from sophos_desktop.core.domain.conversation import Attachment
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.foundation.atomic_file import write_atomically
from sophos_desktop.foundation.small_file import refuse_special


@dataclass(frozen=True, slots=True)
class FilesRead:
    """What goes with a message, and sentences about what does not go under its own name."""

    attachments: tuple[Attachment, ...]
    notes: tuple[str, ...]


async def read_attachments(names: Sequence[str]) -> FilesRead:
    """The files of `--attach`, each content once. A name may hold bytes that are no text. Raises SophosError
    BAD_REQUEST, which names the file."""
    read: dict[str, Attachment] = {}
    notes = []
    for name in names:
        attachment = await asyncio.to_thread(_read, Path(name))
        first = read.setdefault(attachment.ref.sha256, attachment)
        if first.ref.name != attachment.ref.name:
            notes.append(
                f"{text(name)} has the same content as {first.ref.name}: it goes along once, under that name"
            )
    if len(read) > MOST_ATTACHMENTS:
        raise too_many()
    return FilesRead(tuple(read.values()), tuple(notes))


def read_at_most(path: Path, most_bytes: int) -> bytes:
    """The beginning of a file. Never waits: a file that has nothing to give now (/proc/kmsg calls itself a
    regular one) is an OSError."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        content: bytes | None = file.read(most_bytes)
    if content is None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return content


def _read(path: Path) -> Attachment:
    shown = text(str(path))
    try:
        refuse_special(path)
        size_bytes = path.stat().st_size
        content = read_at_most(path, LARGEST_IMAGE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise SophosError(
            ErrorCode.BAD_REQUEST,
            f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}",
            "Give a text file or an image that you may read",
        ) from error
    if len(content) > LARGEST_IMAGE_BYTES:
        is_image = image_type(content) is not None
        largest = LARGEST_IMAGE_BYTES if is_image else LARGEST_TEXT_BYTES
        raise too_large(shown, size_bytes, largest, is_image=is_image)
    return made_attachment(text(path.name), content, called=shown)


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
        await asyncio.to_thread(_write, target, found.content, replaces=chosen.force)
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


def _write(target: Path, content: bytes, *, replaces: bool) -> None:
    try:
        if not replaces and target.exists():
            raise SophosError(
                ErrorCode.BAD_REQUEST, f"{target} is there already", "Choose another name, or add --force"
            )
        write_atomically(target, content)
    except OSError as error:
        raise SophosError(
            ErrorCode.EXPORT_FAILED,
            f"{target} cannot be written: {error.strerror or error}",
            "Choose a file in a folder that you may write to",
        ) from error
