"""Questions of the program about calls that nobody allowed: told, asked on a terminal, decided elsewhere."""

import asyncio
import json
import os
import signal
import sys
from typing import Any

import pytest

from tests.contract import contract
from tests.e2e.cli_program import PROGRAM, SECONDS, Program, read_until, terminal, typed, typed_at
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.sources import ROOT

LATER = "decide later > "
LONG = "a long line, " * 30
AT_ITS_OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def _asking(program: Program) -> None:
    program.ask_about_lines()


def script(server: OllamaServer, program: Program, *texts: str) -> None:
    """A turn that wants to append these lines, and its end."""
    calls = tuple(program.append(text) for text in texts)
    server.script(Reply(pieces=("I append. ",), calls=calls), "Done.")


async def statuses(program: Program, conversation_id: str) -> list[str]:
    """How the calls ended, in their order."""
    shown = (await typed(program, "show", conversation_id, "--json")).json
    return [message["tool_status"] for message in shown["messages"] if message["role"] == "tool"]


@pytest.mark.parametrize("mode", ["ask", "wait"])
async def test_without_a_terminal_the_question_is_told_and_the_run_waits(program: Program, mode: str) -> None:
    async with OllamaServer() as server:
        program.use(server)
        script(server, program, LONG)
        asked = await program("ask", "--approve", mode, "append")
        assert (asked.code, asked.out) == (4, "I append. \n")
        conversation_id = asked.err.split()[1]
        whole = json.dumps(program.append(LONG)["arguments"], ensure_ascii=False)
        assert "question: may this call be made? You have not said that you trust this server" in asked.err
        assert f"lines.append_line {whole}" in asked.err
        told = await typed(program, "approvals")
        assert whole in told.out
        assert "You have not said that you trust this server." in told.out
        (pending,) = (await typed(program, "approvals", "--json")).json
        assert set(pending) == contract.fields("with `--no-run`) | array `")
        assert (pending["why"], pending["scope"]) == ("approval", None)
        assert (await typed(program, "resume", conversation_id)).code == 5
        denied = await typed(program, "resume", conversation_id, "--approve", "deny")
        assert (denied.code, denied.out) == (0, "Done.\n")
    assert program.appended() == []
    assert await statuses(program, conversation_id) == ["denied"]


async def test_all_approvals_are_allowed_or_denied_at_once(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        script(server, program, "a", "b")
        allowed = await typed(program, "ask", "--approve", "allow", "--json", "append")
        assert allowed.code == 0, allowed.err
        asked = [event for event in allowed.events if event["type"] == "approval_needed"]
        assert [event["args"]["text"] for event in asked] == ["a", "b"]
        assert sorted(program.appended()) == ["a", "b"]
        script(server, program, "c", "d")
        denied = await typed(program, "ask", "--approve", "deny", "append")
        assert denied.code == 0, denied.err
        assert await statuses(program, denied.err.split()[1]) == ["denied", "denied"]
    assert sorted(program.appended()) == ["a", "b"]
    assert (await typed(program, "mcp", "permissions", "--json")).json == []


async def test_on_a_terminal_each_answer_of_the_prompt_does_what_it_says(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        appending = [program.append(text) for text in ("once", "changed", "denied", "always", "covered")]
        reading = {"name": "lines__read_lines", "arguments": {"file": str(program.lines_file)}}
        server.script(Reply(pieces=("I append. ",), calls=(*appending, reading)), "Done.")
        changed = json.dumps(program.append("other")["arguments"])
        with terminal() as (person, tty):
            async with program.started("ask", "append", stdin=tty, stderr=tty) as asking:
                said = await read_until(person, LATER)
                assert said.count("question: ") == 1, "each question is put once, when it is its turn"
                assert "lines.append_line" in said
                for answer, wanted in (
                    ("what?\n", LATER),
                    ("abort\n", LATER),
                    ("\n", LATER),
                    ("a\n", LATER),
                    ("c\n", "as JSON > "),
                    ("{no json\n", "that is no JSON: "),
                    ("c\n", "as JSON > "),
                    ("[1]\n", "that is no JSON object"),
                    ("c\n", "as JSON > "),
                    ('{"file": 7}\n', "got "),
                    ("c\n", "as JSON > "),
                    (f"{changed}\n", LATER),
                    ("d\n", "for the model"),
                    ("not today\n", LATER),
                    ("w\n", LATER),
                    ("l\n", "waiting: see `sophos-desktop approvals`"),
                ):
                    os.write(person, answer.encode())
                    await read_until(person, wanted)
                assert (await asking.end()).out == "I append. \n"
                assert asking.process.returncode == 4
        assert sorted(program.appended()) == ["always", "covered", "once", "other"]
        (pending,) = (await typed(program, "approvals", "--json")).json
        assert pending["tool"] == "read_lines"
        decided = await typed(program, "decide", pending["conversation_id"], ":5", "deny")
        assert (decided.code, decided.out) == (0, "Done.\n")
        told = server.chats[-1].body["messages"]
    assert await statuses(program, pending["conversation_id"]) == ["ok", "ok", "denied", "ok", "ok", "denied"]
    assert [m["content"] for m in told if "not today" in m["content"]] != [], "the model is told why"
    (permission,) = (await typed(program, "mcp", "permissions", "--json")).json
    assert (permission["tool"], permission["decision"]) == ("append_line", "allow")


async def test_the_end_of_input_at_the_prompt_leaves_the_question_open(program: Program) -> None:
    async with OllamaServer() as server, asyncio.timeout(SECONDS):
        program.use(server)
        script(server, program, "x")
        with terminal() as (person, tty):
            asking = asyncio.ensure_future(typed_at(program, tty, "ask", "append"))
            await read_until(person, LATER)
            os.write(person, b"d\n")
            await read_until(person, "may be empty) > ")
            os.write(person, b"\x04")
            await read_until(person, LATER)
            os.write(person, b"\x04")
            assert (await asking).code == 4
    assert len((await typed(program, "approvals", "--json")).json) == 1
    assert program.appended() == []


async def test_ctrl_c_at_the_prompt_leaves_the_question_open(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        script(server, program, "x")
        with terminal() as (person, tty):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", AT_ITS_OWN_TERMINAL, *PROGRAM, "ask", "append"),
                cwd=ROOT,
                env=program.environ,
                stdin=tty,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=tty,
                start_new_session=True,
            )
            try:
                await read_until(person, LATER)
                os.write(person, b"\x03")
                await read_until(person, "the question stays open: see `sophos-desktop approvals`")
                assert await asyncio.wait_for(process.wait(), SECONDS) == 130
            finally:
                if process.returncode is None:
                    process.send_signal(signal.SIGKILL)
                    await process.wait()
        (pending,) = (await typed(program, "approvals", "--json")).json
        assert (await typed(program, "decide", pending["conversation_id"], ":0", "allow")).code == 0
    assert program.appended() == ["x"]


async def asked_meanwhile(program: Program, *decision: str) -> tuple[int, str, str]:
    """A person at a prompt, and a decision that comes from elsewhere first; the prompt's exit code, what the
    terminal showed after the answer, and the conversation."""
    with terminal() as (person, tty):
        asking = asyncio.ensure_future(typed_at(program, tty, "ask", "append"))
        await read_until(person, LATER)
        (pending,) = (await typed(program, "approvals", "--json")).json
        conversation_id: str = pending["conversation_id"]
        decided = await typed(program, "decide", conversation_id, ":0", *decision)
        assert decided.code == 0, decided.err
        os.write(person, b"a\n")
        said = await read_until(person, "DECISION_STALE: This question is no longer open")
        finished = await asking
        os.write(tty, b"that is all")
        said += await read_until(person, "that is all")
    return finished.code, said, conversation_id


async def test_a_question_that_is_answered_meanwhile_is_told_and_the_run_goes_on(program: Program) -> None:
    async with OllamaServer() as server, asyncio.timeout(SECONDS * 2):
        program.use(server)
        script(server, program, "x")
        code, said, conversation_id = await asked_meanwhile(program, "deny", "--no-run")
    assert (code, "error" in said) == (0, False), said
    assert await statuses(program, conversation_id) == ["denied"]
    assert program.appended() == []


async def test_a_run_that_went_on_elsewhere_meanwhile_is_told_in_words(program: Program) -> None:
    async with OllamaServer() as server, asyncio.timeout(SECONDS * 2):
        program.use(server)
        script(server, program, "x")
        code, said, conversation_id = await asked_meanwhile(program, "deny")
    assert code == 5, said
    assert "error RUN_NOT_RESUMABLE: " in said
    assert f"`sophos-desktop follow {conversation_id}`" in said
    assert program.appended() == []


async def waiting(program: Program, server: OllamaServer, *texts: str) -> tuple[str, list[dict[str, Any]]]:
    """A run that waits for decisions on these lines: its conversation and the questions."""
    script(server, program, *texts)
    assert (await typed(program, "ask", "append")).code == 4
    pending = (await typed(program, "approvals", "--json")).json
    return pending[0]["conversation_id"], pending


async def test_calls_are_decided_by_the_ends_of_their_ids_and_arguments_must_fit(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        conversation_id, pending = await waiting(program, server, "a", "b")
        unfit = await typed(
            program, "decide", conversation_id, ":0", "allow", "--no-run", "--args", '{"file": 7}', "--json"
        )
        assert (unfit.code, unfit.json["error"]["code"]) == (2, "BAD_REQUEST")
        assert "file" in unfit.json["error"]["remedy"]
        for call, decision, code in (("", "allow", 5), (":9", "allow", 5), (":0", "skip", 2)):
            refused = await typed(program, "decide", conversation_id, call, decision, "--no-run")
            assert refused.code == code, refused.err
        assert (await typed(program, "approvals", "--json")).json == pending, "all of it is still open"
        fitting = json.dumps(program.append("other")["arguments"])
        recorded = await typed(
            program, "decide", conversation_id, ":1", "allow", "--no-run", "--args", fitting, "--json"
        )
        assert recorded.code == 0, recorded.err
        assert set(recorded.json) == contract.fields("`decide … --no-run --json` prints `")
        assert recorded.json["tool_call_id"] == pending[1]["tool_call_id"]
        assert program.appended() == []
        went_on = await typed(program, "decide", conversation_id, pending[0]["tool_call_id"], "allow")
        assert (went_on.code, went_on.out) == (0, "Done.\n")
    assert sorted(program.appended()) == ["a", "other"]


async def test_arguments_for_a_server_that_is_gone_are_not_checked_and_that_is_said(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        conversation_id, _ = await waiting(program, server, "a")
    entries = program.entries()
    program.write_entries({**entries, "lines": {**entries["lines"], "disabled": True}})
    decide = ("decide", conversation_id, ":0", "allow", "--no-run")
    always = await typed(program, *decide, "--always")
    assert (always.code, "lines is not there" in always.err) == (2, True)
    recorded = await typed(program, *decide, "--args", "{}")
    assert recorded.code == 0
    assert "lines is not there, so the arguments were not checked" in recorded.err


async def test_what_is_allowed_for_good_is_not_asked_again(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        conversation_id, _ = await waiting(program, server, "a")
        decided = await typed(program, "decide", conversation_id, ":0", "allow", "--always", "--no-run")
        assert decided.code == 0, decided.err
        assert decided.out.endswith(": allow for good\n")
        assert (await typed(program, "resume", conversation_id)).code == 0
        script(server, program, "b")
        again = await typed(program, "ask", "append")
        assert (again.code, "question" in again.err) == (0, False), again.err
        assert program.appended() == ["a", "b"]
        assert (await typed(program, "mcp", "forget", "lines", "append_line")).code == 0
        script(server, program, "c")
        assert (await typed(program, "ask", "append")).code == 4
    assert program.appended() == ["a", "b"]


async def test_a_decision_of_another_process_is_told_everywhere_and_a_resume_goes_on(
    program: Program,
) -> None:
    async with OllamaServer() as server:
        program.use(server)
        script(server, program, "asked")
        asked = await program("ask", "append")
        assert asked.code == 4
        conversation_id = asked.err.split()[1]
        args = program.append("sent")["arguments"]
        decided = await typed(
            program, "decide", conversation_id, ":0", "allow", "--args", json.dumps(args), "--no-run"
        )
        assert decided.code == 0, decided.err
        listed = await typed(program, "list")
        assert "decided; resume goes on" in listed.out
        (entry,) = (await typed(program, "list", "--json")).json
        assert (entry["decided"], entry["resumable"], entry["last_run"]["status"]) == (True, True, "waiting")
        shown = await typed(program, "show", conversation_id)
        assert "allowed with other arguments" in shown.out
        assert "[all that the last run asked is decided; `resume` goes on with it]" in shown.out
        followed = await program("follow", conversation_id, "--json")
        assert followed.code == 4
        assert [event["type"] for event in followed.events][:: len(followed.events) - 1] == [
            "run_started",
            "end",
        ]
        traced = (await typed(program, "trace", entry["last_run"]["id"], "--json")).json
        assert [event["type"] for event in traced[-2:]] == ["end", "tool_decided"]
        assert (traced[-1]["decision"], traced[-1]["edited"], traced[-1]["left_open"]) == ("allow", True, 0)
        tree = await typed(program, "trace", entry["last_run"]["id"])
        assert f"allowed with other arguments at {traced[-1]['decided_at'][11:19]}" in tree.out

        resumed = await program("resume", conversation_id, "--json")
        assert resumed.code == 0
        kinds = [event["type"] for event in resumed.events]
        assert (kinds[0], kinds[-1]) == ("run_started", "end")
        assert "tool_decided" not in kinds, "it was decided before this sitting"
    assert program.appended() == ["sent"]
    shown = await typed(program, "show", conversation_id)
    assert "sent, as you changed it: " in shown.out
    assert shown.out.count("attempt 1: ") == 1
    (call,) = (await typed(program, "show", conversation_id, "--json")).json["calls"].values()
    ((attempt,), (decision,)) = call["attempts"], call["decisions"]
    assert (call["edited"], attempt["args"], decision["decision"]) == (True, args, "allow")
    assert decision["decided_at"] <= attempt["started_at"] <= attempt["finished_at"]


async def test_the_stream_of_several_sittings_has_the_decisions_between_them(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        script(server, program, "a", "b")
        asked = await typed(program, "ask", "--approve", "deny", "--json", "append")
    assert asked.code == 0, asked.err
    kinds = [event["type"] for event in asked.events]
    assert (kinds[0], kinds[-1], kinds.count("run_started"), kinds.count("end")) == (
        "run_started",
        "end",
        2,
        2,
    )
    first_end = kinds.index("end")
    assert kinds[first_end : first_end + 4] == ["end", "tool_decided", "tool_decided", "run_started"]
    assert [event["seq"] for event in asked.events] == list(range(1, len(kinds) + 1))
    assert [event["left_open"] for event in asked.events if event["type"] == "tool_decided"] == [1, 0]


async def test_a_tool_that_is_denied_while_its_question_is_open_is_not_allowed(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        script(server, program, "never")
        conversation_id = (await program("ask", "append")).err.split()[1]
        assert (await typed(program, "mcp", "deny", "lines", "append_line")).code == 0
        refused = await program("decide", conversation_id, ":0", "allow")
        assert refused.code == 5
        assert "error DECISION_STALE: You forbid this tool since " in refused.err
        assert "Take that back first" in refused.err
        left = await program("resume", conversation_id, "--approve", "allow")
        assert left.code == 5, "nobody answers it in its place"
        assert len((await typed(program, "approvals", "--json")).json) == 1
        assert program.appended() == []
        denied = await typed(program, "decide", conversation_id, ":0", "deny")
        assert (denied.code, denied.out) == (0, "Done.\n")
    assert program.appended() == []
