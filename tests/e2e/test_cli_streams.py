"""The real program's streams: readers that leave or do not read, locales, terminals."""

import os
import signal

import pytest

from tests.e2e.cli_program import Finished, Program, read_until, terminal
from tests.support.ollama_script import Reply
from tests.support.ollama_server import OllamaServer

pytestmark = pytest.mark.long
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


async def test_a_reader_that_leaves_ends_the_program_quietly(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(pieces=("Once", " upon", " a time"), hold_after=1))
        read_end, write_end = os.pipe()
        async with program.started("ask", "tell me", stdout=write_end) as asked:
            os.close(write_end)
            await server.wait_held()
            os.close(read_end)
            server.release()
            ended = await asked.end()
        assert ended.code in (0, 130), "the run had ended by then, or was stopped"
        assert [line.split()[0] for line in ended.err.splitlines()] == ["conversation", "notice"]
        read_end, write_end = os.pipe()
        os.close(read_end)
        async with program.started("list", stdout=write_end) as listing:
            os.close(write_end)
            assert await listing.end() == Finished(0, "", "")


async def test_a_reader_that_does_not_read_cannot_keep_the_program(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        server.script(Reply(pieces=("word " * 100_000, "and more"), hold_after=2))
        read_end, write_end = os.pipe()
        async with program.started("ask", "tell me", stdout=write_end) as asked:
            os.close(write_end)
            await read_until(read_end, "word")
            asked.process.send_signal(signal.SIGINT)
            stopped = await asked.end()
        os.close(read_end)
        assert stopped.code == 130
        listed = (await program("list", "--json")).json
        assert listed[0]["last_run"]["status"] == "cancelled"
        shown = (await program("show", "--json", listed[0]["id"])).json
        assert shown["messages"][-1]["text"].startswith("word word"), "what arrived is kept"


async def test_a_full_disk_behind_stdout_is_told(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        full = os.open("/dev/full", os.O_WRONLY)
        async with program.started("ask", "hello", stdout=full) as asked:
            os.close(full)
            ended = await asked.end()
    assert ended.code == 7
    assert "error EXPORT_FAILED: The output cannot be written: No space left on device" in ended.err


async def test_no_locale_and_no_text_make_the_program_fail(program: Program) -> None:
    half = '{"model":"smol:latest","message":{"role":"assistant","content":"%s"},"done":%s}'
    final = half % ("", 'true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1')
    odd = Reply(lines=(half % ("é 🦉 \\ud800\\u001b[2J", "false"), final))
    async with OllamaServer() as server:
        program.use(server)
        server.script(odd, odd)
        plain = await program("ask", "Grüße, 🦉", environ=ASCII)
        assert (plain.code, plain.out) == (0, "é 🦉 ?\x1b[2J\n"), plain.err
        with terminal() as (person, tty):
            async with program.started("ask", "again", stdout=tty) as asked:
                said = await read_until(person, "\n")
                assert (await asked.end()).code == 0
        assert said == "é 🦉 ?\N{REPLACEMENT CHARACTER}[2J\r\n"
        as_json = await program("show", plain.err.split()[1], "--json", environ=ASCII)
        assert as_json.out.isascii()
        assert as_json.json["messages"][0]["text"] == "Grüße, 🦉"


async def test_colours_are_for_terminals_and_can_be_refused(program: Program) -> None:
    async with OllamaServer() as server:
        program.use(server)
        await program("ask", "hello")

    async def listed_on_a_terminal(environ: dict[str, str]) -> str:
        with terminal() as (person, tty):
            async with program.started("list", stdout=tty, environ={"TERM": "xterm", **environ}) as listing:
                said = await read_until(person, "hello")
                assert (await listing.end()).code == 0
        return said

    assert "\x1b[1mID" in await listed_on_a_terminal({})
    assert "\x1b" not in await listed_on_a_terminal({"NO_COLOR": "1"})
