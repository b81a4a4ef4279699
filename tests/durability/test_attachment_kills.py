"""Attachments under kills: each stays with its text in one place, and a deletion takes only its own."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.durability.engine_process import engine_process
from tests.durability.program import Finished, ForkServer, fork_server
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


@pytest.mark.long
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


TEXT = "look at this"
"""What the message says; its attachment is `a.txt`."""
IN_DRAFT = {"draft": ["", ["a.txt"]]}
UNSENT = {"draft": [TEXT, ["a.txt"]]}
QUEUED = {"queued": [TEXT, ["a.txt"]]}
SAID = {f"said {TEXT}": [TEXT, ["a.txt"]]}


def drive(server: ForkServer, home: Home, *argv: str, failpoint: str = "") -> Finished:
    env = home.env(SOPHOS_FAILPOINT=failpoint) if failpoint else home.env()
    return server.run(argv, env=env, cwd=home.root, call="tests.durability.attaching_driver:main")


def places(server: ForkServer, home: Home, conversation_id: str) -> dict[str, Any]:
    """Where the next start finds the attachment, and the text that it is with."""
    found: dict[str, Any] = drive(server, home, "places", conversation_id).json()
    found.pop(f"said {SECOND_QUESTION}")
    return found


@pytest.mark.parametrize(
    ("before", "killed", "failpoint", "found"),
    [
        ((), "attach", "attach.before_commit", {}),
        ((), "attach", "attach.after_commit", IN_DRAFT),
        (("attach",), "put", "queue.before_commit", IN_DRAFT),
        (("attach",), "put", "queue.after_commit", QUEUED),
        (("attach", "put"), "take-back", "unqueue.before_commit", {"draft": [TEXT, []], **QUEUED}),
        (("attach", "put"), "take-back", "unqueue.after_commit", UNSENT),
        (("attach",), "send", "claim.before_commit", IN_DRAFT),
        (("attach",), "send", "claim.after_commit", UNSENT),
        (("attach",), "send", "checkpoint.before_put", UNSENT),
        (("attach",), "send", "checkpoint.after_put", SAID),
        (("attach",), "send", "outcome.before_commit", SAID),
        (("attach", "put"), "finish", "claim.before_commit", QUEUED),
        (("attach", "put"), "finish", "claim.after_commit", UNSENT),
        (("attach", "put"), "finish", "checkpoint.after_put", SAID),
    ],
)
def test_torture_what_is_attached_is_in_one_place_with_its_text_wherever_the_app_is_killed(
    server: ForkServer,
    home: Home,
    before: tuple[str, ...],
    killed: str,
    failpoint: str,
    found: dict[str, Any],
) -> None:
    assert server.run(["ask", SECOND_QUESTION], env=home.env(), cwd=home.root).code == 0
    (entry,) = server.run(["list", "--json"], env=home.env(), cwd=home.root).json()
    conversation_id = entry["id"]
    for step in before:
        assert drive(server, home, step, conversation_id, TEXT).code == 0
    assert drive(server, home, killed, conversation_id, TEXT, failpoint=failpoint).killed
    assert places(server, home, conversation_id) == found
    contents, uses = left(home)
    assert len(contents) == len(uses) == (1 if found else 0)
    checks = server.run(["doctor", "--json"], env=home.env(), cwd=home.root).json()["checks"]
    assert [check["text"] for check in checks if check["id"] == "journal" and not check["ok"]] == []
    finished = drive(server, home, "finish", conversation_id)
    assert finished.code == 0, finished.stderr
    said = places(server, home, conversation_id)
    assert "queued" not in said
    assert "draft" not in said
    assert [names for _, names in said.values() if names] == ([["a.txt"]] if found else [])
