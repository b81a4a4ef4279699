"""What is remembered of the user's word and of each tool's definition."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sophos_desktop.core.store.database import Database
from sophos_desktop.core.store.restart_requests import RestartRequestStore
from sophos_desktop.core.store.tool_trust import ToolTrustStore
from tests.core.store.store_fixture import open_database, rows_of

FIRST_DAY = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


class SetClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.moment = FIRST_DAY

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "sophos.db") as opened:
        yield opened


async def test_the_users_word_is_kept_with_its_fingerprint_until_it_is_taken_back(database: Database) -> None:
    store = ToolTrustStore(database, SetClock())
    assert await store.trusted() == {}
    await store.trust("notes", "one")
    await store.trust("notes", "two")
    trusted = await store.trusted()
    assert (trusted["notes"].fingerprint, trusted["notes"].trusted_at[:10]) == ("two", "2026-11-02")
    assert await store.revoke("notes")
    assert not await store.revoke("notes")
    assert await store.trusted() == {}


async def test_the_first_sight_of_a_server_is_no_change_and_a_new_tool_later_is_one(
    database: Database,
) -> None:
    store = ToolTrustStore(database, SetClock())
    first = await store.remember("notes", {"write": "w", "read": "r"})
    assert (dict(first.changed), first.added) == ({}, ())
    again = await store.remember("notes", {"write": "w", "read": "r", "delete": "d"})
    assert (dict(again.changed), again.added) == ({}, ("delete",))
    other = await store.remember("other", {"write": "x"})
    assert (dict(other.changed), other.added) == ({}, ())


async def test_a_change_tells_when_the_tool_was_last_seen_and_is_told_once(database: Database) -> None:
    clock = SetClock()
    store = ToolTrustStore(database, clock)
    await store.remember("notes", {"write": "w"})
    clock.moment += timedelta(days=3)
    await store.remember("notes", {"write": "w"})
    clock.moment += timedelta(days=3)
    seen = await store.remember("notes", {"write": "changed"})
    assert {name: at[:10] for name, at in seen.changed.items()} == {"write": "2026-11-05"}
    assert (await store.remember("notes", {"write": "changed"})).changed == {}


async def test_a_tool_that_was_gone_and_comes_back_as_another_is_noticed(database: Database) -> None:
    store = ToolTrustStore(database, SetClock())
    await store.remember("notes", {"write": "w", "read": "r"})
    await store.remember("notes", {"read": "r"})
    seen = await store.remember("notes", {"write": "another", "read": "r"})
    assert set(seen.changed) == {"write"}


async def test_tools_that_are_as_they_were_are_written_once_a_day(database: Database, tmp_path: Path) -> None:
    clock = SetClock()
    store = ToolTrustStore(database, clock)
    for hours in (0, 1, 2, 24):
        clock.moment = FIRST_DAY + timedelta(hours=hours)
        await store.remember("notes", {"write": "w"})
        rows = rows_of(tmp_path / "sophos.db", "SELECT seen_at FROM known_tools")
        assert [at[:13] for (at,) in rows] == ["2026-11-03T09" if hours == 24 else "2026-11-02T09"]


async def test_processes_that_see_the_same_at_once_leave_the_newest_and_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as one, open_database(path) as other:
        stores = [ToolTrustStore(database, SetClock()) for database in (one, other)]
        tools = {f"tool{number}": "old" for number in range(20)}
        await asyncio.gather(*(store.remember("notes", tools) for store in stores))
        newer = dict.fromkeys(tools, "new")
        seen = await asyncio.gather(*(store.remember("notes", newer) for store in stores))
        assert {name for one_seen in seen for name in one_seen.changed} == set(tools)
        assert rows_of(path, "SELECT DISTINCT fingerprint FROM known_tools") == [("new",)]


async def test_a_server_that_was_taken_out_is_forgotten(database: Database) -> None:
    store = ToolTrustStore(database, SetClock())
    for server in ("notes", "other"):
        await store.trust(server, "f")
        await store.remember(server, {"write": "w"})
    await store.forget("notes")
    assert set(await store.trusted()) == {"other"}
    assert (await store.remember("notes", {"write": "changed"})).changed == {}
    assert set((await store.remember("other", {"write": "changed"})).changed) == {"write"}


async def test_the_newest_request_for_a_restart_counts(database: Database) -> None:
    store = RestartRequestStore(database)
    assert await store.newest() == {}
    first = await store.ask("a%b_c")
    second = await store.ask("a%b_c")
    other = await store.ask("d")
    assert first != second
    assert await store.newest() == {"a%b_c": second, "d": other}
