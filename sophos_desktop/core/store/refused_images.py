"""Keeps with a conversation which of its images an engine would not take.

Invariant: a refusal is committed before the run that met it ends, and goes with its conversation.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select, update

from sophos_desktop.core.domain.image_refusals import (
    REFUSALS_KEY,
    ImagePlace,
    refusals_in,
    with_failure,
)
from sophos_desktop.core.domain.specs import EngineKind
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.tables import conversations
from sophos_desktop.foundation import failpoints


@dataclass(frozen=True, slots=True)
class RefusedImages:
    """Those of one conversation (port `ImageRefusals`). Lives as long as its database."""

    database: Database
    conversation_id: str

    async def left_out(self, engine: EngineKind, model: str) -> Collection[ImagePlace]:
        """What prompts for this model do without. Raises SophosError STORE_*."""
        statement = select(conversations.c.metadata).where(conversations.c.id == self.conversation_id)
        async with self.database.read() as connection:
            metadata = (await connection.execute(statement)).scalar_one_or_none()
        known = refusals_in(json.loads(metadata or "{}").get(REFUSALS_KEY))
        asked = (engine.value, model)
        return frozenset(one.place for one in known if one.is_left_out and (one.engine, one.model) == asked)

    async def note(
        self, engine: EngineKind, model: str, places: Sequence[ImagePlace], *, is_certain: bool
    ) -> bool:
        """One more failure over these images, in one transaction. Raises SophosError STORE_*."""
        mine = conversations.c.id == self.conversation_id
        failpoints.hit("refused_images.before_commit")
        async with self.database.write() as connection:
            result = await connection.execute(select(conversations.c.metadata).where(mine))
            metadata = json.loads(result.scalar_one_or_none() or "{}")
            known = refusals_in(metadata.get(REFUSALS_KEY))
            now = with_failure(known, engine.value, model, places, is_certain=is_certain)
            changed = json.dumps({**metadata, REFUSALS_KEY: [one.to_json() for one in now]})
            await connection.execute(update(conversations).where(mine).values(metadata=changed))
        failpoints.hit("refused_images.after_commit")
        return all(one.is_left_out for one in now if one.place in places)
