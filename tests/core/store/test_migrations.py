"""The schema: made, kept for ever, refused where it is newer, backed up before it changes."""

import sqlite3
import stat
from pathlib import Path

import pytest

from sophos_desktop.core.domain.errors import ErrorCode, SophosError
from sophos_desktop.core.store import database as database_module
from sophos_desktop.core.store.migrations import CURRENT_VERSION, MIGRATIONS
from sophos_desktop.core.store.tables import metadata
from sophos_desktop.foundation.paths import prepare
from tests.core.store.store_fixture import connected, open_database, rows_of
from tests.support.core_fixture import open_test_core, paths_of, say, transcript
from tests.support.ollama_server import OllamaServer

GOLDEN = Path(__file__).parent / "golden"
CONVERSATION = "01a22cc8-5f52-76b9-9e42-1caeb467bb4a"
ADDED = "ALTER TABLE conversations ADD COLUMN colour TEXT NOT NULL DEFAULT 'none'"


@pytest.fixture(name="two_steps")
def _two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later version of the program, whose schema has one step more."""
    monkeypatch.setattr(database_module, "MIGRATIONS", (*MIGRATIONS, (ADDED,)))
    monkeypatch.setattr(database_module, "CURRENT_VERSION", CURRENT_VERSION + 1)


def files_of(folder: Path) -> dict[str, int]:
    """The files of a folder and their modes."""
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if file.is_file()}


def version_of(path: Path) -> int:
    return int(rows_of(path, "PRAGMA user_version")[0][0])


async def test_a_fresh_file_has_the_current_schema_and_is_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path):
        assert version_of(path) == CURRENT_VERSION
        assert not (tmp_path / "backups").exists()
        assert files_of(tmp_path) == dict.fromkeys(("sophos.db", "sophos.db-wal", "sophos.db-shm"), 0o600)


async def test_the_data_folder_is_for_its_user_alone(data_dir: Path) -> None:
    async with open_test_core(data_dir / "new", "127.0.0.1:9"):
        pass
    for folder in ("owners", "backups"):
        assert stat.S_IMODE((data_dir / "new" / folder).stat().st_mode) == 0o700


async def test_a_file_of_zero_bytes_is_a_fresh_one(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    path.touch()
    async with open_database(path):
        assert version_of(path) == CURRENT_VERSION


async def test_the_tables_for_queries_are_those_of_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    async with open_database(path):
        made = {name for (name,) in rows_of(path, "SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert made == set(metadata.tables)
        for name, table in metadata.tables.items():
            columns = {
                row[1]: (row[2], bool(row[3]), bool(row[5]))
                for row in rows_of(path, f"PRAGMA table_info({name})")
            }
            assert list(columns) == [column.name for column in table.columns], name
            for column in table.columns:
                kind, required, key = columns[column.name]
                words = {"FLOAT": "REAL"}.get(str(column.type), str(column.type))
                assert (kind, key) == (words, column.primary_key), (name, column.name)
                assert key or required == (not column.nullable), (name, column.name)


@pytest.mark.parametrize("version", range(1, CURRENT_VERSION + 1))
async def test_a_file_of_every_released_schema_opens_with_all_that_was_in_it(
    data_dir: Path, version: int
) -> None:
    prepare(paths_of(data_dir))
    with connected(paths_of(data_dir).database) as old:
        old.executescript((GOLDEN / f"schema-{version}.sql").read_text(encoding="utf-8"))
        assert old.execute("PRAGMA user_version").fetchone()[0] == version
    async with OllamaServer() as server, open_test_core(data_dir, server) as core:
        (conversation,) = await core.conversations.find_all()
        assert (conversation.id, conversation.title) == (CONVERSATION, "What do my notes say?")
        assert (conversation.draft, conversation.resumable) == ("a draft", True)
        assert await core.conversations.app_state("key") == "value"
        before = await transcript(core, CONVERSATION)
        assert before[0] == ("user", "What do my notes say?\nBe brief.")
        assert [role for role, _ in before] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
        (read,) = [m.tool_calls for m in await core.conversations.messages(CONVERSATION) if m.tool_calls]
        assert (read[0].server, read[0].args) == ("lines", {"file": "no-such-notes.txt"})
        await say(core, CONVERSATION, "Go on.")
        assert (await transcript(core, CONVERSATION))[6:] == [("user", "Go on."), ("assistant", "Hello!")]


async def test_a_newer_file_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    with connected(path) as newer:
        newer.execute("CREATE TABLE of_the_future (x)")
        newer.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    with pytest.raises(SophosError) as caught:
        async with open_database(path):
            pass
    assert caught.value.code is ErrorCode.STORE_TOO_NEW
    assert "999" in caught.value.title
    assert path.read_bytes() == before
    assert list(files_of(tmp_path)) == ["sophos.db"]


@pytest.mark.usefixtures("two_steps")
async def test_the_file_is_copied_aside_before_it_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    with connected(path) as old:
        old.executescript((GOLDEN / "schema-1.sql").read_text(encoding="utf-8"))
    async with open_database(path):
        assert version_of(path) == CURRENT_VERSION + 1
        assert rows_of(path, "SELECT id, colour FROM conversations") == [(CONVERSATION, "none")]
    backup = tmp_path / "backups" / "sophos-schema-1.db"
    assert version_of(backup) == 1
    assert rows_of(backup, "SELECT id FROM conversations") == [(CONVERSATION,)]
    assert files_of(backup.parent) == {backup.name: 0o600}
    async with open_database(path):
        assert files_of(backup.parent) == {}, "it goes after the first good start"


@pytest.mark.usefixtures("two_steps")
async def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sophos.db"
    with connected(path) as old:
        old.executescript((GOLDEN / "schema-1.sql").read_text(encoding="utf-8"))
    monkeypatch.setattr(database_module, "MIGRATIONS", (*MIGRATIONS, (ADDED, "CREATE NONSENSE")))
    with pytest.raises(Exception, match="NONSENSE"):
        async with open_database(path):
            pass
    assert version_of(path) == 1
    with pytest.raises(sqlite3.OperationalError, match="no such column: colour"):
        rows_of(path, "SELECT colour FROM conversations")


async def test_a_file_that_another_process_migrated_meanwhile_keeps_its_number(tmp_path: Path) -> None:
    path = tmp_path / "sophos.db"
    path.touch()
    async with open_database(path) as database:
        with connected(path) as newer:
            newer.execute("PRAGMA user_version = 7")
        with pytest.raises(SophosError) as caught:
            await database._migrate(0, tmp_path / "backups")
        assert caught.value.code is ErrorCode.STORE_TOO_NEW
        assert version_of(path) == 7
