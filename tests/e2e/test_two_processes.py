"""A core stays open on a file, as the window does, while the command line works on the same file."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sophos_desktop.core.assembly import Core, CoreOptions, open_core
from sophos_desktop.core.domain.conversation import Conversation, Role
from sophos_desktop.core.domain.events import MessageStored, RunStarted, SittingEnded
from sophos_desktop.core.domain.run import RunStatus
from sophos_desktop.core.runs.following import FollowedRun
from sophos_desktop.foundation.paths import resolve_paths
from tests.e2e.cli_program import Program, Running
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

WAIT_SECONDS = 20.0

pytestmark = pytest.mark.long  # each starts several programs, and waits for what they notice


@asynccontextmanager
async def window_core(program: Program, server: OllamaServer) -> AsyncIterator[Core]:
    """What the window holds open, on the file and the engine that the command line uses."""
    program.use(server)
    options = CoreOptions(resolve_paths(program.data_dir, {}), program.environ, tool_servers=False)
    async with open_core(options) as core:
        yield core


async def only_conversation(core: Core) -> Conversation | None:
    """The one conversation that there is."""
    found = await core.conversations.find_all()
    return found[0] if found else None


async def until_executing(core: Core, server: OllamaServer) -> FollowedRun:
    """The other process's run, once its model call is held."""
    async with asyncio.timeout(WAIT_SECONDS):
        await server.wait_held()
        conversation = await only_conversation(core)
        assert conversation is not None
        run = await core.neighbours.executing(conversation.id)
        assert run is not None
        return run


async def until_status(core: Core, status: RunStatus) -> Conversation:
    """The conversation, once its run is in this state; looked at after each change that is told."""
    changed = asyncio.Event()
    unsubscribe = core.neighbours.subscribe(changed.set)
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            changed.clear()
            conversation = await only_conversation(core)
            if conversation and conversation.last_run and conversation.last_run.status is status:
                unsubscribe()
                return conversation
            await changed.wait()


async def test_a_run_of_the_command_line_is_followed_step_by_step(program: Program) -> None:
    async with OllamaServer() as server, window_core(program, server) as core:
        server.script(Reply(("It ", "is ", "done."), hold_after=1))
        async with program.started("ask", "Do it") as other:
            run = await until_executing(core, server)
            events = asyncio.ensure_future(_all(run))
            server.release()
            assert (await other.end()).code == 0
            told = await asyncio.wait_for(events, WAIT_SECONDS)
    assert isinstance(told[0], RunStarted)
    assert isinstance(told[-1], SittingEnded)
    assert told[-1].status == "completed"
    said = [(e.message.role, e.message.text) for e in told if isinstance(e, MessageStored)]
    assert said == [(Role.USER, "Do it"), (Role.ASSISTANT, "It is done.")]


async def _all(run: FollowedRun) -> list[object]:
    return [event.event async for event in run.events()]


async def test_a_change_by_another_process_is_told_within_a_second_of_its_commit(program: Program) -> None:
    async with OllamaServer() as server, window_core(program, server) as core:
        async with program.started("ask", "--json", "Hello") as other:
            conversation = await until_status(core, RunStatus.COMPLETED)
            assert (await other.end()).code == 0
        assert conversation.title == "Hello"


async def test_stop_in_the_window_stops_a_run_of_the_command_line(program: Program) -> None:
    async with OllamaServer() as server, window_core(program, server) as core:
        server.script(Reply(("Half",) * 3, hold_after=2))
        async with program.started("ask", "--json", "Write a lot") as other:
            run = await until_executing(core, server)
            assert await core.neighbours.request_stop(run.conversation_id)
            finished = await other.end()
        assert finished.code == 130
        assert finished.events[-1]["status"] == "cancelled"
        conversation = await until_status(core, RunStatus.CANCELLED)
        assert conversation.resumable
        last = (await core.conversations.messages(conversation.id))[-1]
        assert (last.state.value, last.text) == ("stopped", "HalfHalf")


async def test_the_death_of_another_process_is_noticed_without_a_restart(program: Program) -> None:
    async with OllamaServer() as server, window_core(program, server) as core:
        server.script(Reply(("Half",) * 3, hold_after=2))
        async with program.started("ask", "Write a lot") as other:
            run = await until_executing(core, server)
            ended = asyncio.ensure_future(run.wait())
            _kill(other)
            await other.end()
            conversation = await until_status(core, RunStatus.INTERRUPTED)
            assert conversation.resumable
            assert (await asyncio.wait_for(ended, WAIT_SECONDS)).status == "interrupted"
        server.script(Reply(("Whole.",)))
        handle = await core.runs.resume(conversation.id)
        assert (await handle.wait()).status == "completed"


async def test_a_window_that_dies_leaves_its_run_to_the_command_line(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(("Half",), hold_after=0))
        async with program.started("ask", "First") as dying:
            await asyncio.wait_for(server.wait_held(), WAIT_SECONDS)
            _kill(dying)
            await dying.end()
        server.script(Reply(("Whole.",)))
        listed = (await program("list", "--json")).json
        assert listed[0]["last_run"]["status"] == "interrupted"
        answered = await program("resume", listed[0]["id"])
        assert answered.out == "Whole.\n"


def _kill(running: Running) -> None:
    os.kill(running.process.pid, signal.SIGKILL)
