"""The real window stays open on a file while the command line works on it."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sophos_desktop.core.assembly import CoreOptions, open_core
from sophos_desktop.foundation.paths import resolve_paths
from tests.e2e.cli_program import Program
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer
from tests.support.window import WindowRig, open_window, until


@pytest.fixture
def program(data_dir: Path, environ: dict[str, str]) -> Program:
    """The command line, as a child process on the window's folder."""
    return Program(data_dir, environ)


@asynccontextmanager
async def window_of(program: Program, server: OllamaServer) -> AsyncIterator[WindowRig]:
    """The window on the same file and engine."""
    program.use(server)
    options = CoreOptions(resolve_paths(program.data_dir, {}), program.environ, tool_servers=False)
    async with open_core(options) as core, open_window(core) as rig:
        yield rig


async def test_a_run_of_the_command_line_appears_is_followed_and_can_be_stopped(program: Program) -> None:
    async with OllamaServer() as server, window_of(program, server) as rig:
        server.script(Reply(("Half ",) * 3, hold_after=2))
        async with program.started("ask", "From the shell") as other:
            await server.wait_held()
            await until(lambda: "From the shell" in rig.titles)
            rig.choose("From the shell")
            await until(lambda: rig.shows("stopButton"), "the foreign run is shown as running")
            assert "From the shell" in rig.transcript_text
            rig.click("stopButton")
            assert (await other.end()).code == 130
        await until(lambda: "Half Half" in rig.transcript_text)
        await until(lambda: rig.goes_on_by)


async def test_a_turn_of_the_command_line_shows_up_in_the_open_conversation(program: Program) -> None:
    async with OllamaServer() as server, window_of(program, server) as rig:
        server.script("First.", "Second.")
        assert (await program("ask", "Hello there")).code == 0
        await until(lambda: "Hello there" in rig.titles)
        rig.choose("Hello there")
        await until(lambda: "First." in rig.transcript_text)
        conversation_id = rig.window.presenter.conversation_id
        assert conversation_id is not None
        assert (await program("ask", "-c", conversation_id, "And again")).code == 0
        await until(lambda: "Second." in rig.transcript_text)
        assert rig.transcript_text.count("And again") == 1


async def test_a_command_line_that_is_killed_leaves_a_run_that_can_be_resumed_here(program: Program) -> None:
    async with OllamaServer() as server, window_of(program, server) as rig:
        server.script(Reply(("Half ",) * 3, hold_after=2))
        async with program.started("ask", "From the shell") as other:
            await server.wait_held()
            await until(lambda: "From the shell" in rig.titles)
            rig.choose("From the shell")
            await until(lambda: rig.shows("stopButton"))
            os.kill(other.process.pid, signal.SIGKILL)
            await other.end()
        await until(lambda: rig.shows("resumeBanner"), "its death is noticed within seconds")
        server.script("Whole.")
        rig.click("resumeButton")
        await until(lambda: "Whole." in rig.transcript_text)


async def test_what_the_command_line_deletes_is_gone_from_the_list(program: Program) -> None:
    async with OllamaServer() as server, window_of(program, server) as rig:
        server.script("First.")
        assert (await program("ask", "To be deleted")).code == 0
        await until(lambda: "To be deleted" in rig.titles)
        listed = (await program("list", "--json")).json
        assert (await program("delete", listed[0]["id"], "--yes")).code == 0
        await until(lambda: rig.titles == [])


async def test_what_the_command_line_sets_holds_in_the_open_window(program: Program) -> None:
    async with OllamaServer() as server, window_of(program, server) as rig:
        assert (await program("config", "ui.theme", "dark")).code == 0
        await until(lambda: rig.window.theme.tokens.name == "dark")
        plain = rig.button("sendButton").toolTip()
        assert (await program("config", "ui.send_key", "ctrl-enter")).code == 0
        await until(lambda: rig.button("sendButton").toolTip() != plain)
        rig.type("Kept")
        rig.enter()
        assert rig.composer.text == "Kept\n"
        assert (await program("config", "ui.theme", "light")).code == 0
        await until(lambda: rig.window.theme.tokens.name == "light")
