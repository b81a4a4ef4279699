"""What is kept beside the threads: bytes under their SHA-256, and who holds them.

Invariant: each content is stored once; a use and its content come in one transaction; what nobody uses any
more goes in the transaction that takes the last use away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.id_parts import has_part
from sophos_desktop.core.store.tables import attachment_uses, attachments
from sophos_desktop.foundation import failpoints

UseKind = Literal["draft", "queued", "message", "tool_result"]


@dataclass(frozen=True, slots=True)
class Use:
    """Who holds attachments. `conversation_id` is empty for the draft of a chat that does not exist yet;
    `ref`: the id of a message or of a tool call."""

    conversation_id: str
    kind: UseKind
    ref: str


class AttachmentStore:
    """Lives as long as its database."""

    def __init__(self, database: Database) -> None:
        """Keeps nothing of its own."""
        self._database = database

    async def get(self, sha256: str) -> Attachment | None:
        """An attachment, under the first name that it was given; None if there is none."""
        async with self._database.read() as connection:
            row = (
                await connection.execute(select(attachments).where(attachments.c.sha256 == sha256))
            ).first()
            if row is None:
                return None
            name = (
                await connection.execute(
                    select(attachment_uses.c.name)
                    .where(attachment_uses.c.sha256 == sha256)
                    .order_by(attachment_uses.c.name)
                    .limit(1)
                )
            ).scalar()
        ref = AttachmentRef(row.sha256, name or row.sha256[:8], row.mime_type, row.size_bytes)
        return Attachment(ref, bytes(row.content))

    async def ids_like(self, part: str) -> Sequence[str]:
        """The digests that begin or end with `part`."""
        statement = select(attachments.c.sha256).where(has_part(attachments.c.sha256, part))
        async with self._database.read() as connection:
            return list((await connection.execute(statement.order_by(attachments.c.sha256))).scalars())

    async def held_by(self, use: Use) -> list[AttachmentRef]:
        """What a use holds, in its order."""
        statement = (
            select(
                attachment_uses.c.name,
                attachments.c.sha256,
                attachments.c.mime_type,
                attachments.c.size_bytes,
            )
            .join(attachments, attachments.c.sha256 == attachment_uses.c.sha256)
            .where(
                attachment_uses.c.conversation_id == use.conversation_id,
                attachment_uses.c.kind == use.kind,
                attachment_uses.c.ref == use.ref,
            )
            .order_by(attachment_uses.c.position)
        )
        async with self._database.read() as connection:
            found = (await connection.execute(statement)).all()
        return [AttachmentRef(row.sha256, row.name, row.mime_type, row.size_bytes) for row in found]

    async def let_go(self, conversation_id: str) -> None:
        """Take away all uses of a conversation that is being deleted, and what only it used."""
        failpoints.hit("delete.before_attachments")
        async with self._database.write() as connection:
            await connection.execute(
                delete(attachment_uses).where(attachment_uses.c.conversation_id == conversation_id)
            )
            await _remove_unused(connection)
        failpoints.hit("delete.after_attachments")


async def hold(connection: AsyncConnection, use: Use, held: Sequence[Attachment]) -> None:
    """Within the caller's transaction: `use` holds exactly these from now on."""
    displaced = await connection.execute(
        delete(attachment_uses).where(
            attachment_uses.c.conversation_id == use.conversation_id,
            attachment_uses.c.kind == use.kind,
            attachment_uses.c.ref == use.ref,
        )
    )
    for position, attachment in enumerate(held):
        ref = attachment.ref
        await connection.execute(
            insert(attachments)
            .values(
                sha256=ref.sha256,
                mime_type=ref.mime_type,
                size_bytes=ref.size_bytes,
                content=attachment.content,
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
    if displaced.rowcount:
        await _remove_unused(connection)


async def _remove_unused(connection: AsyncConnection) -> None:
    used = select(attachment_uses.c.sha256).where(attachment_uses.c.sha256 == attachments.c.sha256)
    await connection.execute(delete(attachments).where(~used.exists()))
