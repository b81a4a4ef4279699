"""A deletion that is killed around the attachments is finished by the next start, and takes only its own."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.durability.engine_process import engine_process
from tests.durability.program import ForkServer, fork_server
from tests.durability.scenario import SECOND_QUESTION, Home, new_home


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    """One fork server for all of them."""
    with fork_server() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A user's folder and the scripted engine."""
    with engine_process(tmp_path) as engine, new_home(tmp_path / "home", engine) as made:
        yield made


def attach(home: Home, conversation_id: str, sha256: str, content: str) -> None:
    with closing(sqlite3.connect(home.data / "sophos.db")) as connection, connection:
        connection.execute(
            "INSERT OR IGNORE INTO attachments VALUES (?, 'text/plain', ?, ?)",
            (sha256, len(content), content.encode()),
        )
        connection.execute(
            "INSERT INTO attachment_uses VALUES (?, 'message', ?, 0, ?, 'a.txt')",
            (conversation_id, sha256, sha256),
        )


def left(home: Home) -> tuple[list[str], list[str]]:
    """The contents and the uses that are stored."""
    with closing(sqlite3.connect(home.data / "sophos.db")) as connection:
        contents = connection.execute("SELECT sha256 FROM attachments ORDER BY sha256").fetchall()
        uses = connection.execute("SELECT sha256 FROM attachment_uses ORDER BY sha256").fetchall()
    return [row[0] for row in contents], [row[0] for row in uses]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", ["tombstone", "thread", "attachments", "rows"])
def test_torture_the_attachments_of_a_deleted_conversation_go_and_no_others(
    server: ForkServer, home: Home, what: str, when: str
) -> None:
    for _ in range(2):
        assert server.run(["ask", SECOND_QUESTION], env=home.env(), cwd=home.root).code == 0
    listed = server.run(["list", "--json"], env=home.env(), cwd=home.root).json()
    kept, deleted = [entry["id"] for entry in listed]
    attach(home, kept, "shared", "held by both")
    attach(home, deleted, "shared", "held by both")
    attach(home, deleted, "alone", "held by one")
    env = home.env(SOPHOS_FAILPOINT=f"delete.{when}_{what}")
    assert server.run(["delete", deleted, "--yes"], env=env, cwd=home.root).killed
    again = server.run(["list", "--json"], env=home.env(), cwd=home.root).json()
    if (what, when) == ("tombstone", "before"):
        assert len(again) == 2
        assert left(home) == (["alone", "shared"], ["alone", "shared", "shared"])
    else:
        assert [entry["id"] for entry in again] == [kept]
        assert left(home) == (["shared"], ["shared"])
