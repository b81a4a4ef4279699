"""Deleting on the command line: what goes, what stays in the memory, what is refused."""

import json
import os
import signal
from typing import Any

from tests.e2e.cli_program import Program, read_until, terminal
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

TEA = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
REMEMBERS = Reply(calls=({"name": "memory__create_entities", "arguments": {"entities": [TEA]}},))


def remembering(program: Program) -> None:
    """The program with its memory server, which these tests are about."""
    config = program.data_dir / "config" / "mcp.json"
    config.write_text(json.dumps({"fetch": {"disabled": True}}))


def remembered(program: Program) -> list[dict[str, Any]]:
    """The lines of the memory file."""
    file = program.data_dir / "memory.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def test_facts_stay_in_the_memory_and_that_is_said(program: Program) -> None:
    remembering(program)
    async with OllamaServer() as server:
        program.use(server)
        server.script(REMEMBERS)
        conversation_id = (await program("ask", "Ada likes tea")).err.split()[1]
    deleted = await program("delete", conversation_id, "--yes")
    assert (deleted.code, deleted.out.splitlines()[1:]) == (
        0,
        ["what it added to the memory stays there:", "  Ada (person)", "  Ada: likes tea"],
    )
    assert [line["name"] for line in remembered(program)] == ["Ada"]
    assert (await program("show", conversation_id)).code == 6


async def test_facts_are_removed_too_if_the_user_says_so(program: Program) -> None:
    remembering(program)
    async with OllamaServer() as server:
        program.use(server)
        server.script(REMEMBERS)
        conversation_id = (await program("ask", "Ada likes tea")).err.split()[1]
    with terminal() as (person, tty):
        async with program.started(
            "delete", conversation_id, "--facts", "remove", stdin=tty, stderr=tty
        ) as deleting:
            asked = await read_until(person, "[y/N] ")
            assert "2 facts that it added to the memory will be taken out" in " ".join(asked.split())
            os.write(person, b"y\n")
            deleted = await deleting.end()
    assert (deleted.code, deleted.out.splitlines()[1:]) == (
        0,
        ["removed from the memory:", "  Ada (person)", "  Ada: likes tea"],
    )
    assert remembered(program) == []


async def test_where_the_facts_cannot_be_removed_nothing_is_deleted(program: Program) -> None:
    remembering(program)
    async with OllamaServer() as server:
        program.use(server)
        server.script(REMEMBERS)
        conversation_id = (await program("ask", "Ada likes tea")).err.split()[1]
    config = program.data_dir / "config" / "mcp.json"
    config.write_text(json.dumps({"memory": {"disabled": True}, "fetch": {"disabled": True}}))
    refused = await program("delete", conversation_id, "--yes", "--facts", "remove")
    assert refused.code != 0
    assert "error TOOL_SERVER_DOWN: " in refused.err
    assert (await program("show", conversation_id)).code == 0


async def test_a_conversation_is_not_deleted_while_it_runs_and_may_be_while_it_waits(
    program: Program,
) -> None:
    config = program.data_dir / "config" / "mcp.json"
    servers = json.loads(config.read_text())
    servers["lines"].pop("approval", None)
    config.write_text(json.dumps(servers))
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(pieces=("Once", " more"), hold_after=1))
        async with program.started("ask", "tell me") as running:
            await server.wait_held()
            conversation_id = (await running.line(of_stderr=True)).split()[1]
            for facts in ("keep", "remove"):
                refused = await program("delete", conversation_id, "--yes", "--facts", facts)
                assert (refused.code, "error SESSION_IN_PROGRESS: " in refused.err) == (5, True)
            server.release()
            assert (await running.end()).code == 0
        server.script(Reply(calls=(program.append("x"),)))
        waiting = await program("ask", "-c", conversation_id, "append", "--approve", "wait")
        assert waiting.code == 4
        assert (await program("delete", conversation_id, "--yes")).code == 0
        assert (await program("approvals", "--json")).json == []
    assert program.appended() == []


async def test_a_deletion_that_was_killed_is_finished_by_the_next_command(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        conversation_id = (await program("ask", "QJX-secret")).err.split()[1]
    killed = await program(
        "delete", conversation_id, "--yes", environ={"SOPHOS_FAILPOINT": "delete.after_thread"}
    )
    assert killed.code == -signal.SIGKILL
    assert (await program("list", "--json")).json == []
    files = [path for path in program.data_dir.rglob("*") if path.is_file()]
    assert [path.name for path in files if b"QJX-secret" in path.read_bytes()] == []
