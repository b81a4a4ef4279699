"""Stopping the real program: by SIGINT, SIGTERM, SIGHUP, from another process; while a tool hangs, while it
reads its input."""

import asyncio
import fcntl
import json
import os
import signal
import struct
import termios
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.cli_program import SECONDS, Program
from tests.e2e.test_two_processes import window_core
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer


def with_log(program: Program) -> None:
    """Let the server `lines` log all it is sent, and run without asking."""
    config = program.data_dir / "config" / "mcp.json"
    servers = json.loads(config.read_text())
    servers["lines"]["args"].append(str(program.data_dir.parent / "messages.log"))
    servers["lines"]["approval"] = "allow"
    config.write_text(json.dumps(servers))


def sent_to_server(program: Program, method: str) -> list[dict[str, Any]]:
    """What the server was sent of one kind."""
    log = program.data_dir.parent / "messages.log"
    sent = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [message for message in sent if message.get("method") == method]


async def until_sent(program: Program, method: str) -> dict[str, Any]:
    """The first message of a kind, once it is there."""
    async with asyncio.timeout(SECONDS):
        while not (sent := sent_to_server(program, method)):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
    return sent[0]


def hangs(program: Program) -> Reply:
    """A call that does not answer."""
    arguments = {"file": str(program.lines_file), "text": "slow", "seconds": 600}
    return Reply(calls=({"name": "lines__slow_append", "arguments": arguments},))


async def until_appended(program: Program) -> None:
    """Wait until the call has taken effect."""
    async with asyncio.timeout(SECONDS):
        while not program.appended():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)


async def cancelled_id(program: Program) -> tuple[Any, Any]:
    """The id that the server was told to cancel, and that of the call."""
    told = await until_sent(program, "notifications/cancelled")
    (call,) = sent_to_server(program, "tools/call")
    return told["params"]["requestId"], call["id"]


async def test_interrupting_a_hanging_tool_cancels_its_request(program: Program) -> None:
    with_log(program)
    async with OllamaServer() as server:
        program.use(server)
        server.script(hangs(program))
        async with program.started("ask", "--json", "append") as asked:
            await until_appended(program)
            asked.process.send_signal(signal.SIGINT)
            stopped = await asked.end()
        assert stopped.code == 130
        end = stopped.events[-1]
        assert (end["type"], end["status"], end["resumable"]) == ("end", "cancelled", True)
        told, meant = await cancelled_id(program)
        assert told == meant
        server.script("I do not know.")
        conversation_id = stopped.events[0]["conversation_id"]
        typed = await program("ask", "-c", conversation_id, "And?")
        assert (typed.code, typed.out) == (0, "I do not know.\n")
    assert program.appended() == ["slow"]


@pytest.fixture
def hears_hangups() -> Iterator[None]:
    """Whoever started the tests so that they outlive their terminal: the programs that they start do not."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)  # what is caught is the default in a child
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hears_hangups")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_terminating_in_a_hanging_tool_records_interrupted_and_asks_at_the_resume(
    program: Program, number: signal.Signals
) -> None:
    with_log(program)
    async with OllamaServer() as server:
        program.use(server)
        server.script(hangs(program))
        async with program.started("ask", "--json", "append") as asked:
            await until_appended(program)
            asked.process.send_signal(number)
            drained = await asked.end()
        assert drained.code == 143
        end = drained.events[-1]
        assert (end["status"], end["error_code"], end["resumable"]) == ("interrupted", None, True)
        resumed = await program("resume", end_conversation(drained.events), "--json", "--approve", "wait")
        assert resumed.code == 4
        assert [e["why"] for e in resumed.events if e["type"] == "approval_needed"] == ["uncertain"]
    assert program.appended() == ["slow"]


def end_conversation(events: list[dict[str, Any]]) -> str:
    """The conversation of a run."""
    return str(events[0]["conversation_id"])


async def test_another_process_stops_a_hanging_tool(program: Program) -> None:
    with_log(program)
    async with OllamaServer() as server, window_core(program, server) as core:
        server.script(hangs(program))
        async with program.started("ask", "--json", "append") as asked:
            await until_appended(program)
            (conversation,) = await core.conversations.find_all()
            assert await core.neighbours.request_stop(conversation.id)
            stopped = await asked.end()
        assert stopped.code == 130
        assert stopped.events[-1]["status"] == "cancelled"
        told, meant = await cancelled_id(program)
        assert told == meant
        assert not await core.neighbours.request_stop(conversation.id)


def waiting_bytes(descriptor: int) -> int:
    """What was written into a pipe and not read yet."""
    (count,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))
    return int(count)


async def test_interrupting_while_the_message_is_read_ends_the_program_and_sends_nothing(
    program: Program,
) -> None:
    async with OllamaServer() as server:
        program.use(server)
        reading, writing = os.pipe()
        try:
            async with program.started("ask", "-", stdin=reading) as asked:
                os.write(writing, b"Half a mess")
                async with asyncio.timeout(SECONDS):
                    while waiting_bytes(reading):  # noqa: ASYNC110 - another process reads it
                        await asyncio.sleep(0.02)
                asked.process.send_signal(signal.SIGINT)
                stopped = await asked.end()
        finally:
            os.close(reading)
            os.close(writing)
        assert (stopped.code, stopped.out) == (130, "")
        assert "Traceback" not in stopped.err
        assert server.chats == []
    assert (await program("list", "--json")).json == []
