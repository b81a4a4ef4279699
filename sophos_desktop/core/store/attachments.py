"""What is kept beside the threads: bytes under their SHA-256, and who holds them.

Invariant: each content is stored once; a use and its content come in one transaction; what nobody uses any
more goes in the transaction that takes the last use away.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, and_, delete, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.domain.attaching import MOST_ATTACHMENTS, too_many
from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.id_parts import has_part
from sophos_desktop.core.store.tables import attachment_uses, attachments, conversations
from sophos_desktop.foundation import failpoints

UseKind = Literal["draft", "queued", "message", "tool_result"]


@dataclass(frozen=True, slots=True)
class Use:
    """Who holds attachments. `conversation_id` is empty for the draft of a chat that does not exist yet;
    `ref`: the id of a message or of a tool call."""

    conversation_id: str
    kind: UseKind
    ref: str


def draft_of(conversation_id: str | None) -> Use:
    """What a composer holds; None is the chat that does not exist yet."""
    return Use(conversation_id or "", "draft", "")


def queued_in(conversation_id: str) -> Use:
    """What the queued message holds."""
    return Use(conversation_id, "queued", "")


def sent_with(conversation_id: str, message_id: str) -> Use:
    """What a message holds, in the thread or on its way there."""
    return Use(conversation_id, "message", message_id)


class AttachmentStore:
    """Lives as long as its database."""

    def __init__(self, database: Database) -> None:
        """Keeps nothing of its own."""
        self._database = database

    async def get(self, sha256: str) -> Attachment | None:
        """An attachment, under the first name that it was given; None if there is none. Raises SophosError
        STORE_CORRUPT where its bytes are not those that were stored, and STORE_*."""
        async with self._database.read() as connection:
            row = (
                await connection.execute(select(attachments).where(attachments.c.sha256 == sha256))
            ).first()
            if row is None:
                return None
        name = await self._name_of(sha256)
        ref = AttachmentRef(row.sha256, name, row.mime_type, row.size_bytes)
        return Attachment(ref, await _proven(sha256, bytes(row.content)))

    async def ids_like(self, part: str) -> Sequence[str]:
        """The digests that begin or end with `part`."""
        statement = select(attachments.c.sha256).where(has_part(attachments.c.sha256, part))
        async with self._database.read() as connection:
            return list((await connection.execute(statement.order_by(attachments.c.sha256))).scalars())

    async def content(self, sha256: str) -> bytes | None:
        """The bytes of an attachment; None if there is none. Raises as `get`."""
        statement = select(attachments.c.content).where(attachments.c.sha256 == sha256)
        async with self._database.read() as connection:
            found = (await connection.execute(statement)).scalar_one_or_none()
        return None if found is None else await _proven(sha256, bytes(found))

    async def damaged(self) -> AsyncGenerator[tuple[str, str], None]:
        """Digest and a name of each whose bytes are not those that were stored; reads one at a time. Raises
        SophosError STORE_*."""
        for sha256 in await self.ids_like(""):
            try:
                await self.content(sha256)
            except SophosError as error:
                if error.code is not ErrorCode.STORE_CORRUPT:
                    raise
                yield sha256, await self._name_of(sha256)

    async def _name_of(self, sha256: str) -> str:
        statement = select(func.min(attachment_uses.c.name)).where(attachment_uses.c.sha256 == sha256)
        async with self._database.read() as connection:
            return (await connection.execute(statement)).scalar_one_or_none() or sha256[:8]

    async def held_by(self, use: Use) -> list[AttachmentRef]:
        """What a use holds, in its order."""
        async with self._database.read() as connection:
            return await held_in(connection, use)

    async def add_to_draft(self, conversation_id: str | None, attachment: Attachment) -> AttachmentRef:
        """Keep one more with the draft; one that is there already stays as it is.

        Raises SophosError BAD_REQUEST (too many), NOT_FOUND (the conversation is deleted), STORE_*."""
        use = draft_of(conversation_id)
        failpoints.hit("attach.before_commit")
        async with self._database.write() as connection:
            if conversation_id is not None:
                await _refuse_deleted(connection, conversation_id)
            held = await held_in(connection, use)
            known = next((ref for ref in held if ref.sha256 == attachment.ref.sha256), None)
            if known is not None:
                return known
            if len(held) >= MOST_ATTACHMENTS:
                raise too_many()
            await _insert(connection, use, [attachment])
        failpoints.hit("attach.after_commit")
        return attachment.ref

    async def remove_from_draft(self, conversation_id: str | None, sha256: str) -> None:
        """Take one away from the draft; does nothing if it is not there."""
        async with self._database.write() as connection:
            mine = and_(_rows_of(draft_of(conversation_id)), attachment_uses.c.sha256 == sha256)
            await _delete_uses(connection, mine)

    async def let_go(self, conversation_id: str) -> None:
        """Take away all uses of a conversation that is being deleted, and what only it used."""
        failpoints.hit("delete.before_attachments")
        async with self._database.write() as connection:
            await _take_out(connection, attachment_uses.c.conversation_id == conversation_id)
            # Not among these alone: whatever else was left over goes with a deletion.
            await connection.execute(delete(attachments).where(_is_unused()))
        failpoints.hit("delete.after_attachments")


async def _proven(sha256: str, content: bytes) -> bytes:
    """The bytes, which a disk or another program may have changed since they were stored."""
    digest = await asyncio.to_thread(lambda: hashlib.sha256(content).hexdigest())
    if digest != sha256:
        raise SophosError(
            ErrorCode.STORE_CORRUPT,
            f"The attachment {sha256[:8]} is damaged: its bytes are not those that were stored",
            "Attach the file again, or put back a backup of the database",
        )
    return content


async def hold(connection: AsyncConnection, use: Use, held: Sequence[Attachment]) -> None:
    """Within the caller's transaction: `use` holds exactly these from now on."""
    displaced = await _take_out(connection, _rows_of(use))
    await _insert(connection, use, held)
    await _remove_unused(connection, displaced)


async def hand_over(
    connection: AsyncConnection,
    to: Use,
    given: Sequence[AttachmentRef | Attachment],
    sources: Sequence[Use],
) -> None:
    """Within the caller's transaction: `to` holds exactly `given` from now on, and the sources let go of
    those. What is given without its bytes must be held by one of them, or by `to`.

    Raises SophosError BAD_REQUEST: one of them is held no longer, or there are too many."""
    unique = {_ref(one).sha256: one for one in given}
    if len(unique) > MOST_ATTACHMENTS:
        raise too_many()
    held = {ref.sha256 for use in (to, *sources) for ref in await held_in(connection, use)}
    for one in unique.values():
        if isinstance(one, AttachmentRef) and one.sha256 not in held:
            raise SophosError(
                ErrorCode.BAD_REQUEST,
                f"“{one.name}” is not attached any more",
                "Attach it again, or send the message without it",
            )
    displaced = await _take_out(connection, _rows_of(to))
    for source in sources:
        without_bytes = {sha256 for sha256, one in unique.items() if isinstance(one, AttachmentRef)}
        await _take_out(connection, and_(_rows_of(source), attachment_uses.c.sha256.in_(without_bytes)))
    await _insert(connection, to, list(unique.values()))
    await _remove_unused(connection, displaced)


async def move(connection: AsyncConnection, source: Use, to: Use) -> None:
    """Within the caller's transaction: `to` holds what `source` held, which holds nothing any more."""
    held = await held_in(connection, source)
    await _take_out(connection, _rows_of(source))
    await _insert(connection, to, held)


async def give_back(connection: AsyncConnection, source: Use, *, keeps: bool = False) -> None:
    """Within the caller's transaction: what `source` holds goes in front of what its conversation's draft
    holds, however many that makes; `keeps`: the source keeps it too."""
    draft = draft_of(source.conversation_id)
    returned = await held_in(connection, source)
    if not returned:
        return
    known = {ref.sha256 for ref in returned}
    later = [ref for ref in await held_in(connection, draft) if ref.sha256 not in known]
    await _take_out(connection, _rows_of(draft))
    await _insert(connection, draft, [*returned, *later])
    if not keeps:
        await _take_out(connection, _rows_of(source))


async def drop(connection: AsyncConnection, use: Use) -> None:
    """Within the caller's transaction: `use` holds nothing any more."""
    await _delete_uses(connection, _rows_of(use))


def _ref(given: AttachmentRef | Attachment) -> AttachmentRef:
    return given.ref if isinstance(given, Attachment) else given


def _rows_of(use: Use) -> ColumnElement[bool]:
    return and_(
        attachment_uses.c.conversation_id == use.conversation_id,
        attachment_uses.c.kind == use.kind,
        attachment_uses.c.ref == use.ref,
    )


async def held_in(connection: AsyncConnection, use: Use) -> list[AttachmentRef]:
    """Within the caller's transaction: what a use holds, in its order."""
    statement = (
        select(
            attachment_uses.c.name,
            attachments.c.sha256,
            attachments.c.mime_type,
            attachments.c.size_bytes,
        )
        .join(attachments, attachments.c.sha256 == attachment_uses.c.sha256)
        .where(_rows_of(use))
        .order_by(attachment_uses.c.position)
    )
    found = (await connection.execute(statement)).all()
    return [AttachmentRef(row.sha256, row.name, row.mime_type, row.size_bytes) for row in found]


async def _insert(connection: AsyncConnection, use: Use, held: Sequence[AttachmentRef | Attachment]) -> None:
    """After what `use` holds already."""
    last = await connection.execute(select(func.max(attachment_uses.c.position)).where(_rows_of(use)))
    highest = last.scalar_one_or_none()
    for position, one in enumerate(held, start=0 if highest is None else highest + 1):
        ref = _ref(one)
        if isinstance(one, Attachment):
            await connection.execute(
                insert(attachments)
                .values(
                    sha256=ref.sha256,
                    mime_type=ref.mime_type,
                    size_bytes=ref.size_bytes,
                    content=one.content,
                )
                .on_conflict_do_nothing(index_elements=["sha256"])
            )
        await connection.execute(
            insert(attachment_uses).values(
                conversation_id=use.conversation_id,
                kind=use.kind,
                ref=use.ref,
                position=position,
                sha256=ref.sha256,
                name=ref.name,
            )
        )


async def _delete_uses(connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    await _remove_unused(connection, await _take_out(connection, which))


async def _take_out(connection: AsyncConnection, which: ColumnElement[bool]) -> set[str]:
    """Delete uses; gives the digests of what they held, which may be unused now."""
    held = await connection.execute(select(attachment_uses.c.sha256).where(which))
    digests = set(held.scalars())
    if digests:
        await connection.execute(delete(attachment_uses).where(which))
    return digests


async def _remove_unused(connection: AsyncConnection, among: Collection[str]) -> None:
    for sha256 in among:
        await connection.execute(delete(attachments).where(attachments.c.sha256 == sha256, _is_unused()))


def _is_unused() -> ColumnElement[bool]:
    return ~select(attachment_uses.c.sha256).where(attachment_uses.c.sha256 == attachments.c.sha256).exists()


async def _refuse_deleted(connection: AsyncConnection, conversation_id: str) -> None:
    known = await connection.execute(
        select(conversations.c.id).where(
            conversations.c.id == conversation_id, conversations.c.deleted_at.is_(None)
        )
    )
    if known.first() is None:
        raise SophosError(ErrorCode.NOT_FOUND, "There is no such conversation", "See `list`")
