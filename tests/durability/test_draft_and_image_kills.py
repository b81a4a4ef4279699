"""Kills around what is typed and around images that an engine refused: nothing is lost, nothing half."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from tests.e2e.cli_program import Program
from tests.support.lines_process import LinesProcess, lines_process
from tests.support.ollama_script import FakeModel, Reply
from tests.support.ollama_server import OllamaServer

PROGRAM = "tests.support.window_program"
NOBODY = "127.0.0.1:1"
FIRST, MORE = "typed first", " and more"
ONE, OTHER = "of the one", "of the other"
DEAD_OWNER = "00000000-0000-7000-8000-000000000000"
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "
REFUSED = Reply(status=500, error="Failed to create new sequence: image: unknown format")
SEEING = FakeModel("smol:latest", ("completion", "tools", "vision"))


@pytest.fixture
def program(data_dir: Path, environ: dict[str, str]) -> Program:
    """The command line as a child process, with no engine until `use`."""
    return Program(data_dir, environ)


@asynccontextmanager
async def window(environ: dict[str, str], **more: str) -> AsyncIterator[LinesProcess]:
    """The window's process, once it is open."""
    own = {**environ, "OLLAMA_HOST": NOBODY, "SOPHOS_ENGINE__KIND": "ollama", **more}
    async with lines_process(PROGRAM, own) as process:
        await process.until(lambda now: now["is_ready"], "the window is open")
        yield process


async def closed(process: LinesProcess) -> None:
    """Close it as a person does."""
    assert process.process.stdin is not None
    process.process.stdin.close()
    assert await process.gone() == 0


@pytest.mark.long
@pytest.mark.parametrize(("when", "kept"), [("before", FIRST), ("after", FIRST + MORE)])
async def test_torture_a_window_that_is_killed_while_it_keeps_a_draft_has_the_old_one_or_the_new_one(
    environ: dict[str, str], when: str, kept: str
) -> None:
    async with window(environ) as process:
        process.say(type=FIRST)
        await process.until(lambda now: now["text"] == FIRST and now["is_saved"], "the draft is stored")
        await closed(process)
    async with window(environ, SOPHOS_FAILPOINT=f"draft.{when}_commit") as process:
        await process.until(lambda now: now["text"] == FIRST, "the draft")
        process.say(type=MORE)
        assert await process.gone() == -9
    async with window(environ) as process:
        now = await process.until(lambda now: now["text"], "the draft")
        assert now["text"] == kept
        assert (now["other_draft"], now["error"]) == ("", "")
        await closed(process)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_torture_what_a_dead_window_held_beside_a_draft_is_taken_in_once(
    program: Program, when: str
) -> None:
    assert (await program("list")).code == 0  # makes the file
    file = program.data_dir / "sophos.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        rows = [("draft", ONE), (f"draft.beside::{DEAD_OWNER}", OTHER)]
        connection.executemany("INSERT OR REPLACE INTO app_state (key, value) VALUES (?, ?)", rows)
    killed = await program("list", environ={"SOPHOS_FAILPOINT": f"take_in.{when}_commit"})
    assert killed.code == -9
    for _ in range(2):
        assert (await program("list")).code == 0
        with closing(sqlite3.connect(file)) as connection:
            kept = connection.execute("SELECT key, value FROM app_state WHERE key LIKE 'draft%'").fetchall()
        assert kept == [("draft", f"{ONE}\n\n{OTHER}")]


@pytest.mark.parametrize(("when", "shown"), [("before", [1, 1, 0]), ("after", [1, 0])])
async def test_torture_a_refusal_is_recorded_or_met_again_and_the_run_goes_on_without_the_image(
    program: Program, tmp_path: Path, when: str, shown: list[int]
) -> None:
    image = tmp_path / "owl.webp"
    image.write_bytes(WEBP)
    async with OllamaServer((SEEING,)) as server:
        program.use(server)
        server.script(*[REFUSED] * (len(shown) - 1))
        killed = await program(
            "ask",
            "--attach",
            str(image),
            "Who?",
            environ={"SOPHOS_FAILPOINT": f"refused_images.{when}_commit"},
        )
        assert killed.code == -9
        (entry,) = (await program("list", "--json")).json
        while len(server.chats) < len(shown):
            ended = await program("resume", entry["id"])
        assert ended.code == 0, ended.err
        images = [sum(len(one.get("images", ())) for one in chat.body["messages"]) for chat in server.chats]
        assert images == shown
        assert "“owl.webp” was left out" in ended.err
