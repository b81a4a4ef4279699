"""Attachments: each content once, held by uses, gone with the last of them."""

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from sophos_desktop.core.domain.conversation import Attachment, AttachmentRef
from sophos_desktop.core.domain.specs import ToolResult
from sophos_desktop.core.store.attachments import AttachmentStore, Use, hold
from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.journal import JournalStore
from sophos_desktop.core.store.runs import RunStore
from sophos_desktop.foundation.clock import SystemClock
from tests.core.store.store_fixture import a_claim, connected, open_database, rows_of

RESULT, DRAFT = Use("one", "tool_result", "m:0"), Use("two", "draft", "")


def an_attachment(content: bytes, name: str = "a.txt") -> Attachment:
    return Attachment(AttachmentRef(sha256(content).hexdigest(), name, "text/plain", len(content)), content)


FIRST, SECOND = an_attachment(b"first"), an_attachment(b"second", "b.txt")


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "sophos.db"


@pytest.fixture(name="database")
async def _database(path: Path) -> AsyncIterator[Database]:
    async with open_database(path) as database:
        yield database


async def held(database: Database, use: Use, *attachments: Attachment) -> None:
    async with database.write() as connection:
        await hold(connection, use, attachments)


def stored(path: Path) -> set[str]:
    return {row[0] for row in rows_of(path, "SELECT sha256 FROM attachments")}


async def test_what_is_held_comes_back_in_its_order(database: Database) -> None:
    store = AttachmentStore(database)
    await held(database, RESULT, SECOND, FIRST)
    assert await store.held_by(RESULT) == [SECOND.ref, FIRST.ref]
    assert await store.get(FIRST.ref.sha256) == FIRST
    assert await store.held_by(DRAFT) == []
    assert await store.get("0" * 64) is None


async def test_a_content_is_stored_once_and_stays_while_anybody_holds_it(
    database: Database, path: Path
) -> None:
    store = AttachmentStore(database)
    await held(database, RESULT, FIRST)
    await held(database, DRAFT, FIRST)
    await held(database, DRAFT, FIRST, SECOND)
    assert stored(path) == {FIRST.ref.sha256, SECOND.ref.sha256}
    await store.let_go("two")
    assert stored(path) == {FIRST.ref.sha256}
    assert await store.get(FIRST.ref.sha256) == FIRST
    await store.let_go("one")
    assert stored(path) == set()
    await store.let_go("one")


async def test_what_a_use_no_longer_holds_goes(database: Database, path: Path) -> None:
    await held(database, RESULT, FIRST)
    await held(database, RESULT, SECOND)
    assert stored(path) == {SECOND.ref.sha256}
    await held(database, RESULT)
    assert stored(path) == set()


async def test_a_digest_is_found_by_its_beginning_or_ending(database: Database) -> None:
    store = AttachmentStore(database)
    await held(database, RESULT, FIRST, SECOND)
    digest = FIRST.ref.sha256
    assert await store.ids_like(digest[:8]) == await store.ids_like(digest[-8:].upper()) == [digest]
    assert await store.ids_like("%") == []


async def test_a_result_and_its_attachment_are_recorded_together_or_not_at_all(
    database: Database, path: Path
) -> None:
    clock = SystemClock()
    claim = a_claim()
    await RunStore(database, clock).claim(claim)
    journal = JournalStore(database, clock).of(claim.conversation_id)
    attempt = await journal.start_attempt("m:0", claim.run_id, "here", "work", {})
    result = ToolResult("head", attachment=FIRST.ref, whole=FIRST.content)
    with connected(path) as other:
        other.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON attachment_uses BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
    with pytest.raises(Exception, match="refused"):
        await journal.finish_attempt(attempt, result)
    latest = await journal.latest_attempt("m:0")
    assert latest is not None
    assert (latest.state, stored(path)) == ("started", set())
    with connected(path) as other:
        other.execute("DROP TRIGGER refuse")
    assert await journal.finish_attempt(attempt, result)
    latest = await journal.latest_attempt("m:0")
    assert latest is not None
    assert latest.result == ToolResult("head", attachment=FIRST.ref)
    use = Use(claim.conversation_id, "tool_result", "m:0")
    assert await AttachmentStore(database).held_by(use) == [FIRST.ref]


async def test_a_result_that_comes_too_late_leaves_nothing(database: Database, path: Path) -> None:
    clock = SystemClock()
    claim = a_claim()
    await RunStore(database, clock).claim(claim)
    journal = JournalStore(database, clock).of(claim.conversation_id)
    attempt = await journal.start_attempt("m:0", claim.run_id, "here", "work", {})
    assert await journal.finish_attempt(attempt, ToolResult("first"))
    late = ToolResult("late", attachment=FIRST.ref, whole=FIRST.content)
    assert not await journal.finish_attempt(attempt, late)
    assert stored(path) == set()
