"""What an environment can do to the file has its code and its remedy; a bug of ours stays a bug."""

import os
import sqlite3
from collections import namedtuple
from pathlib import Path

import psutil
import pytest
from sqlalchemy.exc import IntegrityError

from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store import database as database_module
from sophos_desktop.core.store.conversations import ConversationStore
from sophos_desktop.core.store.database import file_system_of
from sophos_desktop.core.store.errors import store_error
from sophos_desktop.foundation.clock import SystemClock
from sophos_desktop.foundation.paths import resolve_paths
from tests.core.store.store_fixture import (
    METADATA,
    a_checkpoint,
    can_write_at_once,
    open_database,
    open_saver,
    place,
    rows_of,
)
from tests.support.core_fixture import open_test_core

Partition = namedtuple("Partition", "mountpoint fstype")


async def refusal_of(path: Path) -> SophosError:
    """Why the file cannot be opened."""
    with pytest.raises(SophosError) as caught:
        async with open_database(path):
            pass
    assert str(path) in caught.value.title
    assert caught.value.remedy
    assert caught.value.exit_code == 7
    return caught.value


async def test_a_folder_in_the_files_place_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    path.mkdir()
    error = await refusal_of(path)
    assert error.code is ErrorCode.STORE_UNREACHABLE
    assert "no folder stands in the file's place" in error.remedy


@pytest.mark.parametrize("content", [b"This is no database. " * 20, b"SQLite format 3\x00" + b"\xff" * 4096])
async def test_a_file_that_is_no_database_is_kept_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sophos.db"
    path.write_bytes(content)
    assert (await refusal_of(path)).code is ErrorCode.STORE_CORRUPT
    assert path.read_bytes() == content


async def test_a_file_that_the_system_does_not_let_us_write_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(database_module, "_touch", refuse)
    error = await refusal_of(tmp_path / "sophos.db")
    assert error.code is ErrorCode.STORE_READ_ONLY


def test_a_write_to_a_read_only_database_is_read_only(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    with sqlite3.connect(path) as maker:
        maker.execute("CREATE TABLE t (x)")
    maker.close()
    reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError) as caught:
        reader.execute("INSERT INTO t VALUES (1)")
    reader.close()
    known = store_error(caught.value, path)
    assert known is not None
    assert known.code is ErrorCode.STORE_READ_ONLY


async def test_a_full_disk_is_store_full_and_nothing_is_half_done(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path) as database, open_saver(path) as saver:
        store = ConversationStore(database, SystemClock())
        (pages,) = rows_of(path, "PRAGMA page_count")[0]
        async with database.write() as connection:
            await connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")
        async with saver.conn.execute(f"PRAGMA max_page_count={pages + 2}"):
            pass
        with pytest.raises(SophosError) as caught:
            await store.save_app_state("key", "x" * 1_000_000)
        assert caught.value.code is ErrorCode.STORE_FULL
        writes = [("messages", b"a"), ("messages", os.urandom(200_000))]
        with pytest.raises(SophosError) as caught:
            await saver.aput_writes(place(checkpoint_id="1"), writes, "task")
        assert caught.value.code is ErrorCode.STORE_FULL
        assert rows_of(path, "SELECT count(*) FROM app_state") == [(0,)]
        assert rows_of(path, "SELECT count(*) FROM writes") == [(0,)]
        assert can_write_at_once(path)
        await saver.aput(place(), a_checkpoint(), METADATA, {})


async def test_a_missing_folder_is_unreachable(tmp_path: Path) -> None:
    database = database_module.Database(tmp_path / "gone" / "sophos.db")
    with pytest.raises(SophosError) as caught:
        await database.open(tmp_path)
    assert caught.value.code is ErrorCode.STORE_UNREACHABLE
    await database.close()


async def test_a_file_in_the_data_folders_place_is_unreachable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("I was here first.")
    with pytest.raises(SophosError) as caught:
        async with open_core(CoreOptions(resolve_paths(tmp_path / "file", {}), {})):
            pass
    assert caught.value.code is ErrorCode.STORE_UNREACHABLE
    assert str(tmp_path / "file") in caught.value.title


async def test_a_bug_stays_a_bug(tmp_path: Path) -> None:
    async with open_database(tmp_path / "sophos.db") as database:
        with pytest.raises(IntegrityError):
            async with database.write() as connection:
                await connection.exec_driver_sql("INSERT INTO app_state VALUES ('key', NULL)")


@pytest.mark.parametrize("kind", ["nfs4", "CIFS", "fuse.sshfs"])
async def test_a_network_file_system_is_refused_before_anything_is_written(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def partitions(**_: object) -> list[Partition]:
        return [Partition("/", "ext4"), Partition(str(data_dir.parent), kind)]

    monkeypatch.setattr(psutil, "disk_partitions", partitions)
    with pytest.raises(SophosError) as caught:
        async with open_test_core(data_dir, "127.0.0.1:9"):
            pass
    assert caught.value.code is ErrorCode.STORE_UNSUPPORTED
    assert kind.lower() in caught.value.title
    assert not (data_dir / "sophos.db").exists()


def test_the_file_system_is_that_of_the_deepest_and_latest_mount_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share, link = tmp_path / "share", tmp_path / "link"
    share.mkdir()
    link.symlink_to(share)

    def partitions(**_: object) -> list[Partition]:
        mounts = [("/", "ext4"), (str(share), "ext4"), (str(share), "nfs"), (str(tmp_path / "sha"), "xfs")]
        return [Partition(*mount) for mount in mounts]

    monkeypatch.setattr(psutil, "disk_partitions", partitions)
    assert file_system_of(link / "sophos.db") == "nfs"
    assert file_system_of(tmp_path / "sophos.db") == "ext4"
