"""Kills at the points that a turn does not pass: decisions, deletions, the spawn of the starter."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.durability.engine_process import engine_process
from tests.durability.player import DRIVER, EXAMINE
from tests.durability.program import Finished, ForkServer, fork_server
from tests.durability.scenario import ANSWER, SECOND_QUESTION, Home, expected_lines, new_home, question

DELETE_POINTS = ("tombstone", "thread", "attachments", "rows")


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


def run(server: ForkServer, home: Home, *argv: str, failpoint: str = "") -> Finished:
    env = home.env(SOPHOS_FAILPOINT=failpoint) if failpoint else home.env()
    return server.run(argv, env=env, cwd=home.root)


def rows_left(home: Home) -> dict[str, int]:
    """How many rows the tables that hold a conversation's own data have."""
    with sqlite3.connect(home.data / "sophos.db") as connection:
        counts = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("conversations", "runs", "tool_attempts", "trace_events", "checkpoints", "writes")
        }
    connection.close()
    return counts


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", DELETE_POINTS)
def test_torture_a_deletion_is_not_begun_or_finished_by_the_next_start(
    server: ForkServer, home: Home, what: str, when: str
) -> None:
    assert run(server, home, "ask", question(1)).code == 0
    conversation_id = run(server, home, "list", "--json").json()[0]["id"]
    assert run(server, home, "delete", conversation_id, "--yes", failpoint=f"delete.{when}_{what}").killed
    listed = run(server, home, "list", "--json").json()
    if (what, when) == ("tombstone", "before"):
        assert [entry["id"] for entry in listed] == [conversation_id]
        assert run(server, home, "ask", "-c", conversation_id, SECOND_QUESTION).code == 0
    else:
        assert listed == []
        assert set(rows_left(home).values()) == {0}


@pytest.mark.parametrize("kind", ["run-again", "skip", "result"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_torture_a_decision_is_asked_again_or_carried_out_once(
    server: ForkServer, home: Home, when: str, kind: str
) -> None:
    assert run(server, home, "ask", question(1), failpoint="journal.before_finished:1").killed
    conversation_id = run(server, home, "list", "--json").json()[0]["id"]
    (asked,) = _asked(server, home, conversation_id)
    decide = ["decide", conversation_id, asked["tool_call_id"], kind]
    decide += ["--result", "entered"] if kind == "result" else []
    assert run(server, home, *decide, failpoint=f"decision.{when}_commit").killed
    if when == "before":
        assert [q["tool_call_id"] for q in _asked(server, home, conversation_id)] == [asked["tool_call_id"]]
        ended = run(server, home, *decide)
    else:
        assert run(server, home, "approvals", "--json").json() == []
        ended = run(server, home, "resume", conversation_id)
    assert ended.code == 0, ended.stderr
    assert ended.stdout.endswith("".join(ANSWER) + "\n")
    counts = Counter(home.lines())
    assert set(counts) == expected_lines(1)
    assert counts[asked["args"]["text"]] == (2 if kind == "run-again" else 1)
    seen = server.run([str(home.data)], env=home.env(), cwd=home.root, call=EXAMINE).json()
    assert seen["conversations"][0]["history_problems"] == []


@pytest.mark.parametrize(
    "where", ["journal.after_started:2", "journal.after_finished:2", "writes.after_put:2"]
)
def test_torture_what_was_allowed_for_good_and_made_is_not_asked_about_again(
    server: ForkServer, tmp_path: Path, where: str
) -> None:
    with engine_process(tmp_path) as engine, new_home(tmp_path / "home", engine, approval=None) as home:
        assert run(server, home, "ask", question(2)).code == 4
        first, _ = run(server, home, "approvals", "--json").json()
        conversation_id = first["conversation_id"]
        always = ["always", conversation_id, first["tool_call_id"]]
        env = home.env(SOPHOS_FAILPOINT=where)
        assert server.run(always, env=env, cwd=home.root, call=DRIVER).killed
        pending = run(server, home, "approvals", "--json").json()
        assert pending == []
        ended = run(server, home, "resume", conversation_id)
        while ended.code == 4:
            (asked, *_) = run(server, home, "approvals", "--json").json()
            assert asked["why"] == "uncertain"
            ended = run(server, home, "decide", conversation_id, asked["tool_call_id"], "skip")
        assert ended.code == 0, ended.stderr
        assert max(Counter(home.lines()).values()) == 1


def _asked(server: ForkServer, home: Home, conversation_id: str) -> list[dict[str, Any]]:
    """The open questions; a run that was killed in the middle of a call asks once it is resumed."""
    pending = run(server, home, "approvals", "--json").json()
    if not pending:
        assert run(server, home, "resume", conversation_id).code == 4
        pending = run(server, home, "approvals", "--json").json()
    return list(pending)


@pytest.mark.parametrize("point", ["starter.announced", "starter.spawned"])
def test_torture_a_starter_whose_app_is_killed_is_gone_after_the_next_start(
    server: ForkServer, home: Home, point: str
) -> None:
    assert run(server, home, "ask", "--engine", "starter", "Hello", failpoint=point).killed
    listed = run(server, home, "list", "--json").json()
    assert listed[0]["resumable"]
    assert _children_of(home) == []
    with sqlite3.connect(home.data / "sophos.db") as connection:
        assert connection.execute("SELECT count(*) FROM children").fetchone() == (0,)
    connection.close()


def _children_of(home: Home) -> list[str]:
    """The starters that still run for this home."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except psutil.Error:
            continue
        if environment.get("SOPHOS_CHILD_TOKEN") and process.cwd() == str(home.root):
            found.append(" ".join(process.cmdline()))
    return found
