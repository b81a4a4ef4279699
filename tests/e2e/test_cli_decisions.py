"""Uncertain calls of the real program: killed in the middle of a call, then asked about."""

import asyncio
import os
import signal

from tests.e2e.cli_program import Program, read_until, terminal
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


async def killed_in_a_call(program: Program, server: OllamaServer) -> str:
    """A run killed after a call took effect and before its result was recorded; the conversation's id."""
    server.script(Reply(pieces=("I append. ",), calls=(program.append("x"),)))
    killed = await program("ask", "append", environ={"SOPHOS_FAILPOINT": "journal.before_finished"})
    assert killed.code == -signal.SIGKILL
    assert program.appended() == ["x"]
    return killed.err.split()[1]


async def test_an_uncertain_call_waits_for_a_decision_and_is_not_repeated(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        conversation_id = await killed_in_a_call(program, server)
        waiting = await program("resume", conversation_id, "--json", "--approve", "allow")
        assert waiting.code == 4
        asked, end = waiting.events[-2:]
        assert (asked["type"], asked["why"], asked["tool"]) == ("approval_needed", "uncertain", "append_line")
        assert (end["type"], end["status"], end["resumable"]) == ("end", "waiting", False)
        pending, typed, resumed, denied, followed = await asyncio.gather(
            program("approvals", "--json"),
            program("ask", "-c", conversation_id, "hello", "--json"),
            program("resume", conversation_id, "--approve", "deny"),
            program("decide", conversation_id, asked["tool_call_id"], "deny"),
            program("follow", conversation_id),
        )
        assert pending.json == [
            {
                "conversation_id": conversation_id,
                "run_id": end["run_id"],
                "tool_call_id": asked["tool_call_id"],
                "server": "lines",
                "tool": "append_line",
                "args": program.append("x")["arguments"],
                "why": "uncertain",
                "asked_at": asked["asked_at"],
                "reason": "",
                "scope": None,
            }
        ]
        assert (typed.code, typed.json["error"]["code"]) == (5, "APPROVAL_PENDING")
        assert (resumed.code, resumed.out) == (5, "")
        assert denied.code == 2
        assert followed.code == 4
        recorded = await program("decide", conversation_id, ":0", "skip", "--no-run", "--json")
        assert (recorded.code, recorded.json["decision"]) == (0, "skip")
        server.script("Skipped it.")
        went_on = await program("resume", conversation_id, "--json")
        assert went_on.code == 0
        assert {event["run_id"] for event in went_on.events} == {end["run_id"]}, "the same run goes on"
        # The decision is an event of its own between the two sittings.
        assert [went_on.events[0]["type"], went_on.events[0]["seq"]] == ["run_started", end["seq"] + 2]
        late = await program("decide", conversation_id, ":0", "run-again")
        assert (late.code, "error DECISION_STALE: " in late.err) == (5, True)
    assert program.appended() == ["x"]


async def test_on_a_terminal_the_question_is_asked(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        conversation_id = await killed_in_a_call(program, server)
        server.script("Appended again.")
        with terminal() as (person, tty):
            async with program.started("resume", conversation_id, stdin=tty, stderr=tty) as resumed:
                said = await read_until(person, "decide later > ")
                assert "whether it took effect is unknown:\r\n  lines.append_line" in said
                os.write(person, b"what?\nr\n")
                assert (await resumed.end()).out == "Appended again.\n"
            assert resumed.process.returncode == 0
            assert program.appended() == ["x", "x"]
            async with program.started("delete", conversation_id, stdin=tty, stderr=tty) as deleting:
                await read_until(person, "[y/N] ")
                os.write(person, b"\n")
                assert (await deleting.end()).out == ""
            async with program.started("delete", conversation_id, stdin=tty, stderr=tty) as deleting:
                await read_until(person, "[y/N] ")
                deleting.process.send_signal(signal.SIGINT)
                assert (await deleting.end()).code == 130
            listed = await program("list")
            assert len(listed.out.splitlines()) == 2
