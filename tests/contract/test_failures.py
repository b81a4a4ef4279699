"""When things go wrong: a clear sentence, the right code, nothing lost."""

import asyncio
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from sophos_desktop.cli import reading
from tests.contract.in_process import Finished, Program
from tests.support.guards import ExpectedLogs
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


def check_refusal(finished: Finished, code: str, exit_code: int) -> None:
    """One line on stderr, one document on stdout; `--json` was given."""
    assert finished.code == exit_code, finished.err
    error = finished.json["error"]
    assert set(error) == {"code", "title", "remedy", "details"}
    assert error["code"] == code
    assert error["title"]
    assert error["remedy"]
    assert finished.err == f"error {code}: {error['title']}. {error['remedy']}\n"


async def test_requests_that_cannot_be_served_are_refused(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        first = (await program("ask", "--json", "one")).events[0]["conversation_id"]
        second = (await program("ask", "--json", "two")).events[0]["conversation_id"]
        common = first[:8]
        assert second.startswith(common), "ids of one sitting begin alike"
        nothing = "ffffffff"
        refusals = [
            (["ask", ""], "BAD_REQUEST", 2),
            (["ask", " \n"], "BAD_REQUEST", 2),
            (["ask", "-"], "BAD_REQUEST", 2),
            (["ask", "-c", nothing, "hi"], "NOT_FOUND", 6),
            (["ask", "-c", common, "hi"], "AMBIGUOUS_ID", 6),
            (["ask", "-c", "%%%%", "hi"], "NOT_FOUND", 6),
            (["ask", "-c", "____", "hi"], "NOT_FOUND", 6),
            (["show", "abc"], "BAD_REQUEST", 2),
            (["show", nothing], "NOT_FOUND", 6),
            (["runs", common], "AMBIGUOUS_ID", 6),
            (["trace", nothing], "NOT_FOUND", 6),
            (["follow", nothing], "NOT_FOUND", 6),
            (["resume", nothing], "NOT_FOUND", 6),
            (["resume", first], "RUN_NOT_RESUMABLE", 5),
            (["decide", first, ":0", "skip"], "DECISION_STALE", 5),
            (["show", first, "--data-dir", ""], "BAD_REQUEST", 2),
            (["nonsense"], "BAD_REQUEST", 2),
        ]
        for argv, code, exit_code in refusals:
            check_refusal(await program(*argv, "--json"), code, exit_code)
        ambiguous = await program("show", common)
        assert first in ambiguous.err
        assert second in ambiguous.err
        assert ambiguous.out == ""
        whole = await program("show", first.replace("-", "")[:31].upper())
        assert whole.code == 0, "an unfinished id without dashes, in capitals"
    assert len(server.chats) == 2, "nothing refused reached the engine"


async def test_with_the_engine_down_the_message_is_kept_and_can_be_answered_later(program: Program) -> None:
    failed = await program("ask", "--json", "are you there?")
    assert failed.code == 3
    events = failed.events
    assert [events[0]["type"], events[-1]["type"]] == ["run_started", "end"]
    assert events[-1]["error_code"] == "ENGINE_UNREACHABLE"
    assert events[-1]["resumable"] is True
    assert failed.err.startswith("error ENGINE_UNREACHABLE: ")
    conversation_id = events[0]["conversation_id"]
    again = await program("ask", "-c", conversation_id, "still not?")
    assert (again.code, again.out) == (3, "")
    assert f"resume {conversation_id}" in again.err
    shown = await program("show", conversation_id, "--json")
    assert [message["text"] for message in shown.json["messages"]] == ["are you there?", "still not?"]
    assert shown.json["resumable"] is True
    assert "it can be resumed" in (await program("show", conversation_id)).out
    async with OllamaServer() as server:
        program.use(server)
        server.script("Now ", Reply(pieces=("later",)))
        resumed = await program("resume", conversation_id)
    assert (resumed.code, resumed.out) == (0, "Now \n")


async def test_an_answer_that_is_cut_stays_and_stdout_ends_with_a_line_end(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(pieces=("Half an", " answer"), ending="cut"), "Whole.")
        cut = await program("ask", "hello")
        assert (cut.code, cut.out) == (3, "Half an answer\n")
        assert "error STREAM_INCOMPLETE: " in cut.err
        conversation_id = cut.err.split()[1]
        shown = (await program("show", conversation_id, "--json")).json["messages"]
        assert [(m["text"], m["state"]) for m in shown][1:] == [("Half an answer", "incomplete")]
        resumed = await program("resume", conversation_id)
        assert (resumed.code, resumed.out) == (0, "Whole.\n")


async def test_a_model_that_is_not_there_is_named(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        missing = await program("ask", "-m", "nowhere", "hello")
        assert missing.code == 3
        assert "error MODEL_UNAVAILABLE: " in missing.err
        assert "nowhere" in missing.err


async def test_tools_that_cannot_start_cost_a_notice_and_nothing_else(program: Program) -> None:
    (program.data_dir / "config" / "mcp.json").write_text("{ this is no JSON")
    async with OllamaServer() as server:
        program.use(server)
        program.environ["SOPHOS_TOOLS__START_WAIT_SECONDS"] = "0"
        answered = await program("ask", "hello")
    assert (answered.code, answered.out) == (0, "Hello!\n")
    assert "notice CONFIG_INVALID: " in answered.err
    assert "mcp.json" in answered.err


@contextmanager
def write_transaction(program: Program) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(program.data_dir / "sophos.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


async def test_a_foreign_write_transaction_is_waited_for(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        assert (await program("ask", "one")).code == 0
        with write_transaction(program) as other:
            asked = asyncio.ensure_future(program("ask", "two"))
            _, still_waiting = await asyncio.wait({asked}, timeout=3)
            assert still_waiting
            other.execute("ROLLBACK")
            assert (await asked).out == "Hello!\n"


async def test_stores_that_cannot_be_opened_are_told_apart(program: Program) -> None:
    database = program.data_dir / "sophos.db"
    database.touch()
    assert (await program("list", "--json")).json == [], "zero bytes are an empty store"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 999")
    check_refusal(await program("list", "--json"), "STORE_TOO_NEW", 7)
    doctor = await program("doctor", "--json")
    assert doctor.code == 7
    assert [(check["id"], check["ok"]) for check in doctor.json["checks"]] == [("store_schema", False)]
    for leftover in program.data_dir.glob("sophos.db*"):
        leftover.unlink()
    database.write_bytes(b"no database at all " * 100)
    check_refusal(await program("list", "--json"), "STORE_CORRUPT", 7)
    database.unlink()
    database.mkdir()
    check_refusal(await program("ask", "hello", "--json"), "STORE_UNREACHABLE", 7)
    file = program.data_dir / "file"
    file.touch()
    check_refusal(await program("list", "--json", "--data-dir", str(file)), "STORE_UNREACHABLE", 7)
    inside = await program("list", "--json", "--data-dir", str(file / "inside"))
    check_refusal(inside, "STORE_UNREACHABLE", 7)


async def test_the_doctor_says_what_is_wrong_and_what_helps(program: Program) -> None:
    sick = await program("doctor", "--json")
    assert sick.code == 3
    assert sick.json["ok"] is False
    wrong = {check["id"]: check["remedy"] for check in sick.json["checks"] if not check["ok"]}
    assert set(wrong) == {"engine", "model"}
    assert all(wrong.values())
    assert "wrong  engine" in (await program("doctor")).out


async def test_a_bug_is_told_with_its_place_and_logged(
    program: Program, monkeypatch: pytest.MonkeyPatch, expected_logs: ExpectedLogs
) -> None:
    async def broken(_: object) -> int:
        raise LookupError("a secret of the conversation")

    monkeypatch.setattr(reading, "show", broken)
    expected_logs(r"command show failed in our own code")
    finished = await program("show", "abcd", "--json")
    assert (finished.code, finished.out) == (1, "")
    assert "LookupError in test_failures.py, line " in finished.err
    log = (program.data_dir / "logs" / "sophos.log").read_text()
    assert "Traceback" in log
    assert str(program.data_dir / "logs" / "sophos.log") in finished.err
    assert "a secret" not in finished.err


async def test_without_a_display_the_window_says_so(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        program.environ.pop(name, None)
    monkeypatch.setattr(sys, "platform", "linux")
    refused = await program()
    assert refused.code == 2
    assert refused.err.startswith("error BAD_REQUEST: There is no display")
