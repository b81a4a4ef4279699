"""Locks of other programs are waited for, up to a limit; what is cancelled or refused is not half done."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store.checkpoints import CheckpointStore
from sophos_desktop.core.store.conversations import ConversationStore
from sophos_desktop.core.store.database import Database
from sophos_desktop.foundation.clock import SystemClock
from tests.core.store.store_fixture import (
    METADATA,
    a_checkpoint,
    can_write_at_once,
    connected,
    open_database,
    open_saver,
    place,
    rows_of,
)

A_WHILE_SECONDS = 0.3
WRITES = [("messages", "one"), ("messages", "two")]

Put = Callable[[CheckpointStore], Awaitable[object]]


async def put_checkpoint(saver: CheckpointStore) -> object:
    return await saver.aput(place(), a_checkpoint(), METADATA, {})


async def put_writes(saver: CheckpointStore) -> object:
    await saver.aput_writes(place(checkpoint_id="1"), WRITES, "task", "path")
    return None


PUTS = [(put_checkpoint, "checkpoints", 1), (put_writes, "writes", 2)]


async def save(database: Database, value: str = "value") -> None:
    await ConversationStore(database, SystemClock()).save_app_state("key", value)


async def test_a_write_waits_for_the_lock_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as database:
        with connected(path) as other:
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.ensure_future(save(database))
            done, _ = await asyncio.wait({writing}, timeout=2 * A_WHILE_SECONDS)
            assert not done
            other.execute("ROLLBACK")
        await asyncio.wait_for(writing, 5)
        assert rows_of(path, "SELECT value FROM app_state") == [("value",)]


async def test_a_write_beyond_the_wait_is_store_busy_and_nothing_is_half_done(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path, lock_wait_seconds=A_WHILE_SECONDS) as database:
        with connected(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(SophosError) as caught:
                await save(database)
            other.execute("ROLLBACK")
        assert caught.value.code is ErrorCode.STORE_BUSY
        assert str(path) in caught.value.title
        assert rows_of(path, "SELECT * FROM app_state") == []
        assert can_write_at_once(path)
        await save(database)


async def test_writers_in_a_queue_do_not_wait_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path, lock_wait_seconds=1.0) as database:
        with connected(path) as other:
            other.execute("BEGIN IMMEDIATE")
            async with asyncio.timeout(3.0):
                results = await asyncio.gather(*(save(database) for _ in range(4)), return_exceptions=True)
            other.execute("ROLLBACK")
        assert [getattr(result, "code", result) for result in results] == [ErrorCode.STORE_BUSY] * 4


async def test_a_reader_needs_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as database:
        await save(database)
        with connected(path) as other:
            other.execute("BEGIN IMMEDIATE")
            assert await ConversationStore(database, SystemClock()).app_state("key") == "value"


@pytest.mark.parametrize(("put", "table", "count"), PUTS)
async def test_a_put_waits_for_the_lock_of_another_program(
    tmp_path: Path, put: Put, table: str, count: int
) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path), open_saver(path) as saver:
        with connected(path) as other:
            other.execute("BEGIN IMMEDIATE")
            putting = asyncio.ensure_future(put(saver))
            done, _ = await asyncio.wait({putting}, timeout=2 * A_WHILE_SECONDS)
            assert not done
            other.execute("ROLLBACK")
        await asyncio.wait_for(putting, 5)
        assert rows_of(path, f"SELECT count(*) FROM {table}") == [(count,)]


@pytest.mark.parametrize(("put", "table", "count"), PUTS)
async def test_a_put_beyond_the_wait_is_store_busy_and_nothing_is_half_done(
    tmp_path: Path, put: Put, table: str, count: int
) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path), open_saver(path, lock_wait_seconds=A_WHILE_SECONDS) as saver:
        with connected(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(SophosError) as caught:
                await put(saver)
            other.execute("ROLLBACK")
        assert caught.value.code is ErrorCode.STORE_BUSY
        assert rows_of(path, f"SELECT count(*) FROM {table}") == [(0,)]
        assert can_write_at_once(path)
        await put(saver)
        assert rows_of(path, f"SELECT count(*) FROM {table}") == [(count,)]


@pytest.mark.parametrize(("put", "table", "count"), PUTS)
async def test_a_put_whose_task_is_cancelled_is_done_whole_and_leaves_no_transaction(
    tmp_path: Path, put: Put, table: str, count: int
) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path), open_saver(path) as saver:
        for turns in range(12):
            await saver.adelete_thread("thread")
            putting = asyncio.ensure_future(put(saver))
            for _ in range(turns):
                await asyncio.sleep(0)
            putting.cancel()
            await asyncio.gather(putting, return_exceptions=True)
            await saver.puts_done("thread")
            assert can_write_at_once(path), turns
            expected = 0 if turns == 0 else count
            assert rows_of(path, f"SELECT count(*) FROM {table}") == [(expected,)], turns


async def test_a_put_that_is_cancelled_while_it_waits_for_a_lock_is_still_done(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path), open_saver(path) as saver:
        with connected(path) as other:
            other.execute("BEGIN IMMEDIATE")
            putting = asyncio.ensure_future(put_checkpoint(saver))
            await asyncio.wait({putting}, timeout=A_WHILE_SECONDS)
            putting.cancel()
            await asyncio.gather(putting, return_exceptions=True)
            other.execute("ROLLBACK")
        await saver.puts_done("thread")
        assert rows_of(path, "SELECT count(*) FROM checkpoints") == [(1,)]
        assert can_write_at_once(path)


async def test_a_write_whose_task_is_cancelled_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as database:

        async def save_two() -> None:
            async with database.write() as connection:
                await connection.exec_driver_sql("INSERT INTO app_state VALUES ('one', '1')")
                await connection.exec_driver_sql("INSERT INTO app_state VALUES ('two', '2')")

        for turns in range(0, 60, 2):
            writing = asyncio.ensure_future(save_two())
            for _ in range(turns):
                await asyncio.sleep(0)
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            # The connection is back when the next write has it.
            async with database.write() as connection:
                found = (await connection.exec_driver_sql("SELECT count(*) FROM app_state")).scalar_one()
                await connection.exec_driver_sql("DELETE FROM app_state")
            assert found in (0, 2), turns
            assert can_write_at_once(path), turns


async def test_the_write_ahead_log_is_folded_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as database:
        await save(database)
        await database.checkpoint_wal()
        assert path.with_name("sophos.db-wal").stat().st_size == 0
